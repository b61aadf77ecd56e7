import { join, relative } from "node:path";
import type { CheckResult } from "../../backlog/types.ts";
import { UNSEEN_CHECK } from "./failed_unseen_check.ts";
import { createRedactor } from "../../events/redact.ts";
import { secretValues } from "../../events/secrets.ts";
import type { EventBus, RalphEvent } from "../../events/types.ts";
import { ensureDirectory, LARGEST_LOG, readText, temporaryDirectory, writeAtomic } from "../../host/files.ts";
import { sameText, unseenCheckOf } from "./answer.ts";
import { broughtUp, type Challenge, challengerFolder, type ChallengerTurn, challengerTurn } from "./challenger.ts";
import { observe } from "./observe.ts";
import { unseenCheckPrompt } from "./prompt.ts";

/** What the unseen check came to. */
export interface UnseenOutcome {
  /** The challenger's turn, and the comparison where there was one. */
  readonly results: readonly CheckResult[];
  /** What was printed instead of what; `null` where it was the same, or nothing was compared. */
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
  const started = ralph.host.clock.now();
  const timeoutMs = ralph.config.verify.timeout * 1000;
  const { text, ending } = await observe(ralph.host, place, check.command, { cwd: ralph.root, timeoutMs, signal });
  const durationMs = Math.max(0, ralph.host.clock.now() - started);
  const ok = sameText(text, check.expect);
  const shown = createRedactor(secretValues(ralph.host.environment.variables)).text(
    `\`${check.command}\` printed ${quoted(text)}${ending === "" ? "" : ` (${ending})`}, expected ${
      quoted(check.expect)
    }`,
  );
  const compared = { name: UNSEEN_CHECK, scope: "", ok, exitCode: null, tail: ok ? "" : shown, durationMs };
  return { results: [result, compared], differs: ok ? null : shown, missing: null };
}

/** A turn whose transcript is nowhere on disk when it has ended. */
async function hiddenTurn(
  challenge: Challenge,
  cwd: string,
  events: EventBus,
): Promise<{ readonly taken: ChallengerTurn; readonly words: string }> {
  await using temporary = await temporaryDirectory("turn-");
  const prompt = unseenCheckPrompt(challenge.item);
  const taken = await challengerTurn(challenge, { prompt, cwd, name: "turn", folder: temporary.path, events });
  const words = taken.turn.transcript === "" ? "" : await readText(taken.turn.transcript, LARGEST_LOG) ?? "";
  return { taken, words };
}

/** A bus that keeps what an agent says until it is released; that a limit is waited for is reported at once. */
function heldEvents(
  { ralph: { events, root } }: Challenge,
  transcript: string,
): { readonly bus: EventBus; readonly release: () => void } {
  const held: RalphEvent[] = [];
  return {
    bus: {
      emit: (event) => event.type.startsWith("wait-") ? events.emit(event) : void held.push(event),
      attach: (sink) => events.attach(sink),
    },
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
