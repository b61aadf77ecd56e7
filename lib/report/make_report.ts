import { basename } from "node:path";
import { JsonLines } from "../agents/json_lines.ts";
import { redactorFor } from "../events/redact.ts";
import { readChunks } from "../host/files.ts";
import { readLockHolder } from "../host/lock_holder.ts";
import type { Host } from "../host/types.ts";
import { ownFiles } from "../context/context.ts";
import { addCommits, repositoryOf } from "./commits.ts";
import type { Draft, ItemCounts, RunReport } from "./types.ts";
import { type FoundRun, shownPath } from "./find_run.ts";
import { createFold } from "./fold.ts";
import { SECOND_LOOKS } from "./texts.ts";

/** The command that continues a part of a run; `null` where only its user knows it. */
export type Resume = (part: {
  readonly name: string;
  readonly scope: string | null;
  /** The run's folder, relative to the root. */
  readonly folder: string;
}) => Promise<string | null>;

/** Reads a run's events line by line, then asks git and the run lock. Changes nothing. @throws {RalphError} file-unreadable */
export async function makeReport(
  root: string,
  run: FoundRun,
  { host, resume }: { readonly host: Host; readonly resume: Resume },
): Promise<RunReport> {
  const fold = createFold(shownPath(root, run.events));
  const lines = new JsonLines({ take: fold.take, invalid: fold.invalid });
  for await (const chunk of readChunks(run.events)) lines.push(chunk);
  lines.end();
  const draft = fold.end();
  Object.assign(draft, { run: run.id, root, folder: shownPath(root, run.folder), project: basename(root) });
  draft.running = run.newest ? await whoIsAtWork(root, host, draft.endedAt) : null;
  settleState(draft);
  await addCommits(draft, run.folder, {
    host,
    redactor: redactorFor(host.environment.variables),
  });
  draft.counts = countsOf(draft);
  const last = draft.parts.at(-1);
  draft.next = nextSteps(draft, last === undefined ? null : await resume({ ...last, folder: draft.folder }));
  return draft;
}

/** The holder of the run lock, when it took it before the run's last event: a later one is another run's. */
async function whoIsAtWork(
  root: string,
  host: Host,
  lastAt: string | null,
): Promise<{ readonly pid: number; readonly since: string } | null> {
  const repository = await repositoryOf(host, root);
  const holder = await readLockHolder(ownFiles(repository, root).runLock);
  if (holder === null || lastAt === null || !(Date.parse(holder.since) <= Date.parse(lastAt))) return null;
  return { pid: holder.pid, since: holder.since };
}

function settleState(draft: Draft<RunReport>): void {
  const part = draft.parts.at(-1);
  const begun = part?.turns.at(-1);
  const isOver = part !== undefined &&
    (part.status !== null || (part.kind === "turns" && begun !== undefined && begun.reason !== null));
  if (part === undefined && draft.events.count === 0) draft.state = "empty";
  else if (draft.running !== null) draft.state = "running";
  else draft.state = isOver ? "ended" : "cut-off";
  if (draft.state === "running") return;
  draft.status = part?.status ?? null;
  draft.reasons = part?.reasons ?? [];
  for (const item of draft.items) if (item.state === "in-progress") item.state = "interrupted";
}

function countsOf({ parts, items }: Draft<RunReport>): ItemCounts {
  const last = parts.findLastIndex(({ kind }) => kind === "loop");
  const counted = items.filter(({ part, kind }) => part === last && !SECOND_LOOKS.has(kind));
  const of = (state: string): number => counted.filter((item) => item.state === state).length;
  const [verified, unverified, parked] = [of("verified"), of("unverified"), of("parked")];
  return { verified, unverified, parked, open: counted.length - verified - unverified - parked };
}

/**
 * The next steps for a person. Pure.
 *
 * @param command what continues with the last part; `null` where only its user knows it
 */
function nextSteps({ state, parts, items, counts }: Draft<RunReport>, command: string | null): string[] {
  const part = parts.at(-1);
  if (state === "running") return ["`ralph status` shows the progress"];
  if (part === undefined) return [];
  const again = command === null ? "the same command" : `\`${command}\``;
  const parked = items.filter((item) => item.state === "parked" || item.state === "blocked").length;
  const retry = command === null ? "the same command with `--retry-blocked`" : `\`${command} --retry-blocked\``;
  const steps: string[] = [];
  if (state === "cut-off") steps.push(`${again} continues where it stopped; nothing is lost`);
  else if (part.status === "blocked" || parked > 0) steps.push(`fix the cause, then ${retry}`);
  else if (part.status === "failed" || part.status === "exhausted") steps.push(`${again} continues`);
  else if (part.status === "aborted" || part.status === "declined") {
    steps.push(`${again} continues where this one stopped`);
  } else if (part.name === "plan" && part.status === "approved") steps.push("`ralph run` implements it");
  if (counts.unverified > 0 && command !== null) {
    steps.push("`ralph verify` runs what checks there are, `verify.default` names more");
  }
  return steps;
}
