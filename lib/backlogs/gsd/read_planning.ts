import { join } from "node:path";
import { RalphError } from "../../errors/ralph_error.ts";
import { listDirectory, pathExists, readText } from "../../host/files.ts";
import type { Report } from "./commands.ts";
import { scalar } from "./front_matter.ts";
import { isOwnSummary, parsePhaseName, parsePlanName, type PlanName, summaryNameOf } from "./file_names.ts";
import { canonical, compareNumbers, sameNumber } from "./numbers.ts";
import { PHASES_DIRECTORY, PLANNING_DIRECTORY, ROADMAP_FILE, STATE_FILE } from "./paths.ts";
import { parsePlan, planList } from "./plan_file.ts";
import { isTicked, parseRoadmap, type Roadmap } from "./roadmap_file.ts";
import { parseState } from "./state_file.ts";
import { summaryVerdict } from "./summary_file.ts";
import type { Completion, Diagnostic, Phase, Plan, Planning } from "./types.ts";

const NO_ROADMAP: Roadmap = { phases: [], plans: [], rows: [], counts: [] };

/** Phases from 999 on are GSD's shelf for ideas. */
const SHELF = 999;

/**
 * Reads all of `.planning/`: phases, plans, what is complete and where STATE.md says the project stands. What could not
 * be made sense of is among the diagnostics, with file and line; nothing is guessed silently, and nothing is changed.
 *
 * @throws {RalphError} state-missing when there is no `.planning/`, state-invalid when no phase is found in it
 * @example Ask a GSD project where it stands
 * ```ts
 * import { readPlanning } from "ralph";
 * import { testContext } from "ralph/testing";
 *
 * await using ralph = await testContext({ files: { ".planning/phases/01-base/01-01-PLAN.md": "<task><name>a</name></task>\n" } });
 * const { phases } = await readPlanning(ralph);
 * console.log(phases.map(({ number, plans }) => [number, plans.length])); // [ [ "01", 1 ] ]
 * ```
 */
export async function readPlanning({ root }: { readonly root: string }): Promise<Planning> {
  const planning = await scanPlanning({ root });
  if (planning.phases.length > 0) return planning;
  throw new RalphError("state-invalid", {
    details: {
      path: PLANNING_DIRECTORY,
      problem: "no phase was found: neither a folder in phases/ nor one in ROADMAP.md",
    },
    hint: "`ralph roadmap --workflow gsd` makes the roadmap; `ralph plan 1` then plans its first phase",
  });
}

/** The same, where nothing at all may have been planned yet. @throws {RalphError} state-missing */
export async function scanPlanning({ root }: { readonly root: string }): Promise<Planning> {
  if (!await pathExists(join(root, PLANNING_DIRECTORY))) {
    throw new RalphError("state-missing", {
      details: { path: PLANNING_DIRECTORY },
      hint: "`ralph init --workflow gsd` begins a GSD project",
    });
  }
  const diagnostics: Diagnostic[] = [];
  const roadmapText = await readText(join(root, ROADMAP_FILE));
  const roadmap = roadmapText === null ? NO_ROADMAP : parseRoadmap(roadmapText, reportTo(diagnostics, ROADMAP_FILE));
  const stateText = await readText(join(root, STATE_FILE));
  const folders = await phaseFolders(root, diagnostics);
  const numbers = new Map<string, string>();
  for (const { number } of [...folders, ...roadmap.phases]) {
    if (!numbers.has(canonical(number))) numbers.set(canonical(number), number);
  }

  const phases: Phase[] = [];
  for (const number of [...numbers.values()].toSorted(compareNumbers)) {
    if (Number.parseInt(number, 10) >= SHELF) continue;
    const own = folders.filter((folder) => sameNumber(folder.number, number));
    for (const { directory } of own.slice(1)) {
      diagnostics.push({ file: directory, line: 0, message: `a second folder for phase ${number}: left out` });
    }
    phases.push(await readPhase(root, number, own[0] ?? null, roadmap, diagnostics));
  }
  if (stateText === null) {
    diagnostics.push({
      file: STATE_FILE,
      line: 0,
      message: "there is no STATE.md: the order of the phases decides what comes next",
    });
  }
  const state = stateText === null ? null : parseState(stateText);
  if (state?.kind === "unknown") {
    diagnostics.push({
      file: STATE_FILE,
      line: 0,
      message: "names no phase under `## Current Position`: the order of the phases decides what comes next",
    });
  }
  const linked = withDependencies(phases, diagnostics);
  const sorted = diagnostics.toSorted((one, other) => one.file.localeCompare(other.file) || one.line - other.line);
  return { phases: linked, state, roadmap: roadmapText !== null, diagnostics: sorted };
}

