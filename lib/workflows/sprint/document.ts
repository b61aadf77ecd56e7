/**
 * PROGRESS.yaml as a document: what is not changed stays as it was written, comments and unknown keys included.
 * Loads the YAML library: import it when a sprint is at hand.
 *
 * @module
 */
import { countOf, type Plain, plain, plains, textOf } from "../plain.ts";
import { type Document, isMap, parseDocument } from "yaml";
import { RalphError } from "../../errors/ralph_error.ts";
import { hookOf } from "./hook_definitions.ts";
import { checkPhases, phaseSteps } from "./phases.ts";
import type { SprintProgress, SprintStep } from "./types.ts";
import { formatEntries } from "./written_entry.ts";

/** A YAML document that was read and whose top is a map. */
export type ProgressDocument = Document.Parsed;

type Directives = NonNullable<Document["directives"]>;

/** Parses a YAML file whose top is a map. @throws {RalphError} state-invalid with the line */
export function parseYaml(text: string, path: string): ProgressDocument {
  const document = parseDocument(text, { prettyErrors: true, uniqueKeys: false });
  const invalid = (problem: string, cause?: unknown): RalphError =>
    new RalphError("state-invalid", { details: { path, problem }, cause });
  const [error] = document.errors;
  if (error !== undefined) {
    const line = error.linePos?.[0].line;
    const words = error.message.split("\n")[0]?.replace(/ at line .*$/, "") ?? "";
    throw invalid(line === undefined ? words : `line ${line}: ${words}`, error);
  }
  if (!isMap(document.contents)) throw invalid("expected keys and values");
  try {
    document.toJS(); // aliases that name each other without end are found only here
  } catch (cause) {
    throw invalid(cause instanceof Error ? cause.message : String(cause), cause);
  }
  return document;
}

/** The text that was read or written last, with its document: a sprint's own file is asked for many times an iteration. */
let known: { readonly text: string; readonly document: ProgressDocument; progress?: SprintProgress } | null = null;

/** The document of a text, parsed once while the text stays as it is. For reading only. */
function documentOf(text: string, path: string): ProgressDocument {
  if (known?.text !== text) known = { text, document: parseYaml(text, path) };
  return known.document;
}

/** Lists whose entries pile up and stay as they are. */
const LISTS = ["dynamic-steps", "hook-tasks"] as const;

/** The file's text again. Long lines are not folded. */
export function formatYaml(document: Document): string {
  const { directives } = document;
  if (directives !== undefined) directives.toString = formatDirectives;
  return formatEntries(document, LISTS, () => document.toString({ lineWidth: 0, minContentWidth: 0 }));
}

/**
 * Changes a text by way of its document; the very same text where `change` says that it did nothing.
 *
 * @throws {RalphError} state-invalid
 */
export function changeYaml(text: string, path: string, change: (document: ProgressDocument) => boolean): string {
  const document = documentOf(text, path);
  known = null; // its content is unknown while it is changed
  const after = change(document) ? formatYaml(document) : text;
  known = { text: after, document };
  return after;
}

/** Reads the file. @throws {RalphError} state-invalid, sprint-invalid where a part of it is not understood */
export function readProgress(text: string, path: string): SprintProgress {
  if (known?.text === text && known.progress !== undefined) return known.progress;
  const document = documentOf(text, path);
  const mode = document.get("mode") ?? "standard";
  if (mode !== "ralph" && mode !== "standard") {
    throw new RalphError("sprint-invalid", {
      details: { path, problem: `its mode is ${String(mode)}, expected standard or ralph` },
    });
  }
  if (mode === "standard") checkPhases(document, text, path);
  const progress = progressOf(plain(document.toJS()), mode === "standard" ? phaseSteps(document) : null);
  if (known !== null) known.progress = progress;
  return progress;
}

/** `phases`: the steps of a sprint in standard mode. */
function progressOf(all: Plain, phases: readonly SprintStep[] | null): SprintProgress {
  const [ralph, exit, stats] = [plain(all["ralph"]), plain(all["ralph-exit"]), plain(all["stats"])];
  const sprintId = textOf(all["sprint-id"]) ?? "sprint";
  return {
    kind: phases === null ? "ralph" : "standard",
    sprintId,
    status: textOf(all["status"]) ?? "not-started",
    humanNeeded: textOf(all["human-needed"]),
    goal: textOf(all["goal"]) ?? (phases === null ? "" : textOf(all["name"]) ?? sprintId),
    goalPrompt: textOf(all["goal-prompt"]),
    stepPrompt: textOf(all["step-prompt"]),
    reflectionPrompt: textOf(all["reflection-prompt"]),
    idleThreshold: countOf(ralph["idle-threshold"]) ?? 3,
    minIterations: countOf(ralph["min-iterations"]) ?? 0,
    hooks: plains(all["per-iteration-hooks"]).map(hookOf).filter((hook) => hook !== null),
    steps: phases ?? plains(all["dynamic-steps"]).map((step) => ({
      id: String(step["id"] ?? ""),
      prompt: String(step["prompt"] ?? ""),
      status: String(step["status"] ?? "pending"),
      addedIn: countOf(step["added-in-iteration"]),
    })),
    hookTasks: plains(all["hook-tasks"]).map((task) => ({
      iteration: countOf(task["iteration"]) ?? 0,
      hookId: String(task["hook-id"] ?? ""),
      status: String(task["status"] ?? ""),
      pid: countOf(task["pid"]),
      exitCode: typeof task["exit-code"] === "number" ? task["exit-code"] : null,
    })),
    exit: {
      detectedAt: textOf(exit["detected-at"]),
      iteration: countOf(exit["iteration"]),
      summary: typeof exit["final-summary"] === "string" ? exit["final-summary"] : null,
      verified: typeof exit["verified"] === "boolean" ? exit["verified"] : null,
      lastFailure: textOf(exit["last-failure"]),
    },
    currentIteration: countOf(stats["current-iteration"]) ?? 0,
    completedIterations: countOf(stats["completed-iterations"]) ?? countOf(stats["current-iteration"]) ?? 0,
    idleIterations: countOf(stats["idle-iterations"]) ?? 0,
  };
}

/** Tags are looked for in the whole document, which is needed only where a `%TAG` line declares some. */
function formatDirectives(this: Directives, document?: Document): string {
  const isPlain = this.yaml.explicit !== true && Object.keys(this.tags).join() === "!!";
  return isPlain ? "" : Object.getPrototypeOf(this).toString.call(this, document);
}
