import { join } from "node:path";
import { readText } from "../../host/files.ts";
import { isOwnSummary, parsePlanName, type PlanName, summaryNameOf } from "./file_names.ts";
import { scalar } from "./front_matter.ts";
import { sameNumber } from "./numbers.ts";
import { parsePlan } from "./plan_file.ts";
import { isTicked, type Roadmap } from "./roadmap_file.ts";
import { summaryVerdict } from "./summary_file.ts";
import type { Completion, Diagnostic, Plan } from "./types.ts";

/** One plan's file, and what is known around it. */
export interface PlanFile {
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
export async function readPlan(
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
