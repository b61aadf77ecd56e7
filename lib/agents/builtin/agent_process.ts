/**
 * The built-in agent as a process: the prompt on standard input, events as JSON lines on standard output. Ralph starts
 * itself for it, so that it is an agent as any other.
 *
 * @module
 */
import { text as readAll } from "node:stream/consumers";
import type { Usage } from "../../backlog/types.ts";
import type { EndpointPrice } from "../../config/load.ts";
import { EXIT } from "../../errors/ralph_error.ts";
import type { AgentEvent, FailureKind } from "../../events/types.ts";
import type { Host } from "../../host/types.ts";
import { contextOf, type ReadyEndpoint } from "../ask_endpoint.ts";
import { failureEvents, failureKind, retryEvents } from "../failures.ts";
import { at, inputText, listAt, numberAt, outputText, textAt } from "../json.ts";
import { Conversation, type Picture } from "./conversation.ts";
import { promptPictures, systemPrompt } from "./instructions.ts";
import { treeOf } from "../../host/programs.ts";
import { type Call, type Effort, type Model, openModel, type RequestError, requestError, type Step } from "./models.ts";
import { offeredTools, runTool, type ToolPlace, type ToolResult } from "./tools.ts";
import { resetTime } from "../reset_time.ts";

/** The settings that the adapter hands to the process, as one JSON argument. */
export interface AgentSettings {
  readonly endpoint: ReadyEndpoint;
  readonly effort: Effort | null;
}

const MOST_STEPS = 200;
/** The same call this often in a row ends the turn. */
const SAME_CALLS = 3;
/** The same call with the same result this often in one turn ends it: `ls`, `pwd`, `ls`, `pwd` … */
const SAME_RESULTS = 10;
const RETRY_WAITS_MS: readonly number[] = [1000, 3000, 8000];
/** A longer wait is Ralph's: it is no part of a turn. */
const LONGEST_WAIT_MS = 30_000;
const ALIVE_MS = 5000;
const NUDGE = "Continue with the tools; or where everything is done, end your answer as the task says.";
const TWICE = "\n(This is the same call as the one before. Once more ends the turn: do something else.)";

/** Takes one turn. @returns the exit code */
export async function runAgentProcess(
  argument: string,
  { host, signal }: Pick<TurnParts, "host" | "signal">,
): Promise<number> {
  const settings = JSON.parse(argument) as AgentSettings;
  const { variables } = host.environment;
  const key = settings.endpoint.keyVariable === null ? undefined : variables[settings.endpoint.keyVariable];
  const emit = (event: AgentEvent | { readonly type: "alive" }): void =>
    host.terminal.write("stdout", `${JSON.stringify(event)}\n`);
  const prompt = await readAll(host.terminal.stdin);
  emit({ type: "agent-start", session: null, model: settings.endpoint.model });
  const { context, from } = await contextOf(settings.endpoint, variables);
  if (from === "guessed") {
    const message =
      `the server does not say how long a conversation may be: ${context} tokens (endpoint.context sets it)`;
    emit({ type: "agent-error", kind: "other", fatal: false, message });
  }
  const model = openModel(settings.endpoint, key);
  return await new AgentTurnProcess({ ...settings, host, signal, emit, context, model }).run(prompt);
}

interface TurnParts extends AgentSettings {
  readonly host: Host;
  readonly signal: AbortSignal;
  readonly emit: (event: AgentEvent | { readonly type: "alive" }) => void;
  readonly model: Model;
  /** Tokens. */
  readonly context: number;
}

/** One turn: steps until the model calls no tool. */
class AgentTurnProcess {
  readonly #parts: TurnParts;
  readonly #conversation: Conversation;
  #instructions = "";
  #alive = 0;
  #lastCalls = "";
  #sameCalls = 0;
  readonly #results = new Map<string, number>();
  #wasNudged = false;

  constructor(parts: TurnParts) {
    this.#parts = parts;
    this.#conversation = new Conversation(parts.context);
  }

  async run(prompt: string): Promise<number> {
    const { host, signal } = this.#parts;
    const { cwd, platform } = host.environment;
    const tree = await treeOf(cwd);
    const { keyVariable, images } = this.#parts.endpoint;
    const place: ToolPlace = { host, cwd, tree, signal, hidden: keyVariable === null ? [] : [keyVariable] };
    this.#instructions = await systemPrompt(cwd, tree, platform);
    this.#conversation.say(prompt, images === false ? [] : await promptPictures(prompt, cwd, tree));
    for (let number = 1; number <= MOST_STEPS; number += 1) {
      const step = await this.#ask();
      if ("kind" in step) return this.#failed(step.kind, step.message, step.waitMs);
      this.#took(step);
      const over = step.calls.length === 0 ? this.#over(step) : await this.#call(step.calls, place);
      if (over !== null) return over;
    }
    return this.#failed("own-limit", `it was not done after ${MOST_STEPS} steps`);
  }

