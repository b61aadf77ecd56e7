import { basename } from "node:path";
import type { NotifyReason } from "../config/types.ts";
import { tokensOf, type UsageTotal } from "../backlog/usage.ts";
import type { RalphEvent } from "../events/types.ts";

/** What is sent. The text is for people, the rest for programs; nothing that an agent or a check printed is in it. */
export interface Notification {
  readonly event: NotifyReason;
  readonly title: string;
  /** One line. */
  readonly text: string;
  readonly run: string;
  readonly project: string;
  /** `exec`, `plan` … */
  readonly part: string;
  readonly status: string | null;
  readonly items: { readonly passed: number; readonly total: number | null };
  readonly minutes: number;
  readonly tokens: number | null;
  readonly costUsd: number | null;
  /** What agents and checks say of it: only where `output` asks for it. */
  readonly reasons?: readonly string[];
}

/** What is known of a run while it lasts. */
export interface RunFacts {
  readonly part: string;
  readonly startedMs: number | null;
  readonly passed: number;
  readonly total: number | null;
  readonly usage: UsageTotal | null;
}

/** Before the first event. */
export const NO_FACTS: RunFacts = { part: "run", startedMs: null, passed: 0, total: null, usage: null };

/** The facts after one more event. Pure. */
export function nextFacts(facts: RunFacts, event: RalphEvent, now: number): RunFacts {
  switch (event.type) {
    case "run-start":
      return { ...NO_FACTS, part: event.workflow, startedMs: facts.startedMs ?? now };
    case "step-start":
      return { ...facts, startedMs: facts.startedMs ?? now, part: facts.part === "run" ? event.step : facts.part };
    case "iteration-start":
      return { ...facts, passed: event.passed, total: event.total };
    case "iteration-end":
      return event.settlement === "passed" ? { ...facts, passed: facts.passed + 1 } : facts;
    case "run-end":
      return { ...facts, usage: event.usage ?? null };
    default:
      return facts;
  }
}

/** Why a person is to hear of a status; `null` where a person ended it. Pure. */
export function reasonOfStatus(status: string): NotifyReason | null {
  switch (status) {
    case "passed":
    case "unverified":
      return "passed";
    case "failed":
    case "blocked":
      return status;
    case "exhausted":
      return "limit";
    default:
      return null;
  }
}

/** What is sent of an event. Pure. */
export function notificationOf(
  facts: RunFacts,
  { event, status, detail, reasons, run, root, now }: {
    readonly event: NotifyReason;
    readonly status: string | null;
    /** Ralph's own words, after the head. */
    readonly detail: string;
    readonly reasons: readonly string[];
    readonly run: string;
    readonly root: string;
    readonly now: number;
  },
): Notification {
  const project = basename(root);
  const minutes = facts.startedMs === null ? 0 : Math.round((now - facts.startedMs) / 6000) / 10;
  const tokens = facts.usage === null ? null : tokensOf(facts.usage);
  const costUsd = facts.usage?.costUsd ?? null;
  const items = facts.total === null ? `${facts.passed} done` : `${facts.passed} of ${facts.total} done`;
  const cost = costUsd === null ? [] : [`${facts.usage?.estimated === true ? "about " : ""}$${costUsd.toFixed(2)}`];
  const title = `${project}: ${detail}`;
  const text = `${title} (${[facts.part, items, `${minutes} min`, ...cost].join(", ")})`;
  return {
    event,
    title,
    text,
    run,
    project,
    part: facts.part,
    status,
    items: { passed: facts.passed, total: facts.total },
    minutes,
    tokens,
    costUsd,
    reasons,
  };
}

/**
 * The body of a request: Slack and Mattermost read `text`, Discord `content`, ntfy `topic`, `title` and `message`; the
 * rest is for programs. Pure.
 */
export function bodyOf(notification: Notification, topic: string | undefined, output: boolean): object {
  const { reasons = [], ...rest } = notification;
  const said = output && reasons.length > 0 ? `${rest.text}\n${reasons.join("\n")}`.slice(0, 1900) : rest.text;
  return {
    ...rest,
    text: said,
    content: said,
    message: said,
    ...(topic === undefined ? {} : { topic }),
    ...(output ? { reasons } : {}),
  };
}
