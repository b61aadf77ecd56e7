import { itemLine, type Look, type NextView, parkedIn, type StatusView } from "../../../cli/look.ts";
import type { Next, Verification } from "../../../backlog/types.ts";
import { hintOf } from "../../../cli/next_step.ts";
import { oneLine, type Style } from "../../../ui/text.ts";
import { readSprint, sprintBacklog } from "../backlog.ts";
import type { SprintItemData, SprintProgress, SprintStep } from "../types.ts";
import { everySprint, listSprints, onlySprint, sprintDirectory, sprintPaths, SPRINTS_DIRECTORY } from "../paths.ts";
import type { SprintPaths } from "../paths.ts";
import { readOrError } from "../../read_or_error.ts";
import { type ValidatedFile, validateFile } from "../../../cli/validated_file.ts";
import type { Validated } from "../../workflow.ts";
import { readDefinition } from "../definition.ts";
import { readProgress } from "../document.ts";
import { ownFiles, type RalphContext } from "../../../context/context.ts";
import { createStateFiles } from "../../../backlog/state_files.ts";
import { openRepository } from "../../../git/open_repository.ts";
import type { Host } from "../../../host/types.ts";
import { type ClaimMode, claimMode } from "../../../context/claim_mode.ts";
import type { Invocation } from "../../../cli/command.ts";
import { resolveRoot } from "../../../cli/workspace.ts";

/** The mode and the step of the next iteration. */
export async function nextOfSprint(look: Look): Promise<NextView> {
  const next = await nextIn(look, await directoryOf(look, look.scope));
  switch (next.status) {
    case "item": {
      const { data, title } = next.item;
      const item = [`${look.style.bold(data.mode)} ${oneLine(title)}`, `iteration ${data.iteration}`];
      return { blocked: false, open: `${next.item.id}: ${title}`, data: { status: next.status, ...data }, item };
    }
    case "done":
      return { blocked: false, data: next, item: [`the goal is reached: ${next.summary ?? ""}`] };
    case "blocked": {
      const notes = next.reasons.map((reason) => `blocked: ${reason}`);
      return { blocked: true, open: next.reasons.join("; "), data: next, notes };
    }
    case "waiting":
      return { blocked: false, data: next };
  }
}

async function nextIn(look: Look, directory: string): Promise<Next<SprintItemData>> {
  const { asCompiled } = await import("../compile.ts");
  const { root, host, config } = look;
  const backlog = sprintBacklog({ root, state: await asCompiled(look, directory), host, config }, { directory });
  return await backlog.next({ inFlight: [], parked: await parkedIn(look, backlog) });
}

/** `ralph sprint status` shows this; the JSON form is this very object. */
interface SprintStatus extends SprintProgress {
  /** The sprint's folder, relative to the root. */
  readonly directory: string;
}

/** Reads PROGRESS.yaml; takes no lock and changes nothing. @throws {RalphError} state-missing, state-invalid, sprint-invalid */
export async function readSprintStatus({ paths, state }: Pick<SprintPlace, "paths" | "state">): Promise<SprintStatus> {
  return { directory: paths.directory, ...await readSprint({ state }, paths.progress) };
}

/** The first line of a text that an agent wrote, with nothing in it that moves a terminal. */
function firstLine(text: string): string {
  return oneLine(text.trim().split("\n")[0] ?? "");
}

/** A step on a line. */
export function stepLine({ id, prompt, status }: SprintStep, style: Style): string {
  return itemLine({ id, title: firstLine(prompt), state: status === "completed" ? "passed" : "open" }, style);
}

/** The status for a reader. */
export function sprintStatusLines(status: SprintStatus, style: Style): readonly string[] {
  const { bold, dim, good, bad, warn, symbols } = style;
  const { sprintId, goal, steps, hookTasks, exit, humanNeeded } = status;
  const paint = { completed: good, "needs-human": bad }[status.status] ?? dim;
  const completed = steps.filter((step) => step.status === "completed").length;
  const ended = exit.verified === true ? good("verified") : warn(exit.verified === null ? "claimed" : "unverified");
  const count = (state: string): number => hookTasks.filter((task) => task.status === state).length;
  const hooks = ["completed", "failed", "interrupted", "in-progress"].filter((state) => count(state) > 0)
    .map((state) => `${count(state)} ${state}`);
  return [
    `${bold(sprintId)} ${paint(status.status)} ${dim(`${symbols.dot} ${status.directory}`)}`,
    `goal: ${firstLine(goal)}`,
    `iteration ${status.currentIteration}, ${completed}/${steps.length} steps completed`,
    ...steps.map((step) => `  ${stepLine(step, style)}`),
    ...(hooks.length === 0 ? [] : [`hooks: ${hooks.join(", ")}`]),
    ...(humanNeeded === null ? [] : [warn(`a person is needed: ${firstLine(humanNeeded)}`)]),
    ...(exit.lastFailure === null ? [] : [warn(`the last claim did not count: ${firstLine(exit.lastFailure)}`)]),
    ...(exit.summary === null ? [] : [`${ended}: ${firstLine(exit.summary)}`]),
  ];
}