  /** One answer, however often it has to be asked for. */
  async #ask(): Promise<Step | Failure> {
    const { emit, signal, host } = this.#parts;
    this.#fit();
    let tries = 0;
    for (let wasShortened = false;;) {
      const answer = await this.#once();
      if (!("kind" in answer)) return answer;
      if (signal.aborted) return { kind: "interrupted", message: "aborted", waitMs: null };
      if (answer.kind === "context" && !wasShortened && this.#fit("at-once")) {
        wasShortened = true;
        continue;
      }
      if (this.#refusesPictures(answer)) continue;
      if (answer.kind === "context") {
        const advice = `Ralph counts on ${this.#parts.context} tokens: \`endpoint.context\` sets it`;
        return { ...answer, message: `${answer.message} (${advice})` };
      }
      const waitMs = answer.waitMs ?? RETRY_WAITS_MS[tries] ?? LONGEST_WAIT_MS;
      const passes = ["rate-limit", "server", "network"].includes(answer.kind);
      if (!passes || tries >= RETRY_WAITS_MS.length || waitMs > LONGEST_WAIT_MS) return answer;
      tries += 1;
      const words = `retry ${tries} of ${RETRY_WAITS_MS.length} after ${answer.message}`;
      for (const event of retryEvents(answer.kind, words, waitMs)) emit(event);
      await host.clock.sleep(waitMs, signal);
    }
  }

  async #once(): Promise<Step | Failure> {
    const { model, signal, host } = this.#parts;
    const characters = this.#conversation.characters + this.#instructions.length;
    try {
      const step = await model({
        instructions: this.#instructions,
        messages: this.#conversation.messages,
        tools: offeredTools(),
        effort: this.#parts.effort,
        signal,
        onProgress: () => this.#isAlive(),
      });
      if (step.finish === null) {
        return { kind: "network", message: "the stream ended before the answer did", waitMs: null };
      }
      if (step.usage.inputTokens !== null && !this.#conversation.hasPictures) {
        this.#conversation.counted(step.usage.inputTokens, characters);
      }
      return step;
    } catch (error) {
      return failureOf(requestError(error), host.clock.now());
    }
  }

  /** A long answer is no silence. */
  #isAlive(): void {
    const now = this.#parts.host.clock.now();
    if (now - this.#alive < ALIVE_MS) return;
    this.#alive = now;
    this.#parts.emit({ type: "alive" });
  }

  #fit(when?: "at-once"): boolean {
    const dropped = this.#conversation.fit(when);
    const message = "old tool results were dropped: the conversation is long";
    if (dropped) this.#parts.emit({ type: "agent-error", kind: "context", fatal: false, message });
    return dropped;
  }

  #refusesPictures({ kind, message }: Failure): boolean {
    const { images } = this.#parts.endpoint;
    if (images === true || !this.#conversation.hasPictures || (kind !== "other" && kind !== "server")) return false;
    this.#conversation.dropPictures();
    const words = `without pictures, which the model seems not to take: ${message}`;
    this.#parts.emit({ type: "agent-error", kind: "other", fatal: false, message: words });
    return true;
  }

  #took({ text, usage, messages }: Step): void {
    const { emit } = this.#parts;
    this.#conversation.add(messages);
    const estimate = usage.costUsd === null ? costOf(usage, this.#parts.endpoint.price) : null;
    const priced = estimate === null ? usage : { ...usage, costUsd: estimate, estimated: true };
    emit({ type: "agent-usage", scope: "step", usage: priced });
    if (text.trim() !== "") emit({ type: "agent-text", text });
  }

  /** The model called no tool. @returns the exit code, or `null` to ask once more */
  #over({ finish, text }: Step): number | null {
    if (finish === "length") {
      this.#parts.emit({ type: "agent-end", status: "cut-off", message: "its answer was cut off (length)" });
      return EXIT.done;
    }
    if (finish === "content-filter") return this.#failed("other", "the server held its answer back (content filter)");
    if (text.trim() === "" && !this.#wasNudged) {
      this.#wasNudged = true;
      this.#conversation.say(NUDGE);
      return null;
    }
    this.#parts.emit({ type: "agent-end", status: "completed", message: null });
    return EXIT.done;
  }

  /** @returns the exit code where the turn is over */
  async #call(calls: readonly Call[], place: ToolPlace): Promise<number | null> {
    const asked = JSON.stringify(calls.map(({ name, input }) => [name, input]));
    this.#sameCalls = asked === this.#lastCalls ? this.#sameCalls + 1 : 1;
    this.#lastCalls = asked;
    if (this.#sameCalls >= SAME_CALLS) {
      return this.#failed("own-limit", `it made the same call ${SAME_CALLS} times in a row: ${shown(calls[0]!)}`);
    }
    const pictures: Picture[] = [];
    for (const call of calls) {
      const { ok, text, picture } = await this.#run(call, place);
      if (place.signal.aborted) return this.#failed("interrupted", "aborted");
      const result = JSON.stringify([call.name, call.input, text]);
      const seen = (this.#results.get(result) ?? 0) + 1;
      this.#results.set(result, seen);
      if (seen >= SAME_RESULTS) {
        const message = `it made the same call with the same result ${SAME_RESULTS} times: ${shown(call)}`;
        return this.#failed("own-limit", message);
      }
      this.#conversation.result(call, ok, this.#sameCalls > 1 ? text + TWICE : text);
      if (picture !== undefined) pictures.push(picture);
    }
    if (pictures.length > 0 && this.#parts.endpoint.images !== false) {
      this.#conversation.say(pictures.map(({ path }) => path).join(", "), pictures);
    }
    return null;
  }

  async #run(call: Call, place: ToolPlace): Promise<ToolResult> {
    const { emit } = this.#parts;
    const { id, name, input, invalid } = call;
    emit({ type: "agent-tool-call", id, tool: name, input: inputText(input) });
    const result = invalid === null
      ? await runTool(name, input, place)
      : { ok: false, text: `error: the call could not be read: ${invalid.slice(0, 500)}` };
    emit({ type: "agent-tool-result", id, ok: result.ok, output: outputText(result.text) });
    return result;
  }

  #failed(kind: FailureKind, message: string, waitMs: number | null = null): number {
    for (const event of failureEvents(kind, message, { waitMs })) this.#parts.emit(event);
    return EXIT.failed;
  }
}

