/**
 * `ralph mcp`: Ralph's commands as tools of the Model Context Protocol, over standard input and output. Each tool runs
 * this very program, so that what holds for the command line holds here.
 *
 * @module
 */
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { McpServer, type ToolAnnotations } from "@modelcontextprotocol/server";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";
import { programOf } from "../../agents/environment.ts";
import type { Invocation } from "../../cli/command.ts";
import { resolveRoot } from "../../cli/workspace.ts";
import { VERSION } from "../../host/version.ts";
import { EXIT, RalphError } from "../../errors/ralph_error.ts";
import type { ProcessEnd } from "../../host/types.ts";
import { whenAborted } from "../../host/when_aborted.ts";

/** A client shows this of the server before its tools: some list tools only when the model searches for them. */
const INSTRUCTIONS =
  "Ralph: work that runs unattended until checks pass. Plan it, start a run, look at it, tell it something, " +
  "pause or stop it, report what it did, and judge any work on a branch.";

/** A tool answers this. */
interface Answer {
  readonly content: { readonly type: "text"; readonly text: string }[];
  readonly isError?: boolean;
  readonly [key: string]: unknown;
}

const TAIL_BYTES = 200_000;
/** So much of what is at work is shown by `status`. */
const SHOWN_CHARACTERS = 2000;
/** A command that ends within this time is answered with its end. */
const START_MS = 4000;
/** Time that a run gets to end in order. */
const GRACE_MS = 20_000;

/** The hints of a tool that only looks. */
const LOOKING = { readOnlyHint: true, openWorldHint: false };

/** Serves until standard input ends. Commands that were started here end with it, in order. */
export async function run(invocation: Invocation): Promise<number> {
  const { host, signal } = invocation;
  const ralph = new RalphProcess(invocation, await resolveRoot(invocation));
  const { stdin, stdout } = host.terminal;
  const transport = new StdioServerTransport(stdin as Readable, stdout as Writable);
  const handle = serveStdio(() => serverOf(ralph), { transport });
  const ended = Promise.race([once(stdin, "end"), once(stdin, "close")]);
  await Promise.race([ended, whenAborted(signal)]);
  await ralph.end();
  await handle.close();
  return EXIT.done;
}

function serverOf(ralph: RalphProcess): McpServer {
  const server = new McpServer({ name: "ralph", version: VERSION }, { instructions: INSTRUCTIONS });
  const looks = "The state of the work, and how a plan or a run that was started goes. Changes nothing.";
  addTool(server, ["status", looks, LOOKING], {}, (_, signal) => ralph.status(signal));
  const plans =
    "Start to plan a goal without questions, in the background: writes a list of items with their checks. Takes " +
    "minutes and costs agent turns. `status` shows how it goes, and how it ended.";
  const toPlan = {
    goal: z.string().min(1).describe("the goal; or the path of a spec, or a phase, in workflows that plan those"),
    approve: z.boolean().default(false).describe("accept the plan as it is written, for the user"),
  };
  addTool(server, ["plan", plans], toPlan, ({ goal, approve }, signal) => {
    const consent = approve ? ["--approve", "prd"] : ["--non-interactive"];
    return ralph.start(["plan", "--ui", "plain", ...consent, "--", goal], signal);
  });
  const runs = "Start to work off what is planned, in the background: agents change and commit files for minutes to " +
    "hours, and cost money. Only when the user has agreed. `status` shows how it goes.";
  const toRun = { maxIterations: z.number().int().positive().optional().describe("at most this many agent turns") };
  addTool(server, ["run", runs, { destructiveHint: true }], toRun, ({ maxIterations: most }, signal) => {
    return ralph.start(["run", "--ui", "plain", ...most === undefined ? [] : ["--max-iterations", `${most}`]], signal);
  });
  const judges =
    "Start to judge all work since the branch left the default one, in the background: in a clean checkout, " +
    "by the checks of the base. Changes nothing. `status` shows the verdict.";
  addTool(server, ["gate", judges, LOOKING], {}, (_, signal) => ralph.start(["gate", "--format", "markdown"], signal));
  addSteering(server, ralph);
  return server;
}

/** For a run at work, and after it. */
function addSteering(server: McpServer, ralph: RalphProcess): void {
  const toTell = {
    text: z.string().min(1),
    item: z.string().min(1).optional().describe("only into the prompts for this item"),
  };
  const tells = "Say something to the run at work: it goes into the next prompt.";
  addTool(server, ["tell", tells], toTell, ({ text, item }, signal) => {
    return ralph.answer(["tell", ...item === undefined ? [] : ["--item", item], "--", text], signal);
  });
  const pauses = "Let nothing start after the present turn of the run at work, until `resume`.";
  addTool(server, ["pause", pauses], {}, (_, signal) => ralph.answer(["pause"], signal));
  addTool(server, ["resume", "Let a paused run go on."], {}, (_, signal) => ralph.answer(["resume"], signal));
  const stops = "Stop the run at work after its present turn, or planning at once. It can be continued.";
  const toStop = { now: z.boolean().default(false).describe("end the present turn too") };
  addTool(server, ["stop", stops], toStop, ({ now }, signal) => ralph.stop(now, signal));
  const reports = "What a run did, as Markdown: items, checks, commits, cost. Changes nothing.";
  const toReport = { run: z.string().min(1).optional().describe("a run's id (the newest)") };
  addTool(server, ["report", reports, LOOKING], toReport, ({ run: id }, signal) => {
    return ralph.answer(["report", ...id === undefined ? [] : ["--", id]], signal);
  });
}

