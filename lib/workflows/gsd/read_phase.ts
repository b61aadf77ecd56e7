import { join } from "node:path";
import { listDirectory, pathExists, readLeftText, readText } from "../../host/files.ts";
import { stampOf } from "../../host/path_facts.ts";
import { isOwnSummary, parsePhaseName, parsePlanName, type PlanName, summaryNameOf } from "./file_names.ts";
import { compareNumbers, isNumber, sameNumber } from "./numbers.ts";
import { type Diagnostic, type Phase, PHASES_DIRECTORY, type Plan, type StatePosition } from "./types.ts";
import { type PhaseFacts, phaseStanding, saidOf } from "./phase_standing.ts";
import { isTicked, type Roadmap } from "./roadmap_file.ts";
import { scalar } from "./front_matter.ts";
import { parsePlan } from "./plan_file.ts";
import { summaryVerdict } from "./summary_file.ts";

/** Phases from 999 on are GSD's shelf for ideas. */
export const SHELF = 999;

/** A phase's folder. */
export interface Folder {
  readonly number: string;
  readonly name: string;
  readonly directory: string;
}

/** Reports something about a file as a whole. */
export function remark(diagnostics: Diagnostic[], file: string, message: string): void {
  diagnostics.push({ file, line: 0, message });
}

/** The folders of phases; others are reported. */
export async function phaseFolders(root: string, diagnostics: Diagnostic[]): Promise<readonly Folder[]> {
  const folders: Folder[] = [];
  for (const entry of await listDirectory(join(root, PHASES_DIRECTORY))) {
    const directory = `${PHASES_DIRECTORY}/${entry}`;
    if (!await pathExists(`${join(root, directory)}/.`)) continue;
    const name = parsePhaseName(entry);
    if (name === null) remark(diagnostics, directory, "no phase by its name: left out");
    else if (Number.parseInt(name.number, 10) >= SHELF) {
      remark(diagnostics, directory, "on GSD's shelf for later: left out");
    } else folders.push({ ...name, directory });
  }
  return folders;
}

/** The results of earlier readings of the same files: a caller that reads often keeps one. */
export interface PlanMemo {
  /** Plans as they were parsed, by their path: the same text is not parsed twice. */
  readonly plans: Map<string, { readonly text: string; readonly parsed: ReturnType<typeof parsePlan> }>;
  /** Phases as they were read, by their number: while nothing that they are read from changes, no file is opened. */
  readonly phases: Map<
    string,
    { readonly key: string; readonly phase: Phase; readonly diagnostics: readonly Diagnostic[] }
  >;
  /** ROADMAP.md as it was parsed. */
  roadmap: { readonly text: string; readonly parsed: Roadmap; readonly diagnostics: readonly Diagnostic[] } | null;
}

/** A memo that knows nothing. */
export function planMemo(): PlanMemo {
  return { plans: new Map(), phases: new Map(), roadmap: null };
}

/** The facts on a phase before its folder is read. */
export interface PhaseFolder {
  readonly number: string;
  /** `null` where only ROADMAP.md knows it. */
  readonly folder: Folder | null;
  readonly roadmap: Roadmap;
  /** Its plans in ROADMAP.md. */
  readonly listed: Roadmap["plans"];
  readonly memo: PlanMemo;
  readonly state: StatePosition | null;
  readonly diagnostics: Diagnostic[];
}

/** Reads a phase with its plans, or says again what it read where all is as it was. */
export async function readPhase(root: string, given: PhaseFolder): Promise<Phase> {
  const { number, folder, memo, diagnostics } = given;
  const files = folder === null ? [] : await phaseFiles(root, folder.directory);
  const key = keyOf(root, given, files);
  const known = memo.phases.get(number);
  if (known !== undefined && known.key === key) {
    diagnostics.push(...known.diagnostics);
    return known.phase;
  }
  const own: Diagnostic[] = [];
  const phase = await readFiles(root, { ...given, diagnostics: own }, files);
  if (key !== null) memo.phases.set(number, { key, phase, diagnostics: own });
  else memo.phases.delete(number);
  diagnostics.push(...own);
  return phase;
}

/**
 * All that a phase is read from: what is said of it elsewhere, the names in its folder, and the stamps of its files.
 * `null` where a file is so young that its stamp may be that of two contents.
 */
function keyOf(root: string, given: PhaseFolder, files: readonly string[]): string | null {
  const { number, folder, roadmap, listed } = given;
  const stamps: string[] = [];
  for (const file of files) {
    const stamp = /\.md$/i.test(file) ? stampOf(`${root}/${folder?.directory ?? ""}/${file}`) : "";
    if (stamp === null) return null;
    stamps.push(file, stamp);
  }
  const plans = listed.flatMap((plan) => [plan.phase, plan.number, plan.mark, plan.description]);
  return JSON.stringify([folder, saidOf(roadmap, number), plans, inStateOf(given), stamps]);
}

/** STATE.md is at this phase, and gives it so many plans. */
function inStateOf({ state, number }: PhaseFolder): Pick<PhaseFacts, "inState" | "present"> {
  const present = typeof state?.phase === "string" && sameNumber(state.phase, number);
  return { present, inState: present ? state.plans : null };
}

