/**
 * A cassette: the turns of a run, a JSON line each, so that a run can be played again without a model.
 *
 * @module
 */
import { jsonIn } from "../../host/data.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import { appendText, hashText, LARGEST_LOG, PRIVATE_FILE, readText } from "../../host/files.ts";
import type { Agent, TurnRequest } from "../../context/context.ts";
import { z } from "zod";
import type { AgentTurn } from "../../backlog/types.ts";
import type { AgentEvent } from "../../events/types.ts";
import { applyChange, changeBetween, markTree, type TreeChange } from "./tree_change.ts";
import type { Host } from "../../host/types.ts";
import { silentTurn } from "../turn_end.ts";
import { openTurnRecord } from "../turn_record.ts";
import { redactorFor } from "../../events/redact.ts";

/** Version of the format. */
export const CASSETTE_VERSION = 1;

/** A line of a cassette must hold this to be played. */
const RECORDED_TURN: z.ZodType<RecordedTurn> = z.object({
  v: z.literal(CASSETTE_VERSION),
  promptHash: z.string(),
  prompt: z.string(),
  agent: z.string(),
  events: z.array(z.looseObject({ type: z.string() })),
  turn: z.looseObject({ end: z.looseObject({ reason: z.string() }), text: z.string(), lines: z.array(z.string()) }),
  patch: z.string(),
  commits: z.array(z.object({ message: z.string(), paths: z.array(z.string()) })),
}) as never;

const NONCE = "[NONCE]";

/** The prompt without what differs from run to run: the project's path, the run's id and the attempt's nonce. */
export function steadyPrompt({ prompt, cwd, environment, nonce }: TurnRequest): string {
  const run = environment["RALPH_RUN"];
  const steady = withoutNonce(prompt.replaceAll(cwd, "[ROOT]"), nonce);
  return run === undefined || run === "" ? steady : steady.replaceAll(run, "[RUN]");
}

/** A text with the attempt's nonce taken out, so that a cassette can be played under another one. */
export function withoutNonce(text: string, nonce: string | undefined): string {
  return nonce === undefined || nonce === "" ? text : text.replaceAll(nonce, NONCE);
}

/** A recorded value with this attempt's nonce. */
export function withNonce<Value>(recorded: Value, nonce: string | undefined): Value {
  return JSON.parse(JSON.stringify(recorded).replaceAll(NONCE, nonce ?? "")) as Value;
}

/** Reads a cassette. @throws {RalphError} cassette-invalid */
export async function readCassette(file: string): Promise<readonly RecordedTurn[]> {
  const text = await readText(file, LARGEST_LOG);
  if (text === null) throw invalid(file, "it does not exist");
  return text.split("\n").flatMap((line, index) => {
    if (line.trim() === "") return [];
    const value = jsonIn(line);
    if (value === undefined) throw invalid(file, `line ${index + 1} is not JSON`);
    const parsed = RECORDED_TURN.safeParse(value);
    if (parsed.success) return [parsed.data];
    const [issue] = parsed.error.issues;
    throw invalid(
      file,
      `line ${index + 1}: ${issue?.path.join(".") ?? ""}: ${issue?.message ?? "is no recorded turn"}`,
    );
  });
}

function invalid(path: string, problem: string): RalphError {
  return new RalphError("cassette-invalid", { details: { path, problem } });
}

/** Shows the reader where two prompts part. */
export function differenceOf(recorded: string, asked: string): string {
  const [one, other] = [recorded.split("\n"), asked.split("\n")];
  let line = 0;
  while (line < one.length && line < other.length && one[line] === other[line]) line += 1;
  const shown = (text: string | undefined): string => text === undefined ? "(the end)" : text.slice(0, 300);
  return `line ${line + 1}:\n- ${shown(one[line])}\n+ ${shown(other[line])}`;
}

/** One recorded turn. */
export interface RecordedTurn extends TreeChange {
  readonly v: typeof CASSETTE_VERSION;
  /** The hash of the prompt, without the parts that differ from run to run. */
  readonly promptHash: string;
  readonly prompt: string;
  readonly agent: string;
  readonly events: readonly AgentEvent[];
  readonly turn: Omit<AgentTurn, "transcript">;
}

/**
 * An agent that plays a cassette: each turn says, changes and commits what the recorded one did. A prompt that is not
 * the recorded one ends the run and shows where the two part.
 */
export function replayAgent(file: string, host: Host): Agent {
  let loaded: Promise<readonly RecordedTurn[]> | undefined;
  let next = 0;
  const load = (): Promise<readonly RecordedTurn[]> => loaded ??= readCassette(file);

  return {
    name: "replay",
    interactive: false,
    async ensureUsable() {
      await load();
    },
    async runTurn(request) {
      const number = next + 1;
      const recorded = (await load())[next];
      next = number;
      if (recorded === undefined) return unusable(request, `the cassette ${file} holds no turn ${number}`);
      const prompt = steadyPrompt(request);
      if (hashText(prompt) !== recorded.promptHash) {
        const difference = differenceOf(recorded.prompt, prompt);
        const message = `turn ${number} of the cassette ${file} was recorded with another prompt: ${difference}`;
        return unusable(request, message);
      }
      const record = await openTurnRecord(request);
      const turn = withNonce(recorded.turn, request.nonce);
      await record.words(Buffer.from(turn.text));
      await record.finish();
      await applyChange(host, request.cwd, recorded);
      for (const event of recorded.events) request.onEvent?.(event);
      return { ...turn, transcript: request.transcript };
    },
  };
}

function unusable({ transcript }: TurnRequest, message: string): AgentTurn {
  return silentTurn({ reason: "agent-unusable", message }, transcript);
}

/** An agent whose turns are written to a cassette, secrets masked, while they are taken. */
export function recordingAgent(agent: Agent, file: string, host: Host): Agent {
  return {
    name: agent.name,
    interactive: agent.interactive ?? true,
    ensureUsable: () => agent.ensureUsable(),
    async runTurn(request) {
      const before = await markTree(host, request.cwd);
      const events: AgentEvent[] = [];
      const turn = await agent.runTurn({
        ...request,
        onEvent: (event) => {
          events.push(event);
          request.onEvent?.(event);
        },
      });
      const change = await changeBetween(host, request.cwd, before, await markTree(host, request.cwd));
      const prompt = steadyPrompt(request);
      const { transcript: _, ...kept } = turn;
      const recorded: RecordedTurn = {
        v: CASSETTE_VERSION,
        promptHash: hashText(prompt),
        prompt,
        agent: agent.name,
        events,
        turn: kept,
        ...change,
      };
      const redactor = redactorFor({ ...host.environment.variables, ...request.environment });
      const text = redactor.text(withoutNonce(JSON.stringify(recorded), request.nonce));
      await appendText(file, `${text}\n`, PRIVATE_FILE);
      return turn;
    },
  };
}
