import { join } from "node:path";
import { stateInvalid, stateMissing } from "../../errors/ralph_error.ts";
import type { StateFiles } from "../../backlog/state_files.ts";
import { listDirectory, pathExists, readLeftText, readText } from "../../host/files.ts";
import { canonical, compareNumbers, isNumber, sameNumber } from "./numbers.ts";
import * as gsd from "./types.ts";
import { type Diagnostic, type Phase, PHASES_DIRECTORY, type Plan, type StatePosition } from "./types.ts";
import { type PhaseFacts, phaseStanding, saidOf } from "./phase_standing.ts";
import { isTicked, parseRoadmap, type Roadmap } from "./roadmap_file.ts";
import { findSection, parseState } from "./state_file.ts";
import { isOwnSummary, parsePhaseName, parsePlanName, type PlanName, summaryNameOf } from "./file_names.ts";
import { list, scalar } from "./front_matter.ts";
import { stampOf } from "../../host/path_facts.ts";
import { parsePlan } from "./plan_file.ts";
import { summaryVerdict } from "./summary_file.ts";

/** Which folder is read. */
export interface PlanningSource {
  /** Absolute path. */
  readonly root: string;
  /** The results of earlier readings of the same texts: a caller that reads often keeps one. @default none */
  readonly memo?: PlanMemo;
  /** Reads STATE.md and ROADMAP.md, by a path relative to the root. @default as they are on the disk */
  readonly read?: StateFiles["read"];
}

/**
 * Reads all of `.planning/`: phases, plans, what is complete and where STATE.md says the project is. Places that it
 * does not understand are among the diagnostics, with file and line; it guesses nothing silently, and changes nothing.
 *
 * @throws {RalphError} state-missing when there is no `.planning/`, state-invalid when no phase is found in it
 * @example Ask a GSD project where it is
 * ```ts
 * import { readPlanning } from "ralph/gsd";
 * import { testContext } from "ralph/testing";
 *
 * await using ralph = await testContext({ files: { ".planning/phases/01-base/01-01-PLAN.md": "<task><name>a</name></task>\n" } });
 * const { phases } = await readPlanning(ralph);
 * console.log(phases.map(({ number, plans }) => [number, plans.length])); // [ [ "01", 1 ] ]
 * ```
 */
export async function readPlanning(source: PlanningSource): Promise<gsd.Planning> {
  const planning = await scanPlanning(source);
  if (planning.phases.length > 0) return planning;
  const problem = "no phase was found: neither a folder in phases/ nor one in ROADMAP.md";
  const hint = "`ralph roadmap --workflow gsd` makes the roadmap; `ralph plan 1` then plans its first phase";
  throw stateInvalid(gsd.PLANNING_DIRECTORY, problem, hint);
}

/** The same, where nothing at all may have been planned yet. @throws {RalphError} state-missing */
export async function scanPlanning(
  { root, memo = new Map(), read = (path) => readText(join(root, path)) }: PlanningSource,
): Promise<gsd.Planning> {
  if (!await pathExists(join(root, gsd.PLANNING_DIRECTORY))) {
    throw stateMissing(gsd.PLANNING_DIRECTORY, "`ralph init --workflow gsd` begins a GSD project");
  }
  const roadmapText = await read(gsd.ROADMAP_FILE);
  const diagnostics: Diagnostic[] = [];
  const roadmap = parseRoadmap(
    roadmapText ?? "",
    (line, message) => void diagnostics.push({ file: gsd.ROADMAP_FILE, line, message }),
  );
  const stateText = await read(gsd.STATE_FILE);
  const state = stateText === null ? null : parseState(stateText);
  const folders = await phaseFolders(root, diagnostics);
  const all = [...roadmap.phases, ...folders.toReversed()].map(({ number }) => [canonical(number), number] as const);
  const listed = new Map<string, Roadmap["plans"]>();
  for (const plan of roadmap.plans) {
    const key = canonical(plan.phase);
    listed.set(key, [...listed.get(key) ?? [], plan]);
  }
  const phases: gsd.Phase[] = [];
  for (const number of [...new Map(all).values()].toSorted(compareNumbers)) {
    if (Number.parseInt(number, 10) >= SHELF) continue;
    const own = folders.filter((folder) => sameNumber(folder.number, number));
    const folder = own.length < 2 ? own[0] ?? null : await chosenFolder(root, own, saidOf(roadmap, number));
    for (const { directory } of own.filter((one) => one !== folder)) {
      const message = `a second folder for phase ${number}: left out, the phase is ${folder?.directory}`;
      remark(diagnostics, directory, message);
    }
    const boxes = listed.get(canonical(number)) ?? [];
    phases.push(await readPhase(root, { number, folder, roadmap, listed: boxes, state, memo, diagnostics }));
  }
  const note = stateNote(stateText, state);
  if (note !== null) remark(diagnostics, gsd.STATE_FILE, note);
  const linked = withDependencies(phases, diagnostics);
  const sorted = diagnostics.toSorted((one, other) => one.file.localeCompare(other.file) || one.line - other.line);
  return { phases: linked, state, roadmap: roadmapText !== null, diagnostics: sorted };
}