async function readFiles(root: string, given: PhaseFolder, files: readonly string[]): Promise<Phase> {
  const { number, folder, roadmap, listed, diagnostics } = given;
  const { name: title, ...said } = saidOf(roadmap, number);
  const named = namedFiles(files, "PLAN").filter(({ name }) => !name.side);
  for (const path of files.filter((one) => /PLAN/.test(one) && /\.md$/i.test(one) && !/SUMMARY/i.test(one))) {
    if (named.some((one) => one.path === path)) continue;
    remark(diagnostics, `${folder?.directory ?? ""}/${path}`, "no plan by its name (01-01-PLAN.md): left out");
  }
  const summaries = namedFiles(files, "SUMMARY");
  const plans: Plan[] = [];
  for (const file of named.toSorted((one, other) => compareNumbers(one.name.number ?? "1", other.name.number ?? "1"))) {
    const plan = await readPlan(root, given, { ...file, summaries, closed: said.closed });
    if (!plans.some((other) => other.id === plan.id)) plans.push(plan);
    else remark(diagnostics, plan.file, `a second plan ${plan.id}: left out`);
  }
  const orphans = summaries.filter(({ name }) => name.phase !== null && !name.side)
    .map(({ name }) => name.number ?? "")
    .filter((orphan) => isNumber(orphan) && !plans.some((plan) => sameNumber(plan.number, orphan)));
  return {
    ...phaseStanding({ ...said, ...inStateOf(given), number, plans, orphans, listed }),
    name: title || (folder?.name ?? "").replaceAll("-", " "),
    directory: folder?.directory ?? null,
    plans,
    researched: files.some((path) => /(^|-)(DISCOVERY|RESEARCH)\.md$/i.test(path)),
  };
}

/** True where a folder has a PLAN file. */
export async function holdsPlans(root: string, directory: string): Promise<boolean> {
  return namedFiles(await phaseFiles(root, directory), "PLAN").some(({ name }) => !name.side);
}

async function phaseFiles(root: string, directory: string): Promise<readonly string[]> {
  const files = await listDirectory(join(root, directory));
  const nested = await listDirectory(join(root, directory, "plans"));
  return [...files, ...nested.map((name) => `plans/${name}`)];
}

/** A file whose name says which plan it belongs to. */
interface NamedFile {
  /** Below the phase's folder. */
  readonly path: string;
  readonly name: PlanName;
}

/** The files of a phase's folder that are plans, or summaries, by their names. */
function namedFiles(files: readonly string[], word: "PLAN" | "SUMMARY"): readonly NamedFile[] {
  return files.flatMap((path) => {
    const name = parsePlanName(path.replace(/^plans\//, ""), word);
    return name === null ? [] : [{ path, name }];
  });
}

/** One plan's file, and what is known of the whole phase. */
interface PlanFile extends NamedFile, Pick<Phase, "closed"> {
  readonly summaries: readonly NamedFile[];
}

/** Reads a plan, and whether it is complete. */
async function readPlan(
  root: string,
  { number: phase, folder, listed: all, memo, diagnostics }: PhaseFolder,
  { path, name, summaries, closed }: PlanFile,
): Promise<Plan> {
  const directory = folder?.directory ?? "";
  const file = `${directory}/${path}`;
  const text = await readText(join(root, file)) ?? "";
  const known = memo.plans.get(file);
  const parsed = known?.text === text ? known.parsed : parsePlan(text, file);
  memo.plans.set(file, { text, parsed });
  const { plan, diagnostics: found } = parsed;
  diagnostics.push(...found);
  if (name.phase !== null && !sameNumber(name.phase, phase)) {
    remark(diagnostics, file, `its name says phase ${name.phase}, its folder ${phase}: the folder counts`);
  }
  const number = name.number ?? "01";
  const { mark = null, description = "" } = all.find((one) => sameNumber(one.number, number)) ?? {};
  const own = summaries.filter((summary) => isOwnSummary(summary.name, name)).map((one) => `${directory}/${one.path}`);
  let summarized = false;
  for (const summary of own) {
    const verdict = summaryVerdict(await readLeftText(join(root, summary)) ?? "");
    const why = verdict === "empty" ? "is empty" : "says itself that its plan was not carried out";
    if (verdict === "complete") summarized = true;
    else remark(diagnostics, summary, `${why}: it completes nothing`);
  }
  const evidence = [
    { by: "summary", is: summarized },
    { by: "roadmap", is: isTicked(mark) },
    { by: "skipped", is: mark === "-" },
    { by: "superseded", is: /^superseded\b/i.test(scalar(plan.frontMatter, "status") ?? "") },
  ] as const;
  const by = evidence.find(({ is }) => is)?.by ?? (closed === "ticked" ? "phase" : closed);
  return {
    ...plan,
    title: description === "" ? plan.title : description,
    id: `${name.phase ?? phase}-${number}`,
    number,
    phase,
    file,
    summaryFile: own[0] ?? `${directory}/${summaryNameOf(path)}`,
    summarized,
    completion: by === null ? { done: false } : { done: true, by },
    dependsOn: [],
  };
}
