import type { RalphContext } from "../context/context.ts";
import { journalKeyOf, onlyOneReason, ORDERED } from "../backlog/attempts.ts";
import type { JournalKey } from "../backlog/journal_types.ts";
import type { Backlog, Overview } from "../backlog/types.ts";
import { MOST_REOPENINGS } from "../loop/policy/progress.ts";
import { askConsent, type Consent, type GateOutcome, type IterationCap, iterationCap } from "./gate.ts";
import { uncheckedLine } from "../checks/unchecked_items.ts";

/** The gate says this of the run. */
export interface GateRunOptions {
  /** `auto`: one for each open item, retries on top; a number counts agent turns. @default "auto" */
  readonly maxIterations?: "auto" | number;
  /** The decision, where the plan's question asked for it: no one is asked again. @default asks */
  readonly consent?: Consent | undefined;
}

/** The gate says this of a backlog that has words of its own. */
export interface GateTexts {
  /** The names of its items. */
  readonly items: { readonly one: string; readonly many: string };
  /** The command that starts the run by itself. */
  readonly command: string;
  /** The command that makes items. */
  readonly plan: string;
  /** Writes the decision where the workflow keeps its own; `isLast`: no run follows. */
  record(ralph: RalphContext, heading: string, body: readonly string[], isLast: boolean): Promise<void>;
}

/** A backlog as the gate takes it. */
export type GatedBacklog<Data, Findings> = Backlog<Data, Findings> & { readonly gate?: GateTexts };

const OPTION = "--max-run-iterations";

/** The newest run of this backlog did not pass: the final check is left to do. */
function lacks({ journal }: Pick<RalphContext, "journal">, key: JournalKey): boolean {
  const last = journal.named();
  const hasLack = last?.backlog === key.backlog && last.scope === key.scope && last.lack !== undefined;
  return hasLack || journal.open(key).length > 0;
}

/**
 * Asks whether the work may start; the default is no. Shows how many iterations it may take and how that was computed,
 * and lists the items that name no check. Decides only: `runLoop()` acts.
 *
 * @throws {RalphError} option-invalid, state-missing, state-invalid
 * @example No one said yes
 * ```ts
 * import { gateRun, memoryBacklog } from "ralph";
 * import { testContext } from "ralph/testing";
 *
 * await using ralph = await testContext();
 * const go = await gateRun(ralph, memoryBacklog([{ id: "a", title: "write a.txt", checks: ["test -f a.txt"] }]));
 * console.log(go.status); // declined
 * ```
 */
export async function gateRun<Data, Findings>(
  ralph: RalphContext,
  backlog: GatedBacklog<Data, Findings>,
  options: GateRunOptions = {},
): Promise<GateOutcome<IterationCap>> {
  const key = await journalKeyOf(backlog);
  const overview = await backlog.overview({ parked: ralph.loop.retryBlocked ? [] : ralph.journal.parked(key) });
  const { gate } = backlog;
  const nouns = gate?.items ?? { one: "item", many: "items" };
  const counted = overview.open === null
    ? "the number of items is not known"
    : `${overview.open} ${overview.open === 1 ? nouns.one : nouns.many} not passing${
      overview.parked > 0 ? `, ${overview.parked} more parked` : ""
    }${atOnceText(ralph, backlog, overview)}`;
  const { cap, count, explained } = iterationCap(
    options.maxIterations ?? "auto",
    {
      count: overview.open,
      counted,
      ...(typeof backlog.policy?.retries === "function"
        ? {}
        : { turnsEach: (backlog.policy?.retries ?? ralph.config.maxRetries) + MOST_REOPENINGS }),
    },
    OPTION,
  );
  const nothing = lacks(ralph, key)
    ? count === 0 && overview.open !== 0 ? `${OPTION} is 0` : null
    : nothingToDo(overview, nouns, gate) ?? (count === 0 ? `${OPTION} is 0` : null);
  if (nothing !== null) {
    ralph.events.emit({ type: "note", level: "info", message: `run skipped: ${nothing}` });
    return { status: "skipped", reason: nothing };
  }

  const blocks = overview.unchecked.length > 0 && backlog.unverified === "block" &&
    !ralph.config.verify.allowUnverified && ralph.config.verify.default.length === 0;
  const reasons = [explained, ...(blocks ? [uncheckedLine(overview.unchecked)] : [])];
  const message = gate === undefined ? "Start the run now?" : `Start \`${gate.command}\` now?`;
  const consent = await askConsent(ralph, { name: "run", message, reasons }, options.consent);
  if (consent === null) return { status: "aborted" };
  const answer = `${message} ${consent.yes ? "yes" : "no"} (${consent.source})`;
  await gate?.record(ralph, "Run: decision", [...reasons.map((reason) => `- ${reason}`), "", answer], !consent.yes);
  if (consent.yes) return { status: "approved", ...cap };

  const number = cap.maxIterations === undefined ? "" : ` --max-iterations ${cap.maxIterations}`;
  const next = gate === undefined ? [] : [ralph.again("ralph status"), ralph.again(`${gate.command}${number}`)];
  if (next.length > 0) ralph.events.emit({ type: "text", title: "Next", lines: next });
  return { status: "declined", next };
}

/** How many items are worked on at once, where several were asked for. */
function atOnceText<Data, Findings>(
  { loop, config }: Pick<RalphContext, "config" | "loop">,
  backlog: Pick<Backlog<Data, Findings>, "concurrent" | "name">,
  { open, atOnce = open ?? Infinity }: Overview,
): string {
  const workers = loop.workers ?? config.parallel.workers;
  if (workers === 1 || open === null || open < 2) return "";
  const reason = onlyOneReason(backlog);
  if (reason !== null) return `, one after another: ${reason}`;
  const most = Math.min(workers, atOnce);
  return most > 1 ? `, up to ${most} at once` : `, one after another: ${ORDERED}`;
}

function nothingToDo(
  { total, passed, open, parked }: Overview,
  { one, many }: GateTexts["items"],
  gate: GateTexts | undefined,
): string | null {
  if (open !== 0) return null;
  if (parked > 0) {
    const again = gate === undefined ? "`--retry-blocked`" : `\`${gate.command} --retry-blocked\``;
    return `nothing is open and ${parked} of ${total ?? "the"} ${many} are parked; ${again} takes them up again`;
  }
  if (total === 0) return `there are no ${many}${gate === undefined ? "" : `; \`${gate.plan}\` makes some`}`;
  return passed === 1 ? `the only ${one} is already passing` : `all ${passed} ${many} are already passing`;
}
