import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { findRun, makeReport } from "../../lib/report/make_report.ts";
import { resumeCommand, runFolders } from "../../lib/workflows/table.ts";
import type { RunReport } from "../../lib/report/types.ts";
import type { RalphEvent } from "../../lib/events/types.ts";
import { createHost } from "../../lib/host/create_host.ts";

export const RUN = "20260102-030405-abcd";
export const USAGE = {
  inputTokens: 1000,
  outputTokens: 204,
  cachedTokens: 800,
  reasoningTokens: null,
  costUsd: 0.031,
  estimated: true,
} as const;
export const UNKNOWN = {
  inputTokens: null,
  outputTokens: null,
  cachedTokens: null,
  reasoningTokens: null,
  costUsd: null,
  estimated: false,
} as const;
const START_MS = Date.UTC(2026, 0, 2, 3, 4, 5);

/** Events as they stand in a file, a second apart; a string is a line as it is. */
export function ndjson(events: readonly (RalphEvent | string)[]): string {
  return events.map((event, index) =>
    typeof event === "string"
      ? event
      : JSON.stringify({ v: 1, at: new Date(START_MS + index * 1000).toISOString(), run: RUN, ...event })
  ).map((line) => `${line}\n`).join("");
}

/** The root of a project, outside a repository, with this file of events. */
export function projectWith(text: string, runs = "scripts/ralph/runs"): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "ralph-report-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  mkdirSync(join(root, runs, RUN), { recursive: true });
  writeFileSync(join(root, runs, RUN, "events.ndjson"), text);
  return root;
}

/** The report of a run with these events. */
export async function reportOf(events: readonly (RalphEvent | string)[]): Promise<RunReport> {
  return await reportIn(projectWith(ndjson(events)));
}

/** The report of the newest run below a root. */
export async function reportIn(root: string): Promise<RunReport> {
  return await makeReport(root, await findRun({ root, cwd: root, folders: await runFolders(root) }, undefined), {
    host: createHost(),
    resume: resumeCommand,
  });
}

const item = (id: string, title = `Title of ${id}`, kind = "story") => ({ id, kind, title });

/** One attempt: its start, a turn, checks, its end. */
export function attempt(
  id: string,
  iteration: number,
  end: Partial<Extract<RalphEvent, { type: "iteration-end" }>> = {},
  checks: readonly { readonly name: string; readonly ok: boolean; readonly tail?: string }[] = [],
): readonly RalphEvent[] {
  const named = { iteration, item: end.item ?? item(id), attempt: end.attempt ?? 1 };
  return [
    { type: "iteration-start", ...named, passed: 0, total: 3 },
    { type: "turn-start", agent: "claude", transcript: `runs/iteration-${iteration}.log` },
    { type: "agent-start", session: "s", model: "opus" },
    { type: "turn-end", agent: "claude", reason: "completed", message: null, durationMs: 61_000, usage: USAGE },
    ...checks.map(({ name, ok, tail = "" }): RalphEvent => ({
      type: "check-end",
      name,
      scope: id,
      ok,
      exitCode: ok ? 0 : 1,
      durationMs: 1200,
      tail,
    })),
    {
      type: "iteration-end",
      result: "verified",
      settlement: "passed",
      message: null,
      durationMs: 2000,
      usage: USAGE,
      ...end,
      ...named,
    },
  ];
}

export const RUN_START: RalphEvent = {
  type: "run-start",
  workflow: "exec",
  root: "/r",
  agent: "claude",
  folder: "/r/f",
};

/** The end of a loop. */
export function runEnd(status: string, reasons: readonly string[] = []): RalphEvent {
  return { type: "run-end", status, reasons, iterations: 1 };
}
