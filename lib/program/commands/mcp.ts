/**
 * `ralph mcp`: Ralph's commands as tools of the Model Context Protocol, over standard input and output. Each tool runs
 * this very program, so that what holds for the command line holds here.
 *
 * @module
 */
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";
import { programOf } from "../../agents/environment.ts";
import type { Invocation } from "../../cli/command.ts";
import { resolveRoot } from "../../cli/root.ts";
import { VERSION } from "../../host/version.ts";
import { EXIT } from "../../errors/exit_codes.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import type { ProcessEnd } from "../../host/types.ts";

/** What a client shows of the server before its tools: some list tools only when the model searches for them. */
const INSTRUCTIONS =
  "Ralph: work that runs unattended until checks pass. Plan it, start a run, look at it, tell it something, " +
  "and report what it did.";

/** What a tool answers. */
interface Answer {
  readonly content: { readonly type: "text"; readonly text: string }[];
  readonly isError?: boolean;
  readonly [key: string]: unknown;
}

const TAIL_BYTES = 200_000;
/** A run that ends within this time is answered with its end. */
const START_MS = 4000;
/** Time that a run gets to end in order. */
const GRACE_MS = 20_000;

/** What only looks. */
const LOOKING = { readOnlyHint: true, openWorldHint: false };

/** Serves until standard input ends. A run that was started here ends with it, in order. */
export async function run(invocation: Invocation): Promise<number> {
  const { host, signal } = invocation;
  const ralph = new RalphProcess(invocation, await resolveRoot(invocation));
  const { stdin, stdout } = host.terminal;
  const transport = new StdioServerTransport(stdin as Readable, stdout as Writable);
  const handle = serveStdio(() => serverOf(ralph), { transport });
  const ended = Promise.race([once(stdin, "end"), once(stdin, "close")]);
  const aborted = new Promise((done) => signal.addEventListener("abort", done, { once: true }));
  await Promise.race([ended, aborted]);
  await ralph.end();
  await handle.close();
  return EXIT.done;
}

function serverOf(ralph: RalphProcess): McpServer {
  const server = new McpServer({ name: "ralph", version: VERSION }, { instructions: INSTRUCTIONS });
  server.registerTool(
    "status",
    { description: "The state of the work, and what a run at work does now. Changes nothing.", annotations: LOOKING },
    async () => await ralph.answer(["status"]),
  );
  server.registerTool(
    "plan",
    {
      description: "Plan a goal without questions: writes a list of items with their checks. Costs agent turns.",
      inputSchema: z.object({
        goal: z.string().min(1).describe("the goal; or the path of a spec, or a phase, in workflows that plan those"),
        approve: z.boolean().default(false).describe("accept the plan as it is written, for the user"),
      }),
    },
    async ({ goal, approve }) =>
      await ralph.answer([
        "plan",
        "--ui",
        "plain",
        ...approve ? ["--approve", "prd"] : ["--non-interactive"],
        "--",
        goal,
      ]),
  );
  server.registerTool(
    "run",
    {
      description:
        "Start to work off what is planned, in the background: agents change and commit files for minutes to " +
        "hours, and cost money. Only when the user has agreed. `status` shows how it goes.",
      inputSchema: z.object({
        maxIterations: z.number().int().positive().optional().describe("at most this many agent turns"),
      }),
      annotations: { destructiveHint: true },
    },
    async ({ maxIterations }) => await ralph.start(maxIterations),
  );
  addSteering(server, ralph);
  return server;
}

/** For a run at work, and after it. */
function addSteering(server: McpServer, ralph: RalphProcess): void {
  server.registerTool(
    "tell",
    {
      description: "Say something to the run at work: it goes into the next prompt.",
      inputSchema: z.object({
        text: z.string().min(1),
        item: z.string().min(1).optional().describe("only into the prompts for this item"),
      }),
    },
    async ({ text, item }) => await ralph.answer(["tell", ...(item === undefined ? [] : ["--item", item]), "--", text]),
  );
  server.registerTool(
    "report",
    {
      description: "What a run did, as Markdown: items, checks, commits, cost. Changes nothing.",
      inputSchema: z.object({ run: z.string().min(1).optional().describe("a run's id (the newest)") }),
      annotations: LOOKING,
    },
    async ({ run: id }) => await ralph.answer(["report", ...(id === undefined ? [] : ["--", id])]),
  );
}

/** This program, started again for each tool. */
class RalphProcess {
  readonly #invocation: Invocation;
  readonly #root: string;
  readonly #ending = new AbortController();
  #work: Promise<ProcessEnd> | null = null;

  constructor(invocation: Invocation, root: string) {
    this.#invocation = invocation;
    this.#root = root;
  }

  async answer(words: readonly string[]): Promise<Answer> {
    return answerOf(await this.#run(words));
  }

  async start(maxIterations: number | undefined): Promise<Answer> {
    if (this.#work !== null) return textAnswer("a run that was started here is at work: `status` shows it", true);
    const limit = maxIterations === undefined ? [] : ["--max-iterations", String(maxIterations)];
    const work = this.#run(["run", "--ui", "plain", ...limit]);
    this.#work = work;
    void work.finally(() => this.#work = null);
    const waited = new AbortController();
    const early = await Promise.race([
      work,
      this.#invocation.host.clock.sleep(START_MS, waited.signal).then(() => null),
    ]);
    waited.abort();
    return early === null
      ? textAnswer("started; `status` shows how it goes, `tell` steers it", false)
      : answerOf(early);
  }

  /** A run at work ends in order, and can be continued. */
  async end(): Promise<void> {
    this.#ending.abort();
    await this.#work;
  }

  async #run(words: readonly string[]): Promise<ProcessEnd> {
    const { host } = this.#invocation;
    const program = await programOf(host.environment);
    if (program === null) throw new RalphError("internal", { details: { problem: "the program is not found" } });
    const [file = "", ...before] = program;
    return await host.processes.run({
      file,
      arguments: [...before, ...words.slice(0, 1), "--root", this.#root, ...words.slice(1)],
      cwd: this.#root,
      environment: { NO_COLOR: "1" },
      signal: AbortSignal.any([this.#invocation.signal, this.#ending.signal]),
      graceMs: GRACE_MS,
      tailBytes: TAIL_BYTES,
    });
  }
}

function answerOf({ exitCode, tail, reason }: ProcessEnd): Answer {
  const end = reason === "exited" ? `exit code ${exitCode}` : reason;
  const isError = exitCode !== 0;
  return textAnswer(`${tail.trim()}${isError ? `\n(${end})` : ""}`, isError);
}

function textAnswer(text: string, isError: boolean): Answer {
  return { content: [{ type: "text", text }], ...(isError ? { isError } : {}) };
}
