/**
 * PROGRESS.yaml as a document: what is not changed stays as it was written, comments and unknown keys included.
 * Loads the YAML library: import it when a sprint is at hand.
 *
 * @module
 */
import { countOf, type Plain, plain, plains, textOf } from "../plain.ts";
import { type Document, isMap, isScalar, isSeq, parseDocument, YAMLMap } from "yaml";
import { RalphError, sprintInvalid } from "../../errors/ralph_error.ts";
import { hookOf } from "./hook_definitions.ts";
import { checkPhases, phaseSteps } from "./phases.ts";
import type { SprintProgress, SprintStep } from "./types.ts";

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
    throw sprintInvalid(path, `its mode is ${String(mode)}, expected standard or ralph`);
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

type Values = Readonly<Record<string, unknown>>;
type Formatted = Parameters<YAMLMap["toString"]>;

/**
 * An entry of a list that was formatted: its text and its values, a fifth of the memory of its nodes. It becomes an
 * ordinary map, read from the text, when it is changed or a node of it is asked for.
 */
interface WrittenEntry extends YAMLMap {
  readonly text: string;
  readonly indent: string;
  readonly values: Values;
}

/** Formats a document. From then on what its lists of these keys hold is kept as text; what is written is the same. */
export function formatEntries(document: Document, keys: readonly string[], format: () => string): string {
  const texts = new Map<YAMLMap, WrittenEntry>();
  const lists = keys.map((key) => document.get(key)).filter((list) => isSeq(list));
  const fresh = lists.flatMap(({ items }) => items).filter((entry): entry is YAMLMap =>
    isMap(entry) && Object.getPrototypeOf(entry) === YAMLMap.prototype
  );
  for (const entry of fresh) {
    entry.toString = (...given: Formatted) => {
      const [context, onComment, onChompKeep] = given;
      let isWhole = true;
      const text = YAMLMap.prototype.toString.call(entry, context, onComment, () => {
        isWhole = false; // what follows depends on how it ends
        onChompKeep?.();
      });
      const values = isWhole ? valuesOf(entry) : null;
      if (values !== null && isPlain(context)) texts.set(entry, written(entry, text, context?.indent ?? "", values));
      return text;
    };
  }
  try {
    return format();
  } finally {
    for (const entry of fresh) Reflect.deleteProperty(entry, "toString");
    for (const list of lists) list.items = list.items.map((entry) => texts.get(entry as YAMLMap) ?? entry);
  }
}

/** Its values where it holds single values without comments and no more; else `null`. */
function valuesOf({ items, comment, anchor, tag }: YAMLMap): Values | null {
  if (comment || anchor || tag) return null;
  const values: Record<string, unknown> = {};
  for (const { key, value } of items) {
    const name = plainValue(key);
    const single = plainValue(value);
    if (typeof name !== "string" || name === "__proto__" || single === undefined || name in values) return null;
    values[name] = single;
  }
  return values;
}

/** `undefined`: more than a value. */
function plainValue(node: unknown): string | number | boolean | null | undefined {
  let value = node;
  if (isScalar(node)) {
    const { anchor, comment, commentBefore, spaceBefore, tag } = node;
    if (anchor || comment || commentBefore || spaceBefore || tag) return undefined;
    value = node.value;
  }
  return value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? value
    : undefined;
}

function isPlain(context: Formatted[0]): boolean {
  return context !== undefined && context.inFlow !== true && context.allNullValues !== true;
}

function written(entry: YAMLMap, text: string, indent: string, values: Values): WrittenEntry {
  const { commentBefore, spaceBefore } = entry;
  return Object.assign(Object.create(WRITTEN) as WrittenEntry, {
    // the library joins a text of fifty pieces, which engines keep in memory; in one piece, as a file will have it
    text: Buffer.from(text).toString(),
    indent,
    values,
    ...(commentBefore ? { commentBefore } : {}),
    ...(spaceBefore ? { spaceBefore } : {}),
  });
}

/** Written entries share this with a map, or do it otherwise. */
const WRITTEN: YAMLMap = Object.create(new YAMLMap(), {
  ...Object.fromEntries((["items", "comment", "anchor", "tag", "flow"] as const).map((name) => [name, {
    get(this: WrittenEntry): unknown {
      return name === "items" ? asMap(this).items : undefined;
    },
    set(this: WrittenEntry, value: unknown): void {
      Reflect.set(asMap(this), name, value);
    },
  }])),
  get: {
    value(this: WrittenEntry, key: unknown, keepScalar?: boolean): unknown {
      if (keepScalar === true || typeof key !== "string") return asMap(this).get(key, keepScalar);
      return Object.hasOwn(this.values, key) ? this.values[key] ?? undefined : undefined;
    },
  },
  toJSON: {
    value(this: WrittenEntry, ...given: Parameters<YAMLMap["toJSON"]>): unknown {
      const [, context, type] = given;
      if (type !== undefined || context?.mapAsMap === true) return asMap(this).toJSON(...given);
      const values = { ...this.values };
      context?.onCreate?.(values);
      return values;
    },
  },
  toString: {
    value(this: WrittenEntry, ...given: Formatted): string {
      const isSame = isPlain(given[0]) && given[0]?.indent === this.indent;
      return isSame ? this.text : asMap(this).toString(...given);
    },
  },
}) as YAMLMap;

/** The entry itself, as a map of nodes from here on. */
function asMap(entry: WrittenEntry): YAMLMap {
  const { contents } = parseDocument(`${entry.indent}${entry.text}`, { uniqueKeys: false });
  if (!isMap(contents)) throw new TypeError(`not a map: ${entry.text}`);
  for (const name of ["text", "indent", "values"]) Reflect.deleteProperty(entry, name);
  Object.setPrototypeOf(entry, YAMLMap.prototype);
  return Object.defineProperties(entry, Object.getOwnPropertyDescriptors(contents));
}
