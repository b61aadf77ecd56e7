import { note, type RalphContext } from "../../context/context.ts";
import { onOneLine } from "../../prompts/render.ts";
import type { Attempt, Backlog, Check, Item, LoopView, Settlement } from "../../backlog/types.ts";
import { noChecks } from "../../backlog/verify_commands.ts";
import { usageOf } from "../../backlog/usage.ts";
import type { TurnChanges } from "../../events/types.ts";
import { requireRepository } from "../../git/repository.ts";

/** So many of the files that a turn changed are named. */
const PATHS = 20;

/** An iteration, as events name it. */
export interface NamedIteration {
  readonly iteration: number;
  readonly item: Pick<Item, "id" | "kind" | "title">;
  readonly attempt: number;
}

/** The event of an item holds this much of its criteria. */
const MOST_CRITERIA = 50;
const LONGEST_CRITERION = 500;

/** Says that a run begins, and on which commit. */
export async function announceRun<Data, Findings>(
  ralph: RalphContext,
  backlog: Backlog<Data, Findings>,
  folder: string,
): Promise<void> {
  const { scope = "", name } = backlog;
  const repository = requireRepository(ralph);
  const { head, branch } = await repository.head();
  const goal = (await backlog.brief?.())?.goal ?? null;
  ralph.events.emit({
    type: "run-start",
    workflow: name,
    root: ralph.root,
    agent: ralph.agent.name,
    folder,
    ...(scope === "" ? {} : { scope }),
    ...(head === null ? {} : { head }),
    ...(goal === null ? {} : { goal: onOneLine(goal) }),
    ...(branch === null ? {} : { branch }),
    ...(ralph.config.trust === "strict" ? { strict: true } : {}),
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
  if (named.attempt !== 1) return;
  for (const message of noChecks({ id: named.item.id, acceptanceCriteria: shown })) {
    note({ events }, "warn", message);
  }
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
    /** By `clock.steady()`. */
    readonly started: number;
  },
): void {
  events.emit({
    type: "iteration-end",
    ...named,
    result: attempt.status,
    settlement: settlement.status,
    message: reasonOf(settlement, attempt),
    durationMs: Math.max(0, host.clock.steady() - started),
    usage: usageOf(worked),
    ...(settlement.reopened === undefined ? {} : { reopened: settlement.reopened }),
    ...changesOf(worked),
  });
}

function changesOf({ turn }: Attempt): { readonly changes?: TurnChanges } {
  if (turn === null || turn.changedFiles.length === 0) return {};
  const { changedFiles: paths, diff = { added: 0, removed: 0 } } = turn;
  return { changes: { paths: paths.slice(0, PATHS), files: paths.length, ...diff } };
}

/** Commands that passed in an attempt. Pure. */
export function greenOf({ verification }: Attempt, checks: readonly Check[]): readonly string[] {
  const passed = new Set(verification?.results.filter(({ ok }) => ok).map(({ name }) => name));
  return checks.flatMap(({ name, command }) => command !== undefined && passed.has(name) ? [command] : []);
}

function reasonOf(settlement: Settlement, attempt: Attempt): string | null {
  const given = "reason" in settlement ? settlement.reason ?? null : null;
  if ("message" in attempt) return given ?? attempt.message;
  return given ?? attempt.doubts?.find(({ kind }) => kind === "not-claimed")?.message ?? null;
}