function costOf({ inputTokens, outputTokens, cachedTokens }: Usage, price: EndpointPrice | null): number | null {
  if (price === null || inputTokens === null || outputTokens === null) return null;
  const cached = cachedTokens ?? 0;
  const input = (inputTokens - cached) * price.input + cached * (price.cachedInput ?? price.input);
  return (input + outputTokens * price.output) / 1e6;
}

function shown({ name, input }: Call): string {
  return `${name} ${inputText(input)}`;
}

/** The meaning of a failed request. */
export interface Failure {
  readonly kind: FailureKind;
  readonly message: string;
  /** Milliseconds that the server asks to wait; `null`: it does not say. */
  readonly waitMs: number | null;
}

/** Sorts a failed request into the kinds that decide what follows. Pure. @param now milliseconds since 1970 */
export function failureOf(error: RequestError, now: number): Failure {
  const { status, message, body } = error;
  const inner = at(body, "error") ?? body;
  const code = textAt(inner, "code") ?? textAt(inner, "type") ?? textAt(inner, "status");
  const said = textAt(inner, "message") ?? message;
  const words = [status === null || status < 300 ? null : `HTTP ${status}`, code, said].filter((part) => part !== null)
    .join(": ");
  const kind = kindOf(words, status, code);
  return {
    kind,
    message: words,
    waitMs: kind === "rate-limit" || kind === "server" ? waitOf(error, inner, now) : null,
  };
}

function kindOf(words: string, status: number | null, code: string | null): FailureKind {
  // the answer began well, and broke off
  if (status !== null && status < 300) return "network";
  const kind = failureKind(words, status);
  // a server without this model, or without such an address: no attempt can get over it
  if (kind === "other" && status === 404) return "model";
  if (kind === "other" && status === null && code !== null && /overloaded|server|unavailable/i.test(code)) {
    return "server";
  }
  return kind;
}

/** Headers and fields that say when to ask again, the surest first. */
const HEADERS = ["retry-after-ms", "retry-after", "anthropic-ratelimit-unified-reset"];

function waitOf({ headers }: RequestError, error: unknown, now: number): number | null {
  const written = headers["retry-after"] ?? "";
  const date = written.endsWith("GMT") ? Date.parse(written) : Number.NaN;
  if (!Number.isNaN(date)) return Math.max(0, date - now);
  // Google says it among the error's details: `"retryDelay": "12s"`
  const delays = listAt(error, "details").map((one) => ({ retryDelay: textAt(one, "retryDelay") ?? undefined }));
  const fields = ["resets_in_seconds", "resets_at"].map((name) => ({ [name]: numberAt(error, name) ?? undefined }));
  for (const said of [...HEADERS.map((name) => ({ [name]: headers[name] })), ...fields, ...delays]) {
    const until = resetTime(JSON.stringify(said), now, "UTC");
    if (until !== null && until >= now) return until - now;
  }
  return null;
}