function addTool<Shape extends z.ZodRawShape>(
  server: McpServer,
  [name, description, annotations = {}]: readonly [name: string, description: string, annotations?: ToolAnnotations],
  takes: Shape,
  answer: (given: z.infer<z.ZodObject<Shape>>, signal: AbortSignal) => Promise<Answer>,
): void {
  const config = { description, annotations, inputSchema: z.object(takes) };
  server.registerTool(name, config, (given, { mcpReq: { signal } }) => answer(given, signal));
}

/** A command that was started in the background. */
interface Work {
  readonly words: readonly string[];
  readonly ending: AbortController;
  readonly end: Promise<ProcessEnd>;
  /** Its output so far. */
  readonly printed: () => string;
  /** `null`: it is at work. */
  ended: ProcessEnd | null;
}

/** This program, started again for each tool. A call ends with its request; what it started goes on. */
class RalphProcess {
  readonly #invocation: Invocation;
  readonly #root: string;
  /** The newest. */
  #work: Work | null = null;

  constructor(invocation: Invocation, root: string) {
    this.#invocation = invocation;
    this.#root = root;
  }

  async answer(words: readonly string[], signal: AbortSignal): Promise<Answer> {
    return answerOf(await this.#run(words, signal));
  }

  /** The state, and how what was started here goes, or ended. */
  async status(signal: AbortSignal): Promise<Answer> {
    const state = await this.#run(["status"], signal);
    if (this.#work === null) return answerOf(state);
    const { words, ended, printed } = this.#work;
    const name = `\`ralph ${words[0]}\`, started here,`;
    const last = ended === null ? `${name} is at work:\n${printed()}` : `${name} has ended:\n${textOf(ended)}`;
    return textAnswer(`${textOf(state)}\n\n${last}`, false);
  }

  /** Starts it in the background; ends it if the request is cancelled before it is answered. */
  async start(words: readonly string[], signal: AbortSignal): Promise<Answer> {
    if (this.#work?.ended === null) {
      const name = `\`ralph ${this.#work.words[0]}\``;
      return textAnswer(`${name} was started here and is at work: \`status\` shows it`, true);
    }
    const ending = new AbortController();
    let text = "";
    const end = this.#run(words, ending.signal, (chunk) => {
      text = (text + Buffer.from(chunk).toString("utf8")).slice(-SHOWN_CHARACTERS);
    });
    const work: Work = { words, ending, end, printed: () => text.trim(), ended: null };
    void end.then((value) => work.ended = value);
    this.#work = work;
    const waited = new AbortController();
    const enough = AbortSignal.any([signal, waited.signal]);
    const early = await Promise.race([work.end, this.#invocation.host.clock.sleep(START_MS, enough).then(() => null)]);
    waited.abort();
    if (early !== null) return answerOf(early);
    if (!signal.aborted) return textAnswer("started; `status` shows how it goes, `stop` ends it", false);
    work.ending.abort();
    return answerOf(await work.end);
  }

  /** A run stops in order, by its own word; planning is ended, and can be continued. */
  async stop(now: boolean, signal: AbortSignal): Promise<Answer> {
    const work = this.#work;
    if (work === null || work.ended !== null || work.words[0] === "run") {
      return await this.answer(["stop", ...now ? ["--now"] : []], signal);
    }
    work.ending.abort();
    await work.end;
    const isPlan = work.words[0] === "plan";
    return textAnswer(isPlan ? "planning is stopped; `plan` with the same goal continues it" : "stopped", false);
  }

  /** The command at work ends in order, and can be continued. */
  async end(): Promise<void> {
    this.#work?.ending.abort();
    await this.#work?.end;
  }

  async #run(
    words: readonly string[],
    signal: AbortSignal,
    onOutput: (chunk: Uint8Array) => void = () => {},
  ): Promise<ProcessEnd> {
    const { host } = this.#invocation;
    const program = await programOf(host.environment);
    if (program === null) throw new RalphError("internal", { details: { problem: "the program is not found" } });
    const [file = "", ...before] = program;
    return await host.processes.run({
      file,
      arguments: [...before, ...words.slice(0, 1), "--root", this.#root, ...words.slice(1)],
      cwd: this.#root,
      environment: { NO_COLOR: "1" },
      signal: AbortSignal.any([this.#invocation.signal, signal]),
      graceMs: GRACE_MS,
      tailBytes: TAIL_BYTES,
      onOutput,
    });
  }
}

function answerOf(end: ProcessEnd): Answer {
  return textAnswer(textOf(end), end.exitCode !== 0);
}

function textOf({ exitCode, tail, reason }: ProcessEnd): string {
  const end = reason === "exited" ? `exit code ${exitCode}` : reason;
  return `${tail.trim()}${exitCode === 0 ? "" : `\n(${end})`}`;
}

function textAnswer(text: string, isError: boolean): Answer {
  return { content: [{ type: "text", text }], ...(isError ? { isError } : {}) };
}