/**
 * Picks one of several folders of a number: the one that is named like the phase in ROADMAP.md, else the one with
 * plans.
 *
 * @throws {RalphError} state-invalid where that does not tell them apart
 */
async function chosenFolder(
  root: string,
  folders: readonly Folder[],
  { name, closed }: Pick<gsd.Phase, "closed" | "name">,
): Promise<Folder | null> {
  const titled = folders.filter((folder) => slugOf(folder.name) === slugOf(name));
  if (titled.length === 1 || closed !== null) return titled[0] ?? folders[0] ?? null;
  const files = await Promise.all(folders.map(({ directory }) => phaseFiles(root, directory)));
  const written = files.map((names) => namedFiles(names, "PLAN").some(({ name: { side } }) => !side));
  const [first, second] = folders.filter((_, index) => written[index]);
  if (first === undefined || second === undefined) return first ?? folders[0] ?? null;
  const problem = `two folders with plans for phase ${first.number}: ${first.directory} and ${second.directory}`;
  const hint = "move the one that is not meant out of phases/, or name the right one like the phase in ROADMAP.md";
  throw stateInvalid(gsd.PHASES_DIRECTORY, problem, hint);
}

function slugOf(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "-").replaceAll(/^-|-$/g, "");
}

/** Why STATE.md does not say where the project is, or cannot be kept up to date. */
function stateNote(text: string | null, state: gsd.StatePosition | null): string | null {
  const order = "the order of the phases decides what comes next";
  if (text === null || state === null) return `there is no STATE.md: ${order}`;
  if (state.kind === "unknown") return `names no phase under \`## Current Position\`: ${order}`;
  if (findSection(text) !== null) return null;
  return "has no section `## Current Position`: it is read, and Ralph cannot keep it up to date";
}

/** Finds the plans that `depends_on` names: `01-01`, `01`, `01-01-PLAN.md`. */
function withDependencies(phases: readonly gsd.Phase[], diagnostics: gsd.Diagnostic[]): readonly gsd.Phase[] {
  const keyOf = (phase: string, number: string): string => `${canonical(phase)}-${canonical(number)}`;
  const byNumber = new Map(
    phases.flatMap(({ plans }) => plans).toReversed().map((plan) => [keyOf(plan.phase, plan.number), plan]),
  );
  const dependsOf = (plan: gsd.Plan): readonly string[] =>
    list(plan.frontMatter, "depends_on").flatMap((named) => {
      const name = parsePlanName(`${named.replace(/(-PLAN)?(\.md)?$/i, "")}-PLAN.md`, "PLAN");
      const number = name?.number ?? null;
      const other = number === null ? undefined : byNumber.get(keyOf(name?.phase ?? plan.phase, number));
      if (other === undefined && !/^(none|n\/a|nothing|phase\b.*)$/i.test(named)) {
        remark(diagnostics, plan.file, `depends_on names ${named}, which is no plan here`);
      }
      return other === undefined || other.id === plan.id ? [] : [other.id];
    });
  return phases.map((phase) => ({
    ...phase,
    plans: phase.plans.map((plan) => ({ ...plan, dependsOn: dependsOf(plan) })),
  }));
}

/** Phases from 999 on are GSD's shelf for ideas. */
const SHELF = 999;

/** A phase's folder. */
interface Folder {
  readonly number: string;
  readonly name: string;
  readonly directory: string;
}

/** Reports something about a file as a whole. */
function remark(diagnostics: Diagnostic[], file: string, message: string): void {
  diagnostics.push({ file, line: 0, message });
}

/** The folders of phases; others are reported. */
async function phaseFolders(root: string, diagnostics: Diagnostic[]): Promise<readonly Folder[]> {
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

/**
 * Phases as they were read, by their number: while nothing that they are read from changes, no file is opened. A caller
 * that reads often keeps one.
 */
export type PlanMemo = Map<
  string,
  { readonly key: string; readonly phase: Phase; readonly diagnostics: readonly Diagnostic[] }
>;

/** The facts on a phase before its folder is read. */
interface PhaseFolder {
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
async function readPhase(root: string, given: PhaseFolder): Promise<Phase> {
  const { number, folder, memo, diagnostics } = given;
  const files = folder === null ? [] : await phaseFiles(root, folder.directory);
  const key = keyOf(root, given, files);
  const known = memo.get(number);
  if (known !== undefined && known.key === key) {
    diagnostics.push(...known.diagnostics);
    return known.phase;
  }
  const own: Diagnostic[] = [];
  const phase = await readFiles(root, { ...given, diagnostics: own }, files);
  if (key !== null) memo.set(number, { key, phase, diagnostics: own });
  else memo.delete(number);
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

/** Reads a plan, and whether it is complete. */
async function readPlan(
  root: string,
  { number: phase, folder, listed: all, diagnostics }: PhaseFolder,
  { path, name, summaries, closed }: NamedFile & Pick<Phase, "closed"> & { readonly summaries: readonly NamedFile[] },
): Promise<Plan> {
  const directory = folder?.directory ?? "";
  const file = `${directory}/${path}`;
  const text = await readText(join(root, file)) ?? "";
  const { plan, diagnostics: found } = parsePlan(text, file);
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
