import { join } from "node:path";
import { listDirectory, pathExists, readText } from "../../host/files.ts";
import { isOwnSummary, parsePhaseName, parsePlanName, type PlanName, summaryNameOf } from "./file_names.ts";
import { compareNumbers, sameNumber } from "./numbers.ts";
import { PHASES_DIRECTORY } from "./paths.ts";
import { isTicked, type Roadmap } from "./roadmap_file.ts";
import type { Completion, Diagnostic, Phase, Plan } from "./types.ts";
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

/** The folders of phases; others are reported. */
export async function phaseFolders(root: string, diagnostics: Diagnostic[]): Promise<readonly Folder[]> {
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

/** What is known of a phase before its folder is read. */
export interface PhaseFolder {
  readonly number: string;
  /** `null` where only ROADMAP.md knows it. */
  readonly folder: Folder | null;
  readonly roadmap: Roadmap;
  /** STATE.md's phase. */
  readonly present: string | null;
  readonly diagnostics: Diagnostic[];
}

/** Reads a phase with its plans. */
export async function readPhase(
  root: string,
  { number, folder, roadmap, present, diagnostics }: PhaseFolder,
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
  const { begun, done, unwritten } = elsewhere({ number, roadmap, present, files, plans });
  return {
    number,
    name: known?.name || (folder?.name ?? "").replaceAll("-", " "),
    directory: folder?.directory ?? null,
    ticked,
    begun: plans.length > 0 || begun,
    finished: ticked || (plans.length === 0 && done),
    plans,
    unwritten,
    researched: files.some((path) => /(^|-)(DISCOVERY|RESEARCH)\.md$/i.test(path)),
  };
}

/** What ROADMAP.md and SUMMARY files say of plans that have no PLAN file. */
function elsewhere(
  { number, roadmap, present, files, plans }: Pick<PhaseFolder, "number" | "present" | "roadmap"> & {
    readonly files: readonly string[];
    readonly plans: readonly Plan[];
  },
): { readonly begun: boolean; readonly done: boolean; readonly unwritten: readonly string[] } {
  const summaries = withoutPlan(files, plans);
  const listed = roadmap.plans.filter((plan) =>
    sameNumber(plan.phase, number) && !plans.some((other) => sameNumber(other.number, plan.number))
  );
  const unwritten = listed.filter((plan) =>
    !isTicked(plan.mark) && plan.mark !== "-" && !summaries.some((summary) => sameNumber(summary, plan.number))
  );
  const begun = listed.length > unwritten.length || summaries.length > 0;
  // SUMMARY files alone do not say how many plans the present phase has
  const isAll = listed.length > 0 || present === null || !sameNumber(present, number);
  return {
    begun,
    done: roadmap.done.some((phase) => sameNumber(phase, number)) || (begun && unwritten.length === 0 && isAll),
    unwritten: [...new Set(unwritten.map((plan) => `${plan.phase}-${plan.number}`))],
  };
}

/** Numbers of the plans whose SUMMARY is in the folder without their PLAN. */
function withoutPlan(files: readonly string[], plans: readonly Plan[]): readonly string[] {
  return files.flatMap((path) => {
    const name = parsePlanName(path.replace(/^plans\//, ""), "SUMMARY");
    if (name === null || name.number === null || name.phase === null || name.side) return [];
    const { number } = name;
    return plans.some((plan) => sameNumber(plan.number, number)) ? [] : [number];
  });
}

async function phaseFiles(root: string, directory: string): Promise<readonly string[]> {
  const files = await listDirectory(join(root, directory));
  const nested = await listDirectory(join(root, directory, "plans"));
  return [...files, ...nested.map((name) => `plans/${name}`)];
}

/** One plan's file, and what is known around it. */
interface PlanFile {
  /** Of the phase, as its folder writes it. */
  readonly number: string;
  readonly directory: string;
  readonly ticked: boolean;
  readonly files: readonly string[];
  readonly path: string;
  readonly name: PlanName;
  readonly roadmap: Roadmap;
  readonly diagnostics: Diagnostic[];
}

/** Reads a plan, and whether it is complete. */
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
