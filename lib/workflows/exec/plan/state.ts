import { note, type RalphContext } from "../../../context/context.ts";
import { parseJson } from "../../../errors/json_syntax.ts";
import * as exec from "../types.ts";
import { EXEC_FOLDER, EXEC_RUNS, PLAN_STATE_FILE, PLAN_TRANSCRIPT_FILE } from "../types.ts";
import { PLAN_STATE_SCHEMA, type PlanState } from "./schema.ts";
import { stateInvalid } from "../../../errors/ralph_error.ts";
import { isoNow } from "../../../host/local_date.ts";
import { requireRepository, topLevelPaths } from "../../../git/repository.ts";
import { commitFiles } from "../../commit_files.ts";
import { listDirectory, pathExists, presentPaths, removePath, writeAtomic } from "../../../host/files.ts";
import { basename, join } from "node:path";

/**
 * Reads `plan_state.json`.
 *
 * @throws {RalphError} state-invalid with the field and what was expected
 */
export function parsePlanState(content: string): PlanState {
  const result = PLAN_STATE_SCHEMA.safeParse(parseJson(content, PLAN_STATE_FILE));
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ path, message }) => `${path.join(".") || "the file"}: ${message}`);
  throw stateInvalid(PLAN_STATE_FILE, problems.join("; "));
}

/** The plan that was begun, or `null`. @throws {RalphError} state-invalid */
export async function readPlanState({ state }: Pick<RalphContext, "state">): Promise<PlanState | null> {
  const content = await state.read(PLAN_STATE_FILE);
  return content === null ? null : parsePlanState(content);
}

/** The file's text. */
export function formatPlanState(state: PlanState): string {
  return `${JSON.stringify(state, null, 2)}\n`;
}

/** Planning that has just begun: what is not given has its default. */
export function newPlanState(
  start: Pick<PlanState, "goal" | "mapWasMissing" | "root" | "session" | "taken">,
  now: string,
): PlanState {
  return PLAN_STATE_SCHEMA.parse({ ...start, schemaVersion: 1, createdAt: now, updatedAt: now, state: "preflight" });
}

/** A change adds this to the transcript. */
export interface Said {
  readonly heading: string;
  readonly body: readonly string[];
}

/** Planning under way: its state, saved with every change. */
export interface PlanSession {
  readonly ralph: RalphContext;
  /** Absolute path of the run's folder. */
  readonly folder: string;
  readonly state: PlanState;
  /**
   * Saves the state first and the transcript after it. The entries travel in the state, so that a kill between the two
   * loses none, and carry a name, so that none is written twice.
   */
  save(changes: Partial<PlanState>, said?: readonly Said[]): Promise<void>;
  /** ISO time. */
  now(): string;
}

/** Continues from a state; entries that a kill kept from the transcript are written now. */
export async function openSession(ralph: RalphContext, start: PlanState): Promise<PlanSession> {
  let state = start;
  const folder = await ralph.run.folder(EXEC_RUNS);
  const now = (): string => isoNow(ralph.host);
  const flush = async (): Promise<void> => {
    if (state.outbox.length === 0) return;
    await ralph.state.update(PLAN_TRANSCRIPT_FILE, (before) => withEntries(before, state.outbox));
  };
  await flush();
  return {
    ralph,
    folder,
    now,
    get state() {
      return state;
    },
    async save(changes, said = []) {
      const outbox = said.map(({ heading, body }, index) => ({
        id: `${state.session}.${state.entries + index + 1}`,
        text: entryText(heading, now(), body),
      }));
      state = { ...state, ...changes, updatedAt: now(), entries: state.entries + said.length, outbox };
      await ralph.state.update(PLAN_STATE_FILE, () => formatPlanState(state));
      await flush();
    },
  };
}

const TITLE =
  "# Plan transcript\n\nWritten by Ralph, only ever added to: what was asked, answered, proposed and decided.\n";

/** The transcript with the entries at its end; those that it holds already are left out. Pure. */
function withEntries(transcript: string | null, entries: PlanState["outbox"]): string {
  const before = transcript ?? TITLE;
  const missing = entries.filter((entry) => !before.includes(markOf(entry.id)));
  return [before, ...missing.map((entry) => `\n${markOf(entry.id)}\n${entry.text}\n`)].join("");
}

