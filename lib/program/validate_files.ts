import { join, resolve } from "node:path";
import { PLAN_STATE_FILE, PRD_FILE } from "../workflows/exec/paths.ts";
import { parsePrd } from "../workflows/exec/format.ts";
import { storyCommands, verifyCommands } from "../backlog/verify_commands.ts";
import { CONFIG_FILE, loadConfig } from "../config/load.ts";
import type { Config } from "../config/types.ts";
import { RalphError } from "../errors/ralph_error.ts";
import { pathExists, readText } from "../host/files.ts";
import { isPlaceholder } from "../cli/placeholder.ts";
import { chooseWorkflow } from "../cli/workflow.ts";

/** One file and what is wrong with it. */
export interface ValidatedFile {
  /** Relative to the root, but for a configuration that was named. */
  readonly path: string;
  readonly present: boolean;
  readonly problems: readonly string[];
  /** Allowed, but hardly meant. */
  readonly warnings: readonly string[];
}

/** Reads every file of the workflow and gathers what is wrong; nothing is changed. @throws {RalphError} usage */
export async function validateFiles(
  root: string,
  named: {
    readonly cwd: string;
    readonly config?: string | undefined;
    readonly workflow?: string | undefined;
    readonly feature?: string | undefined;
  },
): Promise<readonly ValidatedFile[]> {
  const { file, config } = await validateConfig(
    root,
    named.config === undefined ? undefined : resolve(named.cwd, named.config),
  );
  const workflow = await chooseWorkflow(root, { flag: named.workflow, config: config?.workflow });
  if (named.feature !== undefined || workflow.name === "feature") {
    const { validateFeature } = await import("../workflows/feature/commands/validate.ts");
    return await validateFeature(root, named.feature ?? "", named);
  }
  if (workflow.name === "gsd") return [file, ...await validatePlanning(root)];
  if (workflow.name === "spec") return [file, await validatePlanFile(root)];
  return [file, await validatePrdFile(root, config), await validatePlanState(root)];
}

async function validateConfig(
  root: string,
  named: string | undefined,
): Promise<{ readonly file: ValidatedFile; readonly config: Config | null }> {
  const path = named ?? CONFIG_FILE;
  const present = await pathExists(named ?? join(root, CONFIG_FILE));
  try {
    const { config, warnings } = await loadConfig(root, named);
    const commands = [...config.verify.default, ...config.verify.ui];
    const problems = commands.filter(isPlaceholder).map((command) =>
      `verify: \`${command}\` checks nothing: name a command that can fail`
    );
    return { file: { path, present, problems, warnings }, config };
  } catch (error) {
    return { file: { path, present, problems: [problemOf(error, path)], warnings: [] }, config: null };
  }
}

async function validatePrdFile(root: string, config: Config | null): Promise<ValidatedFile> {
  const text = await readText(join(root, PRD_FILE));
  if (text === null) {
    return { path: PRD_FILE, present: false, problems: [], warnings: ['`ralph plan "<goal>"` writes it'] };
  }
  try {
    const { userStories } = parsePrd(text, PRD_FILE);
    const problems = userStories.flatMap((story) =>
      storyCommands(story).filter(isPlaceholder).map((command) =>
        `${story.id}: \`${command}\` checks nothing: name a command that can fail`
      )
    );
    const duplicates = userStories.filter(({ id }, index) =>
      userStories.findIndex((other) => other.id === id) !== index
    );
    const unchecked = config === null || config.verify.default.length > 0
      ? []
      : userStories.filter((story) => !story.passes && storyCommands(story).length === 0);
    return {
      path: PRD_FILE,
      present: true,
      problems: [...problems, ...new Set(duplicates.map(({ id }) => `${id}: this id stands more than once`))],
      warnings: unchecked.map(({ id }) => `${id}: names no check and cannot pass`),
    };
  } catch (error) {
    return { path: PRD_FILE, present: true, problems: [problemOf(error, PRD_FILE)], warnings: [] };
  }
}

/** What the readers of `.planning/` could not make sense of; nothing there keeps a plan from being run as it is read. */
async function validatePlanning(root: string): Promise<readonly ValidatedFile[]> {
  const { readPlanning } = await import("../workflows/gsd/read_planning.ts");
  const { PLANNING_DIRECTORY } = await import("../workflows/gsd/paths.ts");
  try {
    const { diagnostics } = await readPlanning({ root });
    const files = [...new Set(diagnostics.map((one) => one.file))];
    const warnings = (path: string): readonly string[] =>
      diagnostics.filter((one) => one.file === path).map(({ line, message }) =>
        line === 0 ? message : `line ${line}: ${message}`
      );
    const found = await Promise.all(
      files.map(async (path) => ({
        path,
        present: await pathExists(join(root, path)),
        problems: [],
        warnings: warnings(path),
      })),
    );
    return [{ path: PLANNING_DIRECTORY, present: true, problems: [], warnings: [] }, ...found];
  } catch (error) {
    const present = await pathExists(join(root, PLANNING_DIRECTORY));
    return [{ path: PLANNING_DIRECTORY, present, problems: [problemOf(error, PLANNING_DIRECTORY)], warnings: [] }];
  }
}

async function validatePlanFile(root: string): Promise<ValidatedFile> {
  const { parsePlan, pendingOf, problemsOf, tasksOf } = await import("../workflows/spec/plan_file.ts");
  const { findCycle } = await import("../workflows/spec/graph.ts");
  const { PLAN_FILE: path } = await import("../workflows/spec/types.ts");
  const text = await readText(join(root, path));
  if (text === null) return { path, present: false, problems: [], warnings: ["`ralph plan SPEC.md` writes it"] };
  try {
    const plan = parsePlan(text, path);
    const cycle = findCycle(pendingOf(plan));
    const circle = cycle === null ? [] : [`the tasks depend on each other in a circle: ${cycle.join(" → ")}`];
    const empty = tasksOf(plan).flatMap(({ id, accept }) =>
      verifyCommands(accept).filter(isPlaceholder).map((command) =>
        `${id}: \`${command}\` checks nothing: name a command that can fail`
      )
    );
    const problems = problemsOf(plan).map(({ line, problem }) => `line ${line}: ${problem}`);
    return { path, present: true, problems: [...problems, ...circle, ...empty], warnings: [] };
  } catch (error) {
    return { path, present: true, problems: [problemOf(error, path)], warnings: [] };
  }
}

async function validatePlanState(root: string): Promise<ValidatedFile> {
  const text = await readText(join(root, PLAN_STATE_FILE));
  if (text === null) return { path: PLAN_STATE_FILE, present: false, problems: [], warnings: [] };
  try {
    const { parsePlanState } = await import("../workflows/exec/plan/state.ts");
    parsePlanState(text);
    return { path: PLAN_STATE_FILE, present: true, problems: [], warnings: [] };
  } catch (error) {
    return { path: PLAN_STATE_FILE, present: true, problems: [problemOf(error, PLAN_STATE_FILE)], warnings: [] };
  }
}

/** The message without the path that it begins with; what is no RalphError is thrown on. */
function problemOf(error: unknown, path: string): string {
  if (!RalphError.isInstance(error)) throw error;
  const problem = error.details["problem"];
  return typeof problem === "string" ? problem : error.message.replace(`${path}: `, "");
}
