import { join } from "node:path";
import type { Adapter } from "./adapter.ts";
import { pathExists } from "../host/files.ts";
import type { Clock, Environment } from "../host/types.ts";
import { failureKind } from "./failures.ts";

/** How long an agent may be silent after it has said that it is not logged in: some wait for a person then, for ever. */
const SILENCE_MS = 20_000;
/** How long the model of an agent without any login may be silent: some ask a server that is not reached, for ever. */
const ANSWER_MS = 180_000;
const LONGEST_LINE = 2000;

/** Why a turn failed whose agent has no login and gave no answer. */
export const NO_LOGIN = "its model gave no answer, and there is neither a login nor a key of it";

/** Ends a turn whose agent waits for a login. */
export interface LoginWatch extends Disposable {
  /** Aborts when the agent asked for a login and said nothing after it. */
  readonly signal: AbortSignal;
  /** Takes what the agent prints, on either stream. */
  push(chunk: Uint8Array): void;
  /** The line that asks for the login, where the turn was ended for it. */
  said(): string | null;
}

/** The known facts about the agent's stream, and about its login. */
export interface LoginWatchOptions {
  /** How many events the stream has had: an agent that is at work needs no login. */
  readonly events: () => number;
  /** Its model has said or done something. */
  readonly hasAnswered: () => boolean;
  /** There is a login of it, a key, or settings. */
  readonly hasLogin: boolean;
}

export function createLoginWatch(
  clock: Pick<Clock, "sleep">,
  { events, hasAnswered, hasLogin }: LoginWatchOptions,
): LoginWatch {
  const ended = new AbortController();
  const stop = new AbortController();
  let line: string | null = null;
  let rest = "";

  async function wait(before: number): Promise<void> {
    await clock.sleep(SILENCE_MS, stop.signal);
    if (!stop.signal.aborted && events() === before) ended.abort();
  }

  async function waitForAnswer(): Promise<void> {
    await clock.sleep(ANSWER_MS, stop.signal);
    if (stop.signal.aborted || hasAnswered()) return;
    line ??= NO_LOGIN;
    ended.abort();
  }

  if (!hasLogin) void waitForAnswer();
  return {
    signal: ended.signal,
    push(chunk) {
      if (line !== null || events() > 1) return;
      const lines = (rest + Buffer.from(chunk).toString("utf8")).split("\n");
      rest = (lines.pop() ?? "").slice(-LONGEST_LINE);
      line = lines.find((one) => !one.startsWith("{") && failureKind(one, null) === "auth")?.trim() ?? null;
      if (line !== null) void wait(events());
    },
    said: () => ended.signal.aborted ? line : null,
    [Symbol.dispose]: () => stop.abort(),
  };
}

/**
 * Tells whether a login, a key or settings of the agent can be seen: its files and variables. Some keep theirs where no
 * one can look.
 *
 * @param cwd absolute path of the folder that it works in
 */
export async function seesLogin(
  { needs: { folders, keys }, waitsForServer = { files: [], variables: [] } }: LoginFacts,
  { home, variables }: Pick<Environment, "home" | "variables">,
  cwd: string,
): Promise<boolean> {
  if ([...keys, ...waitsForServer.variables].some((name) => (variables[name] ?? "") !== "")) return true;
  const files = folders.flatMap(({ path, variable, copy }) => {
    const folder = (variable === undefined ? undefined : variables[variable]) || path.replace(/^~/, home);
    return copy.map((name) => join(folder, name));
  });
  for (const file of [...files, ...waitsForServer.files.map((name) => join(cwd, name))]) {
    if (await pathExists(file)) return true;
  }
  return false;
}

type LoginFacts = Pick<Adapter, "needs" | "waitsForServer">;
