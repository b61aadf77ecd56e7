import { join } from "node:path";
import { RalphError } from "../../errors/ralph_error.ts";
import type { StateFiles } from "../../backlog/state_files.ts";
import { pathExists, readText } from "../../host/files.ts";
import { canonical, compareNumbers, sameNumber } from "./numbers.ts";
import * as gsd from "./types.ts";
import { saidOf } from "./phase_standing.ts";
import * as phaseFiles from "./read_phase.ts";
import { parseRoadmap, type Roadmap } from "./roadmap_file.ts";
import { findSection, parseState } from "./state_file.ts";
import { parsePlanName } from "./file_names.ts";
import { list } from "./front_matter.ts";

/** Which folder is read. */
export interface PlanningSource {
  /** Absolute path. */
  readonly root: string;
  /** The results of earlier readings of the same texts: a caller that reads often keeps one. @default none */
  readonly memo?: phaseFiles.PlanMemo;
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
  throw new RalphError("state-invalid", {
    details: { path: gsd.PLANNING_DIRECTORY, problem },
    hint: "`ralph roadmap --workflow gsd` makes the roadmap; `ralph plan 1` then plans its first phase",
  });
}

/** The same, where nothing at all may have been planned yet. @throws {RalphError} state-missing */
export async function scanPlanning(
  { root, memo = phaseFiles.planMemo(), read = (path) => readText(join(root, path)) }: PlanningSource,
): Promise<gsd.Planning> {
  if (!await pathExists(join(root, gsd.PLANNING_DIRECTORY))) {
    const hint = "`ralph init --workflow gsd` begins a GSD project";
    throw new RalphError("state-missing", { details: { path: gsd.PLANNING_DIRECTORY }, hint });
  }
  const roadmapText = await read(gsd.ROADMAP_FILE);
  const roadmap = roadmapOf(roadmapText ?? "", memo);
  const diagnostics = [...memo.roadmap?.diagnostics ?? []];
  const stateText = await read(gsd.STATE_FILE);
  const state = stateText === null ? null : parseState(stateText);
  const folders = await phaseFiles.phaseFolders(root, diagnostics);
  const all = [...roadmap.phases, ...folders.toReversed()].map(({ number }) => [canonical(number), number] as const);
  const listed = new Map<string, Roadmap["plans"]>();
  for (const plan of roadmap.plans) {
    const key = canonical(plan.phase);
    listed.set(key, [...listed.get(key) ?? [], plan]);
  }
  const phases: gsd.Phase[] = [];
  for (const number of [...new Map(all).values()].toSorted(compareNumbers)) {
    if (Number.parseInt(number, 10) >= phaseFiles.SHELF) continue;
    const own = folders.filter((folder) => sameNumber(folder.number, number));
    const folder = own.length < 2 ? own[0] ?? null : await chosenFolder(root, own, saidOf(roadmap, number));
    for (const { directory } of own.filter((one) => one !== folder)) {
      const message = `a second folder for phase ${number}: left out, the phase is ${folder?.directory}`;
      phaseFiles.remark(diagnostics, directory, message);
    }
    const boxes = listed.get(canonical(number)) ?? [];
    phases.push(await phaseFiles.readPhase(root, { number, folder, roadmap, listed: boxes, state, memo, diagnostics }));
  }
  const note = stateNote(stateText, state);
  if (note !== null) phaseFiles.remark(diagnostics, gsd.STATE_FILE, note);
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
  folders: readonly phaseFiles.Folder[],
  { name, closed }: Pick<gsd.Phase, "closed" | "name">,
): Promise<phaseFiles.Folder | null> {
  const titled = folders.filter((folder) => slugOf(folder.name) === slugOf(name));
  if (titled.length === 1 || closed !== null) return titled[0] ?? folders[0] ?? null;
  const hasPlans = await Promise.all(folders.map(({ directory }) => phaseFiles.holdsPlans(root, directory)));
  const written = folders.filter((_, index) => hasPlans[index]);
  const [first, second] = written;
  if (first === undefined || second === undefined) return first ?? folders[0] ?? null;
  const problem = `two folders with plans for phase ${first.number}: ${first.directory} and ${second.directory}`;
  throw new RalphError("state-invalid", {
    details: { path: gsd.PHASES_DIRECTORY, problem },
    hint: "move the one that is not meant out of phases/, or name the right one like the phase in ROADMAP.md",
  });
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

/** ROADMAP.md, parsed once while its text stays the same. */
function roadmapOf(text: string, memo: phaseFiles.PlanMemo): Roadmap {
  if (memo.roadmap?.text === text) return memo.roadmap.parsed;
  const diagnostics: gsd.Diagnostic[] = [];
  const parsed = parseRoadmap(
    text,
    (line, message) => void diagnostics.push({ file: gsd.ROADMAP_FILE, line, message }),
  );
  memo.roadmap = { text, parsed, diagnostics };
  return parsed;
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
        phaseFiles.remark(diagnostics, plan.file, `depends_on names ${named}, which is no plan here`);
      }
      return other === undefined || other.id === plan.id ? [] : [other.id];
    });
  return phases.map((phase) => ({
    ...phase,
    plans: phase.plans.map((plan) => ({ ...plan, dependsOn: dependsOf(plan) })),
  }));
}