/** A heading, the time, and what there is to say. */
function entryText(heading: string, time: string, body: readonly string[]): string {
  return [`## ${heading}`, "", time, ...(body.length === 0 ? [] : ["", ...body])].join("\n");
}

/** Text as a quotation, so that its own headings stay apart from the transcript's. */
export function quoted(text: string): string {
  return text.split(/\r?\n/).map((line) => line === "" ? ">" : `> ${line}`).join("\n");
}

/** A PRD summary as it was shown. */
export function summaryBody(lines: readonly string[]): readonly string[] {
  return lines.map((line) => `    ${line}`);
}

/**
 * A gate's decision: all that a gate writes. Nothing where the exec workflow has no folder yet.
 *
 * @param isLast no run follows, with whose first story the transcript is committed: it is committed now
 */
export async function recordDecision(
  ralph: RalphContext,
  heading: string,
  body: readonly string[],
  isLast: boolean = false,
): Promise<void> {
  if (!await pathExists(join(ralph.root, EXEC_FOLDER))) return;
  const id = `gate.${ralph.run.id}.${ralph.host.ids.random(4)}`;
  const text = entryText(heading, isoNow(ralph.host), body);
  await ralph.state.update(PLAN_TRANSCRIPT_FILE, (before) => withEntries(before, [{ id, text }]));
  if (!isLast || !ralph.config.commits.prdChanges || ralph.repository === null) return;
  const paths = [PLAN_TRANSCRIPT_FILE];
  const tracked = await ralph.repository.git(["ls-files", "--", ...topLevelPaths(ralph, paths)]);
  if (tracked.stdout !== "") await commitFiles(ralph, { paths, subject: "ralph: plan decided" });
}

function markOf(id: string): string {
  return `<!-- ${id} -->`;
}

/** Only Ralph writes these files while it plans. */
export const PLAN_STATE_FILES: readonly string[] = [
  exec.PRD_FILE,
  exec.PLAN_STATE_FILE,
  exec.PLAN_TRANSCRIPT_FILE,
  exec.CODEBASE_MAP_FILE,
];

/** The state files that do not exist. */
export async function missingStateFiles(ralph: RalphContext): Promise<readonly string[]> {
  const present = await presentPaths(ralph.root, PLAN_STATE_FILES);
  return PLAN_STATE_FILES.filter((path) => !present.includes(path));
}

/**
 * Reverts what an agent wrote into state files. The run's folder keeps the agent's text.
 *
 * @param missing files that did not exist before its turn
 */
export async function restoreState(
  ralph: RalphContext,
  folder: string,
  turn: string,
  missing: readonly string[],
): Promise<void> {
  const edits = await ralph.state.edited(PLAN_STATE_FILES.filter((path) => !missing.includes(path)));
  const read = await Promise.all(missing.map(async (path) => ({ path, found: await ralph.state.read(path) })));
  const made = read.filter(({ found }) => found !== null);
  for (const { path, found } of [...edits, ...made]) {
    if (found !== null) await writeAtomic(join(folder, `${turn}-${basename(path)}`), found);
  }
  await ralph.state.restore(edits);
  for (const { path } of made) await removePath(join(ralph.root, path));
  const paths = [...edits, ...made].map(({ path }) => path);
  if (paths.length > 0) ralph.events.emit({ type: "state-restored", paths });
}

/** Commits the workflow's folder without its runs, unless the state of this plan is committed already. */
export async function commitPlan(ralph: RalphContext): Promise<void> {
  if (!ralph.config.commits.prdChanges) return;
  const [statePath] = topLevelPaths(ralph, [exec.PLAN_STATE_FILE]);
  const tracked = await requireRepository(ralph).git(["status", "--porcelain", "--ignored", "--", statePath!]);
  if (tracked.stdout.trim() === "") return;
  const names = await listDirectory(join(ralph.root, exec.EXEC_FOLDER));
  const paths = names.map((name) => `${exec.EXEC_FOLDER}/${name}`).filter((path) => path !== exec.EXEC_RUNS);
  const result = await commitFiles(ralph, { paths, subject: "ralph: plan approved" });
  if (result.status === "nothing" && result.ignored.length > 0) {
    note(ralph, "info", `git ignores ${result.ignored.join(", ")}: the plan is not committed`);
  }
  if (result.status === "refused") note(ralph, "warn", `the plan could not be committed: ${result.output}`);
}