type Read = SprintStatus | { readonly directory: string; readonly problem: string };

/** The sprint that is named, or every sprint below `.claude/sprints`. */
export async function readSprints(look: Look): Promise<StatusView> {
  const { root, scope, style } = look;
  const all = scope === "" ? null : await directoryOf(look, scope);
  const sprints: Read[] = [];
  for (const directory of all === null ? await listSprints(root) : [all]) {
    const paths = sprintPaths(root, directory);
    const { value, error } = await readOrError(() => readSprintStatus({ state: look.state, paths }));
    sprints.push(value === null ? { directory, problem: error.message } : value);
  }
  const compiled = new Set(sprints.map(({ directory }) => directory));
  const notCompiled = all === null
    ? (await listSprints(root, "SPRINT.yaml")).filter((directory) => !compiled.has(directory))
    : [];
  return {
    data: { sprints, notCompiled },
    lines: [
      ...sprints.flatMap((read) => "problem" in read ? [style.bad(read.problem)] : sprintStatusLines(read, style)),
      ...notCompiled.map((directory) => `${directory}: not compiled`),
      ...(sprints.length + notCompiled.length === 0 ? ["no sprint below .claude/sprints"] : []),
    ],
    problem: null,
    hint: await hintFor(look, sprints, notCompiled),
  };
}

async function hintFor(look: Look, sprints: readonly Read[], notCompiled: readonly string[]): Promise<string | null> {
  if (sprints.some((read) => "problem" in read)) return "`ralph validate`";
  for (const { directory } of sprints) {
    const run = `ralph sprint run ${directory}`;
    const hint = hintOf(await nextIn(look, directory), { run, retry: `${run} --retry-blocked` });
    if (hint !== null) return hint;
  }
  const [other] = notCompiled;
  if (other !== undefined) return `\`ralph sprint run ${other}\``;
  return sprints.length > 0 ? null : "`ralph init --workflow sprint`";
}

/** SPRINT.yaml with its workflow, and PROGRESS.yaml, of the sprint that is named or of all. */
export async function validateSprints({ root, scope }: Validated): Promise<readonly ValidatedFile[]> {
  const directories = scope === "" ? await everySprint(root) : [await sprintDirectory(root, root, scope)];
  if (directories.length === 0) {
    const warnings = ["no sprint: `ralph init --workflow sprint` makes a first one"];
    return [{ path: SPRINTS_DIRECTORY, present: false, problems: [], warnings }];
  }
  return (await Promise.all(directories.map((directory) => validateSprint(root, directory)))).flat();
}

async function validateSprint(root: string, directory: string): Promise<readonly ValidatedFile[]> {
  const paths = sprintPaths(root, directory);
  return [
    await validateFile(root, paths.definition, {
      missing: [],
      async check() {
        const { warnings } = await readDefinition(root, paths);
        return { problems: [], warnings };
      },
    }),
    await validateFile(root, paths.progress, {
      missing: [`not compiled yet: \`ralph sprint compile ${directory}\``],
      check(text) {
        const { humanNeeded } = readProgress(text, paths.progress);
        return { problems: [], warnings: humanNeeded === null ? [] : [`a person is needed: ${humanNeeded}`] };
      },
    }),
  ];
}

/**
 * Every sprint's completion is checked by `verify.default`.
 *
 * @throws {RalphError} sprint-missing, state-missing, state-invalid for a sprint that is named
 */
export async function verifySprint(ralph: RalphContext, scope: string): Promise<Verification> {
  const { verify } = await import("../../../checks/verify.ts"); // the views run no check
  if (scope !== "") await readSprint(ralph, sprintPaths(ralph.root, await directoryOf(ralph, scope)).progress);
  return await verify(ralph, [...new Set(ralph.config.verify.default)]);
}

/** One sprint and its state, for commands that start no agent. */
export interface SprintPlace extends Pick<RalphContext, "host" | "root" | "state"> {
  readonly paths: SprintPaths;
  /** How a command that changes the steps is carried out. */
  readonly mode: ClaimMode;
}

/** Finds the sprint that was named, as seen from the current folder, or the only one. @throws {RalphError} sprint-missing, path-outside-root */
export async function findSprint(invocation: Invocation, named: string | undefined): Promise<SprintPlace> {
  const { host } = invocation;
  const root = await resolveRoot(invocation);
  const repository = await openRepository(host, root);
  const state = createStateFiles({ root, directory: ownFiles(repository, root).directory, host });
  const mode = await claimMode({ root, repository, host });
  return { root, host, state, mode, paths: sprintPaths(root, await directoryOf({ root, host }, named)) };
}

/** The sprint's folder, relative to the root. @throws {RalphError} sprint-missing, path-outside-root */
async function directoryOf({ root, host }: { readonly root: string; readonly host: Host }, named: string | undefined) {
  return named === undefined || named === ""
    ? await onlySprint(root)
    : await sprintDirectory(root, host.environment.cwd, named);
}
