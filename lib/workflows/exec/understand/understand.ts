import { note, type RalphContext } from "../../../context/context.ts";
import { join } from "node:path";
import { CODEBASE_MAP_FILE, EXEC_RUNS, PLAN_STATE_FILE, PLAN_TRANSCRIPT_FILE, PRD_FILE } from "../types.ts";
import { CODEBASE_MAP } from "../../../generated/templates.ts";
import { isCovered, loadTopics, parseCodebaseMap, tickTopic } from "./codebase_map.ts";
import { makeInside, presentPaths, readText } from "../../../host/files.ts";
import { type LoopOptions, type LoopOutcome, runLoop } from "../../../loop/run/run_loop.ts";
import { failureOf, fingerprintOf, isOver, isParked, reasonOf } from "../../../backlog/attempts.ts";
import { topLevelPaths } from "../../../git/repository.ts";
import { type Listed, nextOf, overviewOf } from "../../../backlog/list.ts";
import type { Attempt, Backlog, Claim, Item, Settlement, Turn } from "../../../backlog/types.ts";
import { renderPrompt } from "../../../prompts/render.ts";
import { localDate } from "../../../host/local_date.ts";

/** How long understanding may take. Without `maxItems` and `maxIterations`: as many topics as are open. */
export type UnderstandOptions = Pick<LoopOptions, "maxItems" | "maxIterations" | "signal">;

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
  const isNew = await makeInside(ralph.root, CODEBASE_MAP_FILE, CODEBASE_MAP);
  if (isNew) note(ralph, "info", `made ${CODEBASE_MAP_FILE}`);
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
    note(ralph, "info", `${count}: ${topicsLeft.join("; ")}`);
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

/** An item of this backlog carries this. */
interface TopicData {
  readonly topic: string;
  /** Dated notes that the map held before. */
  readonly notes: number;
  /** Characters that it had: a tick adds none. */
  readonly size: number;
}

/** A turn must not have done this. */
interface TopicFindings {
  /** State files that it wrote; they are restored. */
  readonly wrote: readonly string[];
}

type TopicsContext = Pick<RalphContext, "root" | "config" | "state" | "repository" | "host">;

const STATE_FILES: readonly string[] = [PRD_FILE, PLAN_STATE_FILE, PLAN_TRANSCRIPT_FILE];

/**
 * The topics of the codebase map: one unchecked topic an iteration, in which nothing but the map may be written.
 *
 * @param isNew Ralph has just made the map: what is in it is no one's uncommitted work. @default false
 */
export function topicsBacklog(
  ralph: TopicsContext,
  { isNew = false }: { readonly isNew?: boolean } = {},
): Backlog<TopicData, TopicFindings> {
  async function listed(): Promise<readonly Listed<TopicData>[]> {
    const { all, map } = await loadTopics(ralph);
    const known = { notes: parseCodebaseMap(map ?? "").entries.length, size: map?.length ?? 0 };
    return all.map(({ text, checked }) => ({
      item: {
        id: idOf(text),
        kind: "topic",
        title: text,
        exclusive: true,
        fingerprint: fingerprintOf(text),
        data: { topic: text, ...known },
      },
      checks: [],
      done: checked,
    }));
  }

  return {
    name: "understand",
    stateFiles: STATE_FILES,
    ownFiles: isNew ? [CODEBASE_MAP_FILE] : [],
    unverified: "accept",
    policy: { final: false },
    runsDirectory: EXEC_RUNS,

    async overview({ parked }) {
      // no check proves a note, so none is missing
      return { ...overviewOf(await listed(), (item) => isParked(item, parked)), unchecked: [] };
    },

    next: async (look) => nextOf(await listed(), look),

    async work(item, { nonce, previous }) {
      const prompt = await renderPrompt("exec_understand", {
        nonce,
        item: item.data.topic,
        today: localDate(ralph.host.clock.now()),
        failure: previous === null ? "" : failureOf(previous),
      }, { root: ralph.root });
      return { prompt, checks: [], allow: [CODEBASE_MAP_FILE] };
    },

    judge: (item, turn, { cwd }) => judgeTopic(ralph, item, turn, cwd),

    settle: (item, attempt) => settleTopic(ralph, item, attempt),
  };
}

async function judgeTopic(
  ralph: TopicsContext,
  item: Item<TopicData>,
  turn: Turn,
  cwd: string,
): Promise<Claim<TopicFindings>> {
  const wrote = turn.changedFiles.filter((path) => STATE_FILES.includes(path));
  if (wrote.length > 0) {
    const options = { base: turn.base, maxBytes: 4096 };
    const diff = await ralph.repository?.diff(topLevelPaths(ralph, wrote), options) ?? "";
    const reason = `wrote outside ${CODEBASE_MAP_FILE}: ${wrote.join(", ")} (restored)\n${diff}`;
    return { status: "failed", reason, findings: { wrote } };
  }
  const text = await readText(join(cwd, CODEBASE_MAP_FILE)) ?? "";
  const map = parseCodebaseMap(text);
  const { topic, notes, size } = item.data;
  const isTicked = map.topics?.some((one) => one.text === topic && one.checked) ?? false;
  // Without a checklist it is the note's own title that remembers the topic.
  const isNamed = map.topics === null ? isCovered(map, topic) : map.entries.length > notes;
  const isWritten = text.length > size || isCovered(map, topic); // by an attempt that was interrupted
  if (isNamed || (isTicked && isWritten)) return { status: "done" };
  const form = `## ${localDate(ralph.host.clock.now())} - ${topic}`;
  const why = isTicked ? "although the topic is ticked" : "and the topic is not ticked";
  return { status: "not-done", reason: `${CODEBASE_MAP_FILE} holds no new note (\`${form}\`) ${why}` };
}

async function settleTopic(
  ralph: TopicsContext,
  item: Item<TopicData>,
  attempt: Attempt<TopicFindings>,
): Promise<Settlement> {
  const passed = attempt.status === "verified" || attempt.status === "unverified";
  const { topic } = item.data;
  // Ticked although it did not pass: by an agent that failed, or before its commit was refused.
  await ralph.state.update(CODEBASE_MAP_FILE, (text) => text && tickTopic(text, topic, { checked: passed }));
  if (passed) {
    // the transcript has the gates' decisions, taken after it was committed with the plan
    const paths = [CODEBASE_MAP_FILE, ...await presentPaths(ralph.root, [PLAN_TRANSCRIPT_FILE])];
    return { status: "passed", commit: { subject: `ralph: understood ${topic}`, paths, work: false } };
  }
  if (attempt.status === "interrupted") return { status: "open" };
  const reason = reasonOf(attempt);
  if ((attempt.claim?.findings?.wrote ?? []).length > 0) return { status: "stop", as: "failed", reason };
  return { status: isOver(attempt) ? "parked" : "open", reason };
}

/** A short name for a topic, the same in every run. */
function idOf(topic: string): string {
  const words = topic.replace(/\(.*$/, "").toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "-").replaceAll(/^-|-$/g, "");
  return `${words.slice(0, 40)}-${fingerprintOf(topic).slice(0, 4)}`;
}
