import { dollars } from "../ui/text.ts";
import { basename } from "node:path";
import type { NotifyReason } from "../config/load.ts";
import { tokensOf } from "../backlog/usage.ts";
import type { Tally } from "../events/tally.ts";

/** One message. The text is for people, the rest for programs; it holds nothing that an agent or a check printed. */
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
  /** The words of agents and checks about it: only if `output` asks for them. */
  readonly reasons?: readonly string[];
}

/** Why a person is to hear of a status; of another, which a person ended, nobody is. */
export const REASONS: Readonly<Record<string, NotifyReason>> = {
  passed: "passed",
  unverified: "passed",
  failed: "failed",
  blocked: "blocked",
  exhausted: "limit",
  error: "failed",
};

/** Something that a person hears of. */
export interface News {
  readonly event: NotifyReason;
  readonly status: string | null;
  /** Ralph's own words, after the head. */
  readonly detail: string;
  readonly reasons: readonly string[];
}

/** The notification of it, sent now by a run. Pure. */
export function notificationOf(
  { part, passed, total, startedMs, usage, run, root, now }:
    & Tally
    & Readonly<Record<"part" | "run" | "root", string>>
    & { readonly now: number },
  { event, status, detail, reasons }: News,
): Notification {
  const project = basename(root);
  const minutes = startedMs === null ? 0 : Math.round((now - startedMs) / 6000) / 10;
  const { costUsd, estimated } = usage;
  const done = total === null ? `${passed} done` : `${passed} of ${total} done`;
  const cost = costUsd === null ? [] : [`${estimated ? "about " : ""}${dollars(costUsd)}`];
  const title = `${project}: ${detail}`;
  const text = `${title} (${[part, done, `${minutes} min`, ...cost].join(", ")})`;
  const items = { passed, total };
  return { event, title, text, run, project, part, status, items, minutes, tokens: tokensOf(usage), costUsd, reasons };
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
