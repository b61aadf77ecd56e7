import { join } from "node:path";
import { listDirectory, pathExists } from "../../host/files.ts";
import { parsePhaseName, parsePlanName } from "./file_names.ts";
import { compareNumbers, sameNumber } from "./numbers.ts";
import { PHASES_DIRECTORY } from "./paths.ts";
import { readPlan } from "./read_plan.ts";
import { isTicked, type Roadmap } from "./roadmap_file.ts";
import type { Diagnostic, Phase, Plan } from "./types.ts";

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

/** Reads a phase with its plans. */
export async function readPhase(
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
