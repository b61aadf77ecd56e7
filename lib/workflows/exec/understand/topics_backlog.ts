import { join } from "node:path";
import type { RalphContext } from "../../../context/context.ts";
import { failureOf, fingerprintOf, isOver, isParked, reasonOf } from "../../../backlog/attempts.ts";
import { topLevelPaths } from "../../../git/tree_paths.ts";
import { readText } from "../../../host/files.ts";
import type { Attempt, Backlog, Claim, Item, ParkedItem, Settlement, Turn } from "../../../backlog/types.ts";
import { renderPrompt } from "../../../prompts/render.ts";
import { parseCodebaseMap, tickTopic } from "./codebase_map.ts";
import { localDate } from "../../../host/local_date.ts";
import { CODEBASE_MAP_FILE, EXEC_RUNS, PLAN_STATE_FILE, PLAN_TRANSCRIPT_FILE, PRD_FILE } from "../paths.ts";
import { presentPaths } from "../../present_paths.ts";
import { isCovered, loadTopics } from "./read_topics.ts";

/** An item of this backlog carries this. */
export interface TopicData {
  readonly topic: string;
  /** Dated notes that the map held before. */
  readonly notes: number;
  /** Characters that it had: a tick adds none. */
  readonly size: number;
}

/** A turn must not have done this. */
export interface TopicFindings {
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
  return {
    name: "understand",
    stateFiles: STATE_FILES,
    ownFiles: isNew ? [CODEBASE_MAP_FILE] : [],
    unverified: "accept",
    policy: { final: false },
    runsDirectory: EXEC_RUNS,

    async overview({ parked }) {
      const { all } = await loadTopics(ralph);
      const open = all.filter(({ checked }) => !checked);
      const given = open.filter(({ text }) => isGivenUp(text, parked)).length;
      return {
        total: all.length,
        passed: all.length - open.length,
        open: open.length - given,
        parked: given,
        unchecked: [],
      };
    },

    async next({ inFlight, parked }) {
      const { all, map } = await loadTopics(ralph);
      const open = all.filter(({ checked }) => !checked);
      const topic = open.find(({ text }) => !inFlight.includes(idOf(text)) && !isGivenUp(text, parked));
      if (topic !== undefined) {
        const { text } = topic;
        const data = { topic: text, notes: parseCodebaseMap(map ?? "").entries.length, size: map?.length ?? 0 };
        return {
          status: "item",
          item: { id: idOf(text), kind: "topic", title: text, exclusive: true, fingerprint: fingerprintOf(text), data },
        };
      }
      if (inFlight.length > 0) return { status: "waiting" };
      const left = parked.filter(({ id }) => open.some(({ text }) => idOf(text) === id));
      if (left.length > 0) return { status: "blocked", reasons: left.map(({ id, reason }) => `${id}: ${reason}`) };
      return { status: "done" };
    },

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
  await ralph.state.update(
    CODEBASE_MAP_FILE,
    (text) => text === null ? null : tickTopic(text, topic, { checked: passed }),
  );
  if (passed) {
    // the transcript has the gates' decisions, taken after it was committed with the plan
    const paths = [CODEBASE_MAP_FILE, ...await presentPaths(ralph.root, [PLAN_TRANSCRIPT_FILE])];
    return { status: "passed", commit: { subject: `ralph: understood ${topic}`, paths, work: false } };
  }
  if (attempt.status === "interrupted") return { status: "open" };
  const reason = reasonOf(attempt);
  const wrote = attempt.claim?.findings?.wrote ?? [];
  if (wrote.length > 0) return { status: "stop", as: "failed", reason };
  return { status: isOver(attempt) ? "parked" : "open", reason };
}

/** A short name for a topic, the same in every run. */
function idOf(topic: string): string {
  const words = topic.replace(/\(.*$/, "").toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "-").replaceAll(/^-|-$/g, "");
  return `${words.slice(0, 40)}-${fingerprintOf(topic).slice(0, 4)}`;
}

function isGivenUp(topic: string, parked: readonly ParkedItem[]): boolean {
  return isParked({ id: idOf(topic), fingerprint: fingerprintOf(topic) }, parked);
}
