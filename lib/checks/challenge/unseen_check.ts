import { join, relative } from "node:path";
import type { CheckResult } from "../../backlog/types.ts";
import { UNSEEN_CHECK } from "../../backlog/attempts.ts";
import { jsonIn } from "../../host/data.ts";
import { redactorFor } from "../../events/redact.ts";
import type { EventBus, RalphEvent } from "../../events/types.ts";
import { ensureDirectory, LARGEST_LOG, readText, temporaryDirectory, writeAtomic } from "../../host/files.ts";
import { broughtUp, type Challenge, challengerFolder, type ChallengerTurn, challengerTurn } from "./challenger.ts";
import { findPrompt } from "../../prompts/render.ts";
import { shellInvocation } from "../../host/shell.ts";
import type { CheckPlace } from "../checkout/place.ts";
import { endedBy } from "../shell.ts";
import { closedFences } from "../../backlog/fences.ts";

/** As much of the output is compared. */
const BYTES = 64 * 1024;

export interface UnseenOutcome {
  /** The challenger's turn, and the comparison where there was one. */
  readonly results: readonly CheckResult[];
  /** The printed text, and the expected one; `null` if they were the same, or nothing was compared. */
  readonly differs: string | null;
  /** Why nothing was compared. */
  readonly missing: string | null;
}

/** So much of each text is shown. */
const SHOWN_CHARACTERS = 500;

/**
 * Has the challenger write a check from the criteria alone, runs its command on the work, and compares. Until then what
 * it expects is in memory only: the turn's transcript and events are written afterwards.
 *
 * @throws {RalphError} git-failed
 */
export async function unseenCheck(challenge: Challenge): Promise<UnseenOutcome> {
  const { base, name, folder } = challenge;
  const place = await broughtUp(challenge, base);
  if (typeof place === "string") return missing([], place);
  const transcript = join(folder, `${name}-challenge-check.log`);
  const events = heldEvents(challenge, transcript);
  const { taken, words } = await hiddenTurn(challenge, await challengerFolder(challenge, place), events.bus);
  try {
    return await compared(challenge, taken);
  } finally {
    await ensureDirectory(folder);
    await writeAtomic(transcript, words);
    events.release();
  }
}

async function compared(challenge: Challenge, { turn, result, nothing }: ChallengerTurn): Promise<UnseenOutcome> {
  const { ralph, work, signal } = challenge;
  if (!result.ok || signal.aborted) return { results: [result], differs: null, missing: null };
  const check = await unseenCheckOf(turn.text);
  if (nothing !== null || check === null) return missing([result], nothing ?? "the answer has no check in it");
  const place = await broughtUp(challenge, work);
  if (typeof place === "string") return missing([result], place);
  const started = ralph.host.clock.steady();
  const { text, ending } = await observe(challenge, place, check.command);
  const durationMs = Math.max(0, ralph.host.clock.steady() - started);
  const ok = withoutEnd(text) === withoutEnd(check.expect);
  const printed = `printed ${quoted(text)}${ending === "" ? "" : ` (${ending})`}`;
  const said = `\`${check.command}\` ${printed}, expected ${quoted(check.expect)}`;
  const shown = redactorFor(ralph.host.environment.variables).text(said);
  const compared = { name: UNSEEN_CHECK, scope: "", ok, exitCode: null, tail: ok ? "" : shown, durationMs };
  return { results: [result, compared], differs: ok ? null : shown, missing: null };
}

/** A turn whose transcript is nowhere on disk when it has ended. */
async function hiddenTurn(challenge: Challenge, cwd: string, events: EventBus) {
  await using temporary = await temporaryDirectory("turn-");
  const { text: task } = await findPrompt("challenge_check", challenge.ralph);
  const taken = await challengerTurn(challenge, { task, cwd, name: "turn", folder: temporary.path, events });
  const words = taken.turn.transcript === "" ? "" : await readText(taken.turn.transcript, LARGEST_LOG) ?? "";
  return { taken, words };
}

/** A bus that keeps what an agent says until it is released; that a limit is waited for is reported at once. */
function heldEvents({ ralph: { events, root } }: Challenge, transcript: string) {
  const held: RalphEvent[] = [];
  const bus: EventBus = {
    emit: (event) => event.type.startsWith("wait-") ? events.emit(event) : void held.push(event),
    attach: (sink) => events.attach(sink),
  };
  return {
    bus,
    release() {
      for (const event of held) {
        events.emit(event.type === "turn-start" ? { ...event, transcript: relative(root, transcript) } : event);
      }
    },
  };
}

function missing(results: readonly CheckResult[], why: string): UnseenOutcome {
  return { results, differs: null, missing: `no unseen check was made: ${why}` };
}

function quoted(text: string): string {
  const short = text.trimEnd();
  return JSON.stringify(short.length > SHOWN_CHARACTERS ? `${short.slice(0, SHOWN_CHARACTERS)}…` : short);
}

/** Runs a command in a checkout. @returns its standard output, as far as it is compared, and how it failed, if it did */
async function observe({ ralph, signal }: Challenge, place: Pick<CheckPlace, "run">, command: string) {
  const { config, host, root } = ralph;
  const timeoutMs = config.verify.timeout * 1000;
  const chunks: Uint8Array[] = [];
  let left = BYTES;
  const end = await host.processes.run({
    ...place.run(await shellInvocation(command, host.environment), command, root),
    timeoutMs,
    signal,
    onRaw(chunk, stream) {
      if (stream === "stderr" || left <= 0) return;
      chunks.push(chunk.slice(0, left));
      left -= chunk.length;
    },
  });
  const ending = endedBy(end, timeoutMs) || (end.exitCode === 0 ? "" : `exit ${end.exitCode}`);
  return { text: Buffer.concat(chunks).toString("utf8"), ending };
}

/** Reads the last code block of an answer that holds a check; `null` where none does. */
async function unseenCheckOf(text: string): Promise<{ readonly command: string; readonly expect: string } | null> {
  const { z } = await import("zod");
  const schema = z.object({ command: z.string().trim().min(1), expect: z.string() });
  for (const block of closedFences(text).toReversed()) {
    const found = schema.safeParse(jsonIn(block.slice(1, -1).join("\n")));
    if (found.success) return found.data;
  }
  return null;
}

/** White space at the end, and how lines end, make no difference. Pure. */
function withoutEnd(text: string): string {
  return text.replaceAll("\r\n", "\n").trimEnd();
}
