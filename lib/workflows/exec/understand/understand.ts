import { join } from "node:path";
import { CODEBASE_MAP_FILE } from "../paths.ts";
import { MAP_TEMPLATE } from "../scaffold.ts";
import { topicsBacklog } from "./topics_backlog.ts";
import { loadTopics } from "./read_topics.ts";
import type { RalphContext } from "../../../context/context.ts";
import { pathExists, writeAtomic } from "../../../host/files.ts";
import { type LoopOutcome, runLoop } from "../../../loop/run/run_loop.ts";

/** How long understanding may take. */
export interface UnderstandOptions {
  /** Topics taken up at most; retries come on top. @default as many as are open */
  readonly maxItems?: number;
  /** Agent turns at most. */
  readonly maxIterations?: number;
  readonly signal?: AbortSignal;
}

/** How the understanding loop ended, with the topics that are left. */
export type UnderstandOutcome = LoopOutcome & {
  readonly topicsLeft: readonly string[];
  /** All that is in the way are topics that were given up: what was approved beside it may follow. */
  readonly gaveUp: boolean;
};

/**
 * Explores the code, one open topic of `codebase_map.md` an iteration. Nothing but the map may be written: anything
 * else ends the step as failed, whatever the agent said. A cap that is used up is no failure: the topics left are reported.
 *
 * @throws {RalphError} as `runLoop()` does
 * @example Look at two topics
 * ```ts
 * import { understand } from "ralph";
 * import { testContext } from "ralph/testing";
 *
 * const note = "\n## 2026-01-31 - How to run locally\n\n- `make run`\n";
 * const turn = { append: { "scripts/ralph/codebase_map.md": note }, say: "<promise>COMPLETE</promise>" };
 * await using ralph = await testContext({ agent: { turns: [turn] } });
 * const understood = await understand(ralph, { maxItems: 1 });
 * console.log(understood.status, understood.topicsLeft.length); // passed 11
 * ```
 */
export async function understand(ralph: RalphContext, options: UnderstandOptions = {}): Promise<UnderstandOutcome> {
  await ralph.agent.ensureUsable();
  const file = join(ralph.root, CODEBASE_MAP_FILE);
  const isNew = !await pathExists(file);
  if (isNew) {
    await writeAtomic(file, MAP_TEMPLATE);
    ralph.events.emit({ type: "note", level: "info", message: `made ${CODEBASE_MAP_FILE}` });
  }
  const { maxIterations, signal } = options;
  const maxItems = options.maxItems ?? (maxIterations === undefined ? (await loadTopics(ralph)).open : undefined);
  const { idle, stalled } = ralph.config.limits;
  let isFruitless = false;
  const outcome = await runLoop(ralph, topicsBacklog(ralph, { isNew }), {
    purpose: "understand",
    hooks: [], // nothing but the map may be written
    limits: { idle: Infinity, stalled: Infinity }, // kept here: they end the exploring, and not what follows it
    stopWhen({ idleTurns, stalledTurns }) {
      isFruitless = idleTurns >= idle || stalledTurns >= stalled;
      return isFruitless ? `${Math.max(idleTurns, stalledTurns)} turns without a note` : undefined;
    },
    ...(maxItems === undefined ? {} : { maxItems }),
    ...(maxIterations === undefined ? {} : { maxIterations }),
    ...(signal === undefined ? {} : { signal }),
  });
  const topicsLeft = (await loadTopics(ralph)).all.filter(({ checked }) => !checked).map(({ text }) => text);
  if (topicsLeft.length > 0 && outcome.status !== "failed") {
    const count = `${topicsLeft.length} topic${topicsLeft.length === 1 ? " is" : "s are"} left`;
    const message = `${count}: ${topicsLeft.join("; ")}`;
    ralph.events.emit({ type: "note", level: "info", message });
  }
  const gaveUp = outcome.status === "blocked" || (outcome.status === "exhausted" && isFruitless);
  return { ...asUnderstood(outcome, maxItems, maxIterations), topicsLeft, gaveUp };
}

/** No check proves a note, so none is missing; and a cap that was agreed to and used up is an end like any other. */
function asUnderstood(
  outcome: LoopOutcome,
  maxItems: number | undefined,
  maxIterations: number | undefined,
): LoopOutcome {
  if (outcome.status === "unverified") {
    const { allowed: _allowed, ...rest } = outcome;
    return { ...rest, status: "passed", checkedAs: "nothing" };
  }
  if (outcome.status !== "exhausted") return outcome;
  const taken = outcome.passed.length + outcome.parked.length;
  const usedUp = (maxItems !== undefined && taken >= maxItems) ||
    (maxIterations !== undefined && outcome.turns >= maxIterations);
  if (!usedUp) return outcome;
  const { limit, ...rest } = outcome;
  return { ...rest, status: "passed", checkedAs: "nothing", summary: `the cap was used up: ${limit}` };
}
