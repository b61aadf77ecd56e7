import { type Plain, plain, plains } from "../plain.ts";
import {
  ensureDirectory,
  listDirectory,
  pathExists,
  presentPaths,
  renamePath,
  resolveInside,
} from "../../host/files.ts";
import { basename, join } from "node:path";
import type { Document } from "yaml";
import { sprintInvalid } from "../../errors/ralph_error.ts";
import { ensureRunsIgnored } from "../../events/known_runs.ts";
import type { HookConfig } from "../../config/load.ts";
import { type Hook, hookOfConfig, type HookRecord, type HookStore } from "../../hooks/hook.ts";
import { changeSprint, readSprint, type SprintContext } from "./backlog.ts";
import { readDefinition, type SprintDefinition } from "./definition.ts";
import { type SprintPaths, sprintPaths, transcriptOf } from "./paths.ts";
import type { StateFiles } from "../../backlog/state_files.ts";
import type { RalphContext } from "../../context/context.ts";

/** Hooks leave these files in the sprint's logs, by iteration. */
const HOOK_LOG_REGEXP = /^hook-iter\d+-/;

/** How a sprint is compiled. */
export interface CompileOptions {
  /** The sprint's folder, relative to the root. */
  readonly directory: string;
  /** Begin anew: the old PROGRESS.yaml, transcripts and logs of hooks are moved into a folder of the sprint's logs. @default false */
  readonly force?: boolean;
}

/** The result of compiling. */
export interface CompiledSprint {
  /** `updated`: goal and hooks of a sprint that has one already. */
  readonly status: "written" | "updated" | "unchanged";
  /** PROGRESS.yaml, relative to the root. */
  readonly file: string;
  readonly definition: SprintDefinition;
  /** Keys of a PROGRESS.yaml that was there which were brought up to date. */
  readonly changed: readonly string[];
  /** The folder that the old files went to, relative to the root. */
  readonly moved: string | null;
}

/**
 * Makes PROGRESS.yaml of SPRINT.yaml and its workflow. A sprint that has begun keeps its steps: only goal, prompts and
 * hooks are brought up to date. Another goal is not reached yet, whatever was said of the old one.
 *
 * @throws {RalphError} sprint-invalid with every problem, state-missing, state-invalid
 *
 * @example Compile a sprint
 * ```ts
 * import { compileSprint } from "ralph/sprint";
 * import { testContext } from "ralph/testing";
 *
 * await using ralph = await testContext({ files: { "sprint/SPRINT.yaml": "workflow: ralph\ngoal: say hello\n" } });
 * const { file } = await compileSprint(ralph, { directory: "sprint" });
 * console.log(file); // sprint/PROGRESS.yaml
 * ```
 */
export async function compileSprint(
  { root, state, host }: Pick<SprintContext, "host" | "root" | "state">,
  { directory, force = false }: CompileOptions,
): Promise<CompiledSprint> {
  const paths = sprintPaths(root, directory);
  const definition = await readDefinition(root, paths);
  const { changeYaml } = await import("./document.ts");
  const first = await progressText(definition);
  const moved = force ? await moveAside(root, paths, host.clock.now()) : null;
  let before: string | null = null;
  let changed: readonly string[] = [];
  const warnings = [...definition.warnings];
  const after = await state.update(paths.progress, (text) => {
    before = text;
    if (text === null) return first;
    return changeYaml(text, paths.progress, (document) => {
      sameMode(document, definition, paths);
      changed = bringUpToDate(document, definition);
      if (hasOtherPhases(document, definition)) {
        const message =
          `${paths.progress} has begun with other phases than ${paths.definition} and its workflow have now`;
        warnings.push(`${message}: it goes on with its own; \`ralph sprint compile ${directory} --force\` begins anew`);
      }
      return changed.length > 0;
    });
  });
  const kept = before === after ? "unchanged" : "updated";
  return {
    status: before === null ? "written" : kept,
    file: paths.progress,
    definition: { ...definition, warnings },
    changed,
    moved,
  };
}

