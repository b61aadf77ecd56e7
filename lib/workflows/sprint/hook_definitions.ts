import { isPlain, type Plain, textOf } from "../plain.ts";
import { HOOK_ID_REGEXP } from "../../hooks/hook.ts";
import type { HookEntry } from "./types.ts";

/** Something that is wrong with a sprint's definition. Codes are stable. */
export interface SprintProblem {
  readonly code: string;
  readonly message: string;
}

/** The hooks of a workflow with a sprint's overrides, and all that is wrong with them. */
export interface MergedHooks {
  readonly hooks: readonly HookEntry[];
  readonly problems: readonly SprintProblem[];
}

const ACTIONS = ["workflow", "prompt", "command"] as const;

/**
 * Merges. The sprint's side is a map of id to fields (`enabled` above all; `true` and `false` are short for it), or a list
 * whose entries change a hook of that id, or add one. `from`: the
 * workflow, in words. Pure.
 */
export function mergeHooks(workflow: unknown, overrides: unknown, from: string): MergedHooks {
  const problems: SprintProblem[] = [];
  const given = listOf(workflow, `per-iteration-hooks of ${from}`, problems);
  const merged = new Map<string, Plain>();
  for (const [index, hook] of given.entries()) {
    const id = idOf(hook);
    if (id === null) problems.push({ code: "MISSING_HOOK_ID", message: `per-iteration-hooks[${index}] has no id` });
    else if (merged.has(id)) problems.push({ code: "DUPLICATE_HOOK_ID", message: `two hooks are named ${id}` });
    else merged.set(id, hook);
  }
  for (const [id, fields] of overridesOf(overrides, problems)) {
    const hook = merged.get(id);
    const isNew = hook === undefined && fields !== null && Array.isArray(overrides) &&
      ACTIONS.some((action) => action in fields);
    if (fields === null) {
      problems.push({
        code: "RALPH_INVALID_HOOK_OVERRIDE",
        message: `the override of ${id} must be keys and values, true or false`,
      });
    } else if (hook !== undefined || isNew) {
      merged.set(id, { ...withoutAction(hook, fields), ...fields, id });
    } else {
      const known = merged.size === 0 ? "it has none" : `it has ${[...merged.keys()].join(", ")}`;
      problems.push({ code: "RALPH_INVALID_HOOK_OVERRIDE", message: `${from} has no hook ${id}: ${known}` });
    }
  }
  const hooks = [...merged.values()].flatMap((hook) => checked(hook, problems));
  return { hooks, problems };
}

/** An override that names an action replaces the one that it inherits. */
function withoutAction(hook: Plain | undefined, fields: Plain): Plain {
  if (!ACTIONS.some((action) => (fields[action] ?? null) !== null)) return hook ?? {};
  return Object.fromEntries(Object.entries(hook ?? {}).filter(([key]) => !ACTIONS.some((action) => action === key)));
}

function checked(hook: Plain, problems: SprintProblem[]): readonly HookEntry[] {
  const id = String(hook["id"]);
  const named = ACTIONS.filter((action) => hook[action] !== undefined && hook[action] !== null);
  const before = problems.length;
  const wrong = (code: string, message: string): void =>
    void problems.push({ code, message: `the hook ${id} ${message}` });
  if (!HOOK_ID_REGEXP.test(id)) wrong("INVALID_HOOK_ID", "needs an id of letters, digits, ., _ and -");
  if (named.length === 0) wrong("RALPH_INVALID_HOOK", "has none of workflow, prompt and command");
  if (named.length > 1) wrong("HOOK_AMBIGUOUS_ACTION", `has more than one action: ${named.join(", ")}`);
  for (const action of named) {
    if (textOf(hook[action]) === null) wrong("RALPH_INVALID_HOOK", `: ${action} must be a text`);
  }
  for (const key of ["enabled", "parallel", "isolated"]) {
    if (hook[key] !== undefined && typeof hook[key] !== "boolean") {
      wrong("RALPH_INVALID_HOOK", `: ${key} must be true or false`);
    }
  }
  if (hook["when"] !== undefined && hook["when"] !== "before" && hook["when"] !== "after") {
    wrong("RALPH_INVALID_HOOK", ": when must be before or after");
  }
  const entry = problems.length === before ? hookEntryOf(hook) : null;
  return entry === null ? [] : [entry];
}

function overridesOf(overrides: unknown, problems: SprintProblem[]): readonly (readonly [string, Plain | null])[] {
  if (overrides === undefined || overrides === null) return [];
  if (Array.isArray(overrides)) {
    return listOf(overrides, "the sprint's per-iteration-hooks", problems).flatMap((hook, index) => {
      const id = idOf(hook);
      if (id !== null) return [[id, hook] as const];
      problems.push({ code: "MISSING_HOOK_ID", message: `the sprint's per-iteration-hooks[${index}] has no id` });
      return [];
    });
  }
  if (typeof overrides !== "object") {
    const message = "the sprint's per-iteration-hooks must be a map of id to fields";
    problems.push({ code: "RALPH_INVALID_HOOK_OVERRIDE", message });
    return [];
  }
  return Object.entries(overrides).map(([id, fields]) => [id, fieldsOf(fields)]);
}

function fieldsOf(fields: unknown): Plain | null {
  if (typeof fields === "boolean") return { enabled: fields };
  return isPlain(fields) ? fields : null;
}

function listOf(value: unknown, what: string, problems: SprintProblem[]): readonly Plain[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value) && value.every((one) => isPlain(one))) return value;
  problems.push({ code: "RALPH_INVALID_HOOK", message: `${what} must be a list of hooks` });
  return [];
}

function idOf(hook: Plain): string | null {
  const id = hook["id"];
  return typeof id === "number" ? String(id) : textOf(id);
}

/** A hook as YAML has it, defaults filled in; `null` for one without id or action. Pure. */
export function hookEntryOf(value: Plain): HookEntry | null {
  const id = value["id"];
  const actions = ACTIONS.filter((key) => typeof value[key] === "string");
  const [action] = actions;
  if ((typeof id !== "string" && typeof id !== "number") || action === undefined || actions.length > 1) return null;
  const text = (key: string, name: string): object => typeof value[key] === "string" ? { [name]: value[key] } : {};
  return {
    id: String(id),
    [action]: value[action] as string,
    enabled: value["enabled"] !== false,
    parallel: value["parallel"] !== false,
    when: value["when"] === "before" ? "before" : "after",
    isolated: value["isolated"] !== false,
    ...text("agent", "agent"),
    ...text("agent-command", "agentCommand"),
    ...(typeof value["timeout"] === "number" ? { timeout: value["timeout"] } : {}),
  };
}