interface Folder {
  readonly number: string;
  readonly name: string;
  readonly directory: string;
}

function reportTo(diagnostics: Diagnostic[], file: string): Report {
  return (line, message) => void diagnostics.push({ file, line, message });
}

async function phaseFolders(root: string, diagnostics: Diagnostic[]): Promise<readonly Folder[]> {
  const folders: Folder[] = [];
  for (const entry of await listDirectory(join(root, PHASES_DIRECTORY))) {
    const directory = `${PHASES_DIRECTORY}/${entry}`;
    if (!await pathExists(`${join(root, directory)}/.`)) continue;
    const name = parsePhaseName(entry);
    if (name === null) diagnostics.push({ file: directory, line: 0, message: "no phase by its name: left out" });
    else if (Number.parseInt(name.number, 10) >= SHELF) {
      diagnostics.push({ file: directory, line: 0, message: "on GSD's shelf for later: left out" });
    } else folders.push({ ...name, directory });
  }
  return folders;
}

async function readPhase(
  root: string,
  number: string,
  folder: Folder | null,
  roadmap: Roadmap,
  diagnostics: Diagnostic[],
): Promise<Phase> {
  const known = roadmap.phases.find((phase) => sameNumber(phase.number, number));
  const ticked = isTicked(known?.mark ?? null);
  const files = folder === null ? [] : await phaseFiles(root, folder.directory);
  const named = files.flatMap((path) => {
    const name = parsePlanName(path.replace(/^plans\//, ""), "PLAN");
    return name === null || name.side ? [] : [{ path, name }];
  });
  for (const path of files) {
    if (/PLAN/.test(path) && /\.md$/i.test(path) && !/SUMMARY/i.test(path) && !named.some((one) => one.path === path)) {
      diagnostics.push({
        file: `${folder?.directory}/${path}`,
        line: 0,
        message: "no plan by its name (01-01-PLAN.md): left out",
      });
    }
  }
  const plans: Plan[] = [];
  for (
    const { path, name } of named.toSorted((one, other) =>
      compareNumbers(one.name.number ?? "1", other.name.number ?? "1")
    )
  ) {
    const plan = await readPlan(root, {
      number,
      directory: folder?.directory ?? "",
      ticked,
      files,
      path,
      name,
      roadmap,
      diagnostics,
    });
    if (plans.some((other) => other.id === plan.id)) {
      diagnostics.push({ file: plan.file, line: 0, message: `a second plan ${plan.id}: left out` });
    } else plans.push(plan);
  }
  const listed = roadmap.plans.filter((plan) => sameNumber(plan.phase, number));
  const unwritten = listed.filter((plan) =>
    !plans.some((other) => sameNumber(other.number, plan.number)) && !isTicked(plan.mark) && plan.mark !== "-"
  );
  return {
    number,
    name: known?.name || (folder?.name ?? "").replaceAll("-", " "),
    directory: folder?.directory ?? null,
    ticked,
    plans,
    unwritten: [...new Set(unwritten.map((plan) => `${plan.phase}-${plan.number}`))],
    researched: files.some((path) => /(^|-)(DISCOVERY|RESEARCH)\.md$/i.test(path)),
  };
}

async function phaseFiles(root: string, directory: string): Promise<readonly string[]> {
  const files = await listDirectory(join(root, directory));
  const nested = await listDirectory(join(root, directory, "plans"));
  return [...files, ...nested.map((name) => `plans/${name}`)];
}

interface PlanFile {
  readonly number: string;
  readonly directory: string;
  readonly ticked: boolean;
  readonly files: readonly string[];
  readonly path: string;
  readonly name: PlanName;
  readonly roadmap: Roadmap;
  readonly diagnostics: Diagnostic[];
}

async function readPlan(
  root: string,
  { number: phase, directory, ticked, files, path, name, roadmap, diagnostics }: PlanFile,
): Promise<Plan> {
  const file = `${directory}/${path}`;
  const { plan, diagnostics: found } = parsePlan(await readText(join(root, file)) ?? "", file);
  diagnostics.push(...found);
  if (name.phase !== null && !sameNumber(name.phase, phase)) {
    diagnostics.push({
      file,
      line: 0,
      message: `its name says phase ${name.phase}, its folder ${phase}: the folder counts`,
    });
  }
  const number = name.number ?? "01";
  const listed = roadmap.plans.find((one) => sameNumber(one.phase, phase) && sameNumber(one.number, number));
  const own = files.filter((other) => {
    const summary = parsePlanName(other.replace(/^plans\//, ""), "SUMMARY");
    return summary !== null && isOwnSummary(summary, name);
  });
  const summarized = await hasSummary(root, directory, own, diagnostics);
  const done = (by: Extract<Completion, { done: true }>["by"]): Completion => ({ done: true, by });
  const completion: Completion = summarized
    ? done("summary")
    : isTicked(listed?.mark ?? null)
    ? done("roadmap")
    : listed?.mark === "-"
    ? done("skipped")
    : /^superseded\b/i.test(scalar(plan.frontMatter, "status") ?? "")
    ? done("superseded")
    : ticked
    ? done("phase")
    : { done: false };
  const description = listed?.description ?? "";
  return {
    ...plan,
    title: description === "" ? plan.title : description,
    id: `${name.phase ?? phase}-${number}`,
    number,
    phase,
    file,
    summaryFile: `${directory}/${own[0] ?? summaryNameOf(path)}`,
    summarized,
    completion,
    dependsOn: [],
  };
}

async function hasSummary(
  root: string,
  directory: string,
  own: readonly string[],
  diagnostics: Diagnostic[],
): Promise<boolean> {
  let found = false;
  for (const name of own) {
    const file = `${directory}/${name}`;
    const verdict = summaryVerdict(await readText(join(root, file)) ?? "");
    if (verdict === "complete") found = true;
    else {diagnostics.push({
        file,
        line: 0,
        message: verdict === "empty"
          ? "is empty: it completes nothing"
          : "says itself that its plan was not carried out: it completes nothing",
      });}
  }
  return found;
}

/** Finds the plans that `depends_on` names: `01-01`, `01`, `01-01-PLAN.md`. */
function withDependencies(phases: readonly Phase[], diagnostics: Diagnostic[]): readonly Phase[] {
  const all = phases.flatMap(({ plans }) => plans);
  return phases.map((phase) => ({
    ...phase,
    plans: phase.plans.map((plan) => ({
      ...plan,
      dependsOn: planList(plan, "depends_on").flatMap((named) => {
        const name = parsePlanName(`${named.replace(/(-PLAN)?(\.md)?$/i, "")}-PLAN.md`, "PLAN");
        const other = name?.number === null || name === null
          ? undefined
          : all.find((one) =>
            sameNumber(one.phase, name.phase ?? plan.phase) && sameNumber(one.number, name.number ?? "")
          );
        if (other === undefined && !/^(none|n\/a|nothing|phase\b.*)$/i.test(named)) {
          diagnostics.push({ file: plan.file, line: 0, message: `depends_on names ${named}, which is no plan here` });
        }
        return other === undefined || other.id === plan.id ? [] : [other.id];
      }),
    })),
  }));
}
