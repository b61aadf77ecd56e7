import { join } from "node:path";
import { listDirectory, pathExists, readLeftText, readText } from "../../host/files.ts";
import { stampOf } from "../../host/path_facts.ts";
import { isOwnSummary, parsePhaseName, parsePlanName, type PlanName, summaryNameOf } from "./file_names.ts";
import { compareNumbers, sameNumber } from "./numbers.ts";
import { PHASES_DIRECTORY } from "./paths.ts";
import { isTicked, type Roadmap } from "./roadmap_file.ts";
import type { Completion, Diagnostic, Phase, Plan, PlanDocument } from "./types.ts";
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

/** What earlier readings have made of the same files: a caller that reads often keeps one. */
export interface PlanMemo {
  /** Plans as they were parsed, by their path: the same text is not parsed twice. */
  readonly plans: Map<
    string,
    {
      readonly text: string;
      readonly parsed: { readonly plan: PlanDocument; readonly diagnostics: readonly Diagnostic[] };
    }
  >;
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

/** What is known of a phase before its folder is read. */
export interface PhaseFolder {
  readonly number: string;
  /** `null` where only ROADMAP.md knows it. */
  readonly folder: Folder | null;
  readonly roadmap: Roadmap;
  /** Its plans in ROADMAP.md. */
  readonly listed: Roadmap["plans"];
  readonly memo: PlanMemo;
  /** STATE.md's phase. */
  readonly present: string | null;
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
function keyOf(
  root: string,
  { number, folder, roadmap, listed, present }: PhaseFolder,
  files: readonly string[],
): string | null {
  const stamps: string[] = [];
  for (const file of files) {
    const stamp = /\.md$/i.test(file) ? stampOf(`${root}/${folder?.directory ?? ""}/${file}`) : "";
    if (stamp === null) return null;
    stamps.push(file, stamp);
  }
  const { name = "", mark = "" } = roadmap.phases.find((phase) => sameNumber(phase.number, number)) ?? {};
  const plans = listed.flatMap((plan) => [plan.phase, plan.number, plan.mark, plan.description]);
  const isDone = roadmap.done.some((phase) => sameNumber(phase, number));
  return JSON.stringify([folder, name, mark, plans, isDone, present, stamps]);
}

async function readFiles(
  root: string,
  { number, folder, roadmap, listed, present, memo, diagnostics }: PhaseFolder,
  files: readonly string[],
): Promise<Phase> {
  const known = roadmap.phases.find((phase) => sameNumber(phase.number, number));
  const ticked = isTicked(known?.mark ?? null);
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
  const summaries = files.flatMap((path) => {
    const name = parsePlanName(path.replace(/^plans\//, ""), "SUMMARY");
    return name === null ? [] : [{ path, name }];
  });
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
      summaries,
      path,
      name,
      listed,
      memo,
      diagnostics,
    });
    if (plans.some((other) => other.id === plan.id)) {
      diagnostics.push({ file: plan.file, line: 0, message: `a second plan ${plan.id}: left out` });
    } else plans.push(plan);
  }
  const { begun, done, unwritten } = elsewhere({ number, roadmap, listed, present, summaries, plans });
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
  { number, roadmap, listed, present, summaries, plans }:
    & Pick<PhaseFolder, "listed" | "number" | "present" | "roadmap">
    & { readonly summaries: readonly NamedFile[]; readonly plans: readonly Plan[] },
): { readonly begun: boolean; readonly done: boolean; readonly unwritten: readonly string[] } {
  const orphans = withoutPlan(summaries, plans);
  const others = listed.filter((plan) => !plans.some((other) => sameNumber(other.number, plan.number)));
  const unwritten = others.filter((plan) =>
    !isTicked(plan.mark) && plan.mark !== "-" && !orphans.some((orphan) => sameNumber(orphan, plan.number))
  );
  const begun = others.length > unwritten.length || orphans.length > 0;
  // SUMMARY files alone do not say how many plans the present phase has
  const isAll = others.length > 0 || present === null || !sameNumber(present, number);
  return {
    begun,
    done: roadmap.done.some((phase) => sameNumber(phase, number)) || (begun && unwritten.length === 0 && isAll),
    unwritten: [...new Set(unwritten.map((plan) => `${plan.phase}-${plan.number}`))],
  };
}

/** Numbers of the plans whose SUMMARY is in the folder without their PLAN. */
function withoutPlan(summaries: readonly NamedFile[], plans: readonly Plan[]): readonly string[] {
  return summaries.flatMap(({ name: { number, phase, side } }) =>
    number === null || phase === null || side || plans.some((plan) => sameNumber(plan.number, number)) ? [] : [number]
  );
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

/** One plan's file, and what is known around it. */
interface PlanFile {
  /** Of the phase, as its folder writes it. */
  readonly number: string;
  readonly directory: string;
  readonly ticked: boolean;
  /** Of the whole phase. */
  readonly summaries: readonly NamedFile[];
  readonly path: string;
  readonly name: PlanName;
  /** The phase's plans in ROADMAP.md. */
  readonly listed: Roadmap["plans"];
  readonly memo: PlanMemo;
  readonly diagnostics: Diagnostic[];
}

/** Reads a plan, and whether it is complete. */
async function readPlan(
  root: string,
  { number: phase, directory, ticked, summaries, path, name, listed: all, memo, diagnostics }: PlanFile,
): Promise<Plan> {
  const file = `${directory}/${path}`;
  const text = await readText(join(root, file)) ?? "";
  const known = memo.plans.get(file);
  const parsed = known?.text === text ? known.parsed : parsePlan(text, file);
  memo.plans.set(file, { text, parsed });
  const { plan, diagnostics: found } = parsed;
  diagnostics.push(...found);
  if (name.phase !== null && !sameNumber(name.phase, phase)) {
    diagnostics.push({
      file,
      line: 0,
      message: `its name says phase ${name.phase}, its folder ${phase}: the folder counts`,
    });
  }
  const number = name.number ?? "01";
  const listed = all.find((one) => sameNumber(one.number, number));
  const own = summaries.filter((summary) => isOwnSummary(summary.name, name)).map((summary) => summary.path);
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
    const verdict = summaryVerdict(await readLeftText(join(root, file)) ?? "");
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