/** The state of a sprint, which is read as compiling would write it where there is no PROGRESS.yaml yet. */
export async function asCompiled({ root, state }: SprintContext, directory: string): Promise<StateFiles> {
  const paths = sprintPaths(root, directory);
  if (await state.read(paths.progress) !== null || !await pathExists(join(root, paths.definition))) return state;
  const text = await progressText(await readDefinition(root, paths));
  return { ...state, read: async (path) => path === paths.progress ? text : await state.read(path) };
}

async function progressText(definition: SprintDefinition): Promise<string> {
  const { formatYaml } = await import("./document.ts");
  const { Document } = await import("yaml");
  const { mode, phases, sprintId, workflow } = definition;
  const isStandard = mode === "standard";
  const steps = phases.flatMap((phase) => phase.steps ?? []);
  const progress = {
    "sprint-id": sprintId,
    status: "not-started",
    workflow,
    mode,
    ...definedBy(definition),
    ...(isStandard ? { phases } : { "dynamic-steps": [] }),
    "hook-tasks": [],
    ...(isStandard ? {} : { "ralph-exit": { "detected-at": null, iteration: null, "final-summary": null } }),
    current: { phase: 0, step: 0, "sub-phase": 0 },
    stats: {
      "started-at": null,
      "total-phases": phases.length,
      "completed-phases": 0,
      ...(isStandard ? { "total-steps": steps.length, "completed-steps": 0 } : {}),
      "current-iteration": 0,
      "completed-iterations": 0,
      "idle-iterations": 0,
    },
  };
  return formatYaml(new Document(progress));
}

function sameMode(document: Document, { mode }: SprintDefinition, { directory, progress }: SprintPaths): void {
  const was = document.get("mode") ?? "standard";
  if (was === mode) return;
  const problem = `it was compiled with \`mode: ${String(was)}\`, and SPRINT.yaml asks for ${mode}`;
  const hint = `\`ralph sprint compile ${directory} --force\` begins anew and keeps the old file`;
  throw sprintInvalid(progress, problem, hint);
}

/** A phase that was added while the sprint ran is no difference. */
function hasOtherPhases(document: Document, { mode, phases }: SprintDefinition): boolean {
  if (mode !== "standard") return false;
  return JSON.stringify(promptsIn(plain(document.toJS())["phases"])) !== JSON.stringify(promptsIn(phases));
}

function promptsIn(list: unknown): readonly unknown[] {
  return plains(list).filter(({ injected }) => injected !== true).map(({ id, prompt, steps, phases }) => [
    String(id),
    String(prompt ?? "").trim(),
    promptsIn(steps ?? phases),
  ]);
}

/**
 * Moves aside the files that a sprint which begins anew would write over: its iterations are counted from 1 again.
 *
 * @returns the folder, or `null`
 */
async function moveAside(root: string, paths: SprintPaths, now: number): Promise<string | null> {
  const logs = (await listDirectory(join(root, paths.logs))).filter((name) => HOOK_LOG_REGEXP.test(name));
  const from = [paths.progress, paths.transcripts, ...logs.map((name) => `${paths.logs}/${name}`)];
  const there = await presentPaths(root, from);
  if (there.length === 0) return null;
  const stamp = new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, "");
  const folder = `${paths.logs}/before-${stamp}`;
  await ensureRunsIgnored(await resolveInside(root, paths.logs));
  const target = await resolveInside(root, folder);
  await ensureDirectory(target);
  for (const path of there) await renamePath(join(root, path), join(target, basename(path)));
  return folder;
}

/**
 * The hooks of a compiled sprint, for `runLoop()`.
 *
 * @throws {RalphError} state-missing, state-invalid, sprint-invalid
 *
 * @example The hooks of a compiled sprint
 * ```ts
 * import { compileSprint, sprintHooks } from "ralph/sprint";
 * import { testContext } from "ralph/testing";
 *
 * await using ralph = await testContext({ files: { "sprint/SPRINT.yaml": "workflow: ralph\ngoal: say hello\n" } });
 * await compileSprint(ralph, { directory: "sprint" });
 * console.log((await sprintHooks(ralph, { directory: "sprint" })).length); // 3
 * ```
 */
