import type { Attempt, Backlog, Check, Item, LoopView, Settlement } from "../backlog/types.ts";
import { usageOf } from "../backlog/usage.ts";
import type { RalphContext } from "../context/context.ts";
import { requireRepository } from "../git/require_repository.ts";

/** An iteration, as events name it. */
export interface NamedIteration {
  readonly iteration: number;
  readonly item: Pick<Item, "id" | "kind" | "title">;
  readonly attempt: number;
}

/** What of an item's criteria is in its event. */
const MOST_CRITERIA = 50;
const LONGEST_CRITERION = 500;

/** Says that a run begins, and on which commit. */
export async function announceRun<Data, Findings>(
  ralph: RalphContext,
  { scope = "", name }: Backlog<Data, Findings>,
  folder: string,
): Promise<void> {
  const [head] = await requireRepository(ralph).log(1);
  ralph.events.emit({
    type: "run-start",
    workflow: name,
    root: ralph.root,
    agent: ralph.agent.name,
    folder,
    ...(scope === "" ? {} : { scope }),
    ...(head === undefined ? {} : { head: head.commit }),
  });
}

/** Says that an iteration begins. `cap`: turns at most. */
export async function announceIteration<Data, Findings>(
  { events }: Pick<RalphContext, "events">,
  backlog: Backlog<Data, Findings>,
  named: NamedIteration,
  { view, cap, criteria }: {
    readonly view: LoopView;
    readonly cap: number | null;
    readonly criteria: readonly string[];
  },
): Promise<void> {
  const { total, passed } = await backlog.overview(view);
  const shown = criteria.slice(0, MOST_CRITERIA).map((text) => text.slice(0, LONGEST_CRITERION));
  events.emit({
    type: "iteration-start",
    ...named,
    passed,
    total,
    ...(cap === null ? {} : { limit: cap }),
    ...(shown.length === 0 ? {} : { criteria: shown }),
  });
}

/** Says how an iteration ended. */
export function announceEnd(
  { events, host }: Pick<RalphContext, "events" | "host">,
  named: NamedIteration,
  { attempt, worked, settlement, started }: {
    /** As it was settled. */
    readonly attempt: Attempt;
    /** As it was worked: its usage. */
    readonly worked: Attempt;
    readonly settlement: Settlement;
    /** Milliseconds since 1970. */
    readonly started: number;
  },
): void {
  events.emit({
    type: "iteration-end",
    ...named,
    result: attempt.status,
    settlement: settlement.status,
    message: reasonOf(settlement, attempt),
    durationMs: Math.max(0, host.clock.now() - started),
    usage: usageOf(worked),
    ...(settlement.reopened === undefined ? {} : { reopened: settlement.reopened }),
  });
}

/** Commands that passed in an attempt. Pure. */
export function greenOf({ verification }: Attempt, checks: readonly Check[]): readonly string[] {
  const passed = new Set(verification?.results.filter(({ ok }) => ok).map(({ name }) => name));
  return checks.flatMap(({ name, command }) => command !== undefined && passed.has(name) ? [command] : []);
}

function reasonOf(settlement: Settlement, attempt: Attempt): string | null {
  const given = "reason" in settlement ? settlement.reason ?? null : null;
  return given ?? ("message" in attempt ? attempt.message : null);
}
