import { note, type RalphContext } from "../../../context/context.ts";
import { z } from "zod";
import { parseJson } from "../../../errors/json_syntax.ts";
import * as exec from "../types.ts";
import { EXEC_FOLDER, EXEC_RUNS, PLAN_STATE_FILE, PLAN_TRANSCRIPT_FILE, type Prd, validatePrd } from "../types.ts";
import { RalphError } from "../../../errors/ralph_error.ts";
import { isoNow } from "../../../host/local_date.ts";
import { requireRepository, topLevelPaths } from "../../../git/repository.ts";
import { commitFiles } from "../../commit_files.ts";
import { listDirectory, pathExists, presentPaths, removePath, writeAtomic } from "../../../host/files.ts";
import { basename, join } from "node:path";

/** How far planning has come. */
export type PlanStage = "preflight" | "collect_context" | "draft_prd" | "review_prd" | "done";

/** One question that was answered. */
export interface PlanAnswer {
  readonly id: string;
  readonly question: string;
  readonly answer: string;
  /** ISO time. */
  readonly askedAt: string;
}

/** Something that the planner's agent could not find out. */
export interface Uncertainty {
  /** In a word or two. */
  readonly topic: string;
  /** Why it is not known. */
  readonly reason: string;
  /** Evidence that would settle it. */
  readonly evidenceMissing: string;
}

/** The agent's opinion on exploring the code first. */
export interface Recommendation {
  /** True: the code should be explored first. */
  readonly shouldRun: boolean;
  /** Why, for a person. */
  readonly reasons: readonly string[];
}

/** One entry for the transcript, named so that it is never written twice. */
export interface TranscriptEntry {
  readonly id: string;
  readonly text: string;
}

/** The working tree before a turn: HEAD, and a hash of each file that differed from it (`null`: gone). */
export interface TreeBefore {
  readonly head: string | null;
  readonly contents: Readonly<Record<string, string | null>>;
}

/** `plan_state.json`: all that planning needs to continue after any interruption. */
export interface PlanState {
  readonly schemaVersion: 1;
  /** Absolute path of the root. */
  readonly root: string;
  readonly goal: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly state: PlanStage;
  readonly qa: readonly PlanAnswer[];
  /** Asked by the agent and not answered yet. */
  readonly pendingQuestions: readonly string[];
  readonly uncertainties: readonly Uncertainty[];
  readonly recommendUnderstand: Recommendation;
  /** The last valid draft. */
  readonly lastPrdDraft: Prd | null;
  readonly approvedPrdAt: string | null;
  /** A person said no to the draft and has not said yet what to change. */
  readonly changing: boolean;
  /** Answers in a row that were refused. */
  readonly attempts: number;
  /** Rounds of questions since the start, or since a person last asked for changes. */
  readonly rounds: number;
  /** Agent turns taken. */
  readonly turns: number;
  /** The choice for the stories that were in `prd.json`; `null` before the question. */
  readonly existing: "update" | "overwrite" | null;
  /** Ids of stories of earlier goals: another story never gets one of them. */
  readonly taken: readonly string[];
  /** There was no codebase map when planning began: the one that is there now is the empty template. */
  readonly mapWasMissing: boolean;
  /** Why the agent's last answer was refused, and its end. */
  readonly refused: { readonly errors: readonly string[]; readonly reply: string } | null;
  /** A turn was begun and not ended; the `missing` state files did not exist before it. */
  readonly openTurn: { readonly missing: readonly string[]; readonly before: TreeBefore | null } | null;
  /** Names this planning's entries in the transcript. */
  readonly session: string;
  readonly entries: number;
  /** Entries that may not have reached the transcript yet. */
  readonly outbox: readonly TranscriptEntry[];
}

const text = z.string();
const strings = z.array(text);
const count = z.number().int().nonnegative().default(0);

const BEFORE = z.object({ head: text.nullable(), contents: z.record(text, text.nullable()) });

/** Fields that other programs leave out have a default; fields that Ralph does not know are kept. */
const SCHEMA: z.ZodType<PlanState> = z.looseObject({
  schemaVersion: z.literal(1),
  root: text,
  goal: text,
  createdAt: text,
  updatedAt: text,
  state: z.enum(["preflight", "collect_context", "draft_prd", "review_prd", "done"]).default("collect_context"),
  qa: z.array(z.looseObject({ id: text, question: text, answer: text, askedAt: text })).default([]),
  pendingQuestions: strings.default([]),
  uncertainties: z.array(z.looseObject({ topic: text, reason: text, evidenceMissing: text })).default([]),
  recommendUnderstand: z.looseObject({ shouldRun: z.boolean(), reasons: strings }).nullish()
    .transform((value) => value ?? { shouldRun: false, reasons: [] }),
  lastPrdDraft: z.custom<Prd>((value) => validatePrd(value).length === 0, "must be a valid PRD or null").nullish()
    .transform((value) => value ?? null),
  approvedPrdAt: text.nullable().default(null),
  changing: z.boolean().default(false),
  attempts: count,
  rounds: count,
  turns: count,
  existing: z.enum(["update", "overwrite"]).nullable().default(null),
  taken: strings.default([]),
  mapWasMissing: z.boolean().default(false),
  refused: z.looseObject({ errors: strings, reply: text }).nullable().default(null),
  openTurn: z.looseObject({ missing: strings, before: BEFORE.nullable().default(null) }).nullable().default(null),
  session: text.default("plan"),
  entries: count,
  outbox: z.array(z.object({ id: text, text })).default([]),
});

/**
 * Reads `plan_state.json`.
 *
 * @throws {RalphError} state-invalid with the field and what was expected
 */
export function parsePlanState(content: string): PlanState {
  const result = SCHEMA.safeParse(parseJson(content, PLAN_STATE_FILE));
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ path, message }) => `${path.join(".") || "the file"}: ${message}`);
  throw new RalphError("state-invalid", { details: { path: PLAN_STATE_FILE, problem: problems.join("; ") } });
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
  return SCHEMA.parse({ ...start, schemaVersion: 1, createdAt: now, updatedAt: now, state: "preflight" });
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
function withEntries(transcript: string | null, entries: readonly TranscriptEntry[]): string {
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
  if (result.status === "refused") {
    note(ralph, "warn", `the plan could not be committed: ${result.output}`);
  }
}