export async function sprintHooks(
  ralph: Pick<SprintContext, "host" | "root" | "state">,
  { directory }: { readonly directory: string },
): Promise<readonly Hook[]> {
  const paths = sprintPaths(ralph.root, directory);
  const store = createHookRecorder(ralph, paths);
  return (await readSprint(ralph, paths.progress)).hooks.map((config) => ({ ...hookOfConfig(config), store }));
}

/** A definition says this of a sprint, begun or not. */
function definedBy(definition: SprintDefinition): Plain {
  const { goal, goalPrompt, stepPrompt, reflectionPrompt, idleThreshold, minIterations, hooks, mode } = definition;
  const own = { "per-iteration-hooks": hooks.map(written) };
  if (mode === "standard") return goal === "" ? own : { goal, ...own };
  return present({
    goal,
    "goal-prompt": goalPrompt,
    "step-prompt": stepPrompt,
    "reflection-prompt": reflectionPrompt,
    ralph: { "idle-threshold": idleThreshold, "min-iterations": minIterations },
    ...own,
  });
}

/** @returns the keys that it changed */
function bringUpToDate(document: Document, definition: SprintDefinition): readonly string[] {
  const now = plain(document.toJS());
  const changed: string[] = [];
  const hasBegun = (document.get("status") ?? "not-started") !== "not-started" ||
    (document.getIn(["stats", "started-at"]) ?? null) !== null;
  const isNew = hasOtherPhases(document, definition) && !hasBegun;
  const defined = { ...definedBy(definition), ...(isNew ? { phases: definition.phases } : {}) };
  for (const [key, value] of Object.entries(defined)) {
    if (JSON.stringify(now[key]) === JSON.stringify(value)) continue;
    // another tool's file has no such key, and needs none
    if (definition.mode === "standard" && now[key] === undefined && (key === "goal" || String(value) === "")) continue;
    document.set(key, document.createNode(value));
    changed.push(key);
  }
  if (!changed.includes("goal") || now["goal"] === undefined) return changed;
  // the end that was reached was another goal's: the sprint starts again and keeps its steps
  for (const key of ["detected-at", "iteration", "final-summary"]) document.setIn(["ralph-exit", key], null);
  for (const key of ["verified", "last-failure"]) document.deleteIn(["ralph-exit", key]);
  document.setIn(["stats", "idle-iterations"], 0);
  if (document.get("status") === "completed") document.set("status", "in-progress");
  return changed;
}

function written(hook: HookConfig): Plain {
  const { id, workflow, prompt, command, parallel, enabled, when, isolated, agent, agentCommand, timeout } = hook;
  const unusual = { when: when === "after" ? null : when, isolated: isolated ? null : isolated };
  const action = { id, workflow, prompt, command };
  return present({ ...action, parallel, enabled, ...unusual, agent, "agent-command": agentCommand, timeout });
}

function present(values: Plain): Plain {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null && value !== undefined));
}

/** Long enough that what happens in one instant becomes one write. */
const GATHER_MS = 5;

/** Records hooks in PROGRESS.yaml: those of the same time together, one after the other. */
export function createHookRecorder(
  { host, root, state }: Pick<RalphContext, "host" | "root" | "state">,
  { directory, logs, progress: file, transcripts }: SprintPaths,
): HookStore {
  const folder = join(root, directory);
  let waiting: HookRecord[] = [];
  let next: Promise<void> | null = null;
  let last: Promise<void> = Promise.resolve();

  async function write(after: Promise<void>): Promise<void> {
    const { recordHook } = await import("./changes.ts");
    await host.clock.sleep(GATHER_MS);
    await after.catch(() => {}); // those who waited for it get the error
    const records = waiting;
    waiting = [];
    next = null;
    await changeSprint({ state }, file, (document) => {
      for (const record of records) recordHook(document, record, folder);
      return records.length > 0;
    });
  }

  return {
    directory: logs,
    async left() {
      const { hookTasks } = await readSprint({ state }, file);
      return hookTasks.filter(({ status }) => status === "interrupted").map(({ hookId, iteration }) => ({
        hookId,
        iteration,
        transcript: join(root, transcriptOf(transcripts, iteration)),
      }));
    },
    record(record) {
      waiting.push(record);
      if (next === null) last = next = write(last);
      return next;
    },
  };
}
