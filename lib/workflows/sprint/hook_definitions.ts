import { isPlain, type Plain, textOf } from "../plain.ts";
import type { HookConfig } from "../../config/load.ts";
import { HOOK_ID_REGEXP } from "../../hooks/hook.ts";

/** Something that is wrong with a sprint's definition. Codes are stable. */
export interface SprintProblem {
  readonly code: string;
  readonly message: string;
}

/** The hooks of a workflow with a sprint's overrides, and all that is wrong with them. */
export interface MergedHooks {
  readonly hooks: readonly HookConfig[];
  readonly problems: readonly SprintProblem[];
}

const ACTIONS = ["workflow", "prompt", "command"] as const;
const SWITCHES = ["enabled", "parallel", "isolated"] as const;

/** Ralph reads these keys of a hook. */
export const HOOK_KEYS: readonly string[] = [
  "id",
  ...ACTIONS,
  ...SWITCHES,
  "when",
  "agent",
  "agent-command",
  "timeout",
];

const SPRINT_HOOKS = "the sprint's per-iteration-hooks";

/**
 * Merges. The sprint's side is a map of id to fields (`enabled` above all; `true` and `false` are short for it), or a list
 * whose entries change a hook of that id, or add one. `from`: the
 * workflow, in words. Pure.
 */
export function mergeHooks(workflow: unknown, overrides: unknown, from: string): MergedHooks {
  const problems: SprintProblem[] = [];
  const wrong = (code: string, message: string): void => void problems.push({ code, message });
  const merged = new Map<string, Plain>();
  for (const [id, hook] of listed(workflow, "per-iteration-hooks", `per-iteration-hooks of ${from}`)) {
    if (merged.has(id)) wrong("DUPLICATE_HOOK_ID", `two hooks are named ${id}`);
    else merged.set(id, hook);
  }
  for (const [id, given] of overriding()) {
    const fields = typeof given === "boolean" ? { enabled: given } : given;
    const hook = merged.get(id);
    if (!isPlain(fields)) {
      wrong("RALPH_INVALID_HOOK_OVERRIDE", `the override of ${id} must be keys and values, true or false`);
    } else if (hook !== undefined || (Array.isArray(overrides) && ACTIONS.some((action) => action in fields))) {
      // an override that names an action replaces the one that it inherits
      const replaced = ACTIONS.some((action) => (fields[action] ?? null) !== null) ? ACTIONS : [];
      const kept = Object.entries(hook ?? {}).filter(([key]) => !replaced.some((action) => action === key));
      merged.set(id, { ...Object.fromEntries(kept), ...fields, id });
    } else {
      const known = merged.size === 0 ? "it has none" : `it has ${[...merged.keys()].join(", ")}`;
      wrong("RALPH_INVALID_HOOK_OVERRIDE", `${from} has no hook ${id}: ${known}`);
    }
  }
  const hooks = [...merged.values()].map((hook) => {
    const found = faultsOf(hook);
    problems.push(...found);
    return found.length === 0 ? hookOf(hook) : null;
  });
  return { hooks: hooks.filter((hook) => hook !== null), problems };

  function listed(value: unknown, entry: string, what: string): readonly (readonly [string, Plain])[] {
    const list: unknown = value ?? [];
    if (!Array.isArray(list) || !list.every((one) => isPlain(one))) {
      wrong("RALPH_INVALID_HOOK", `${what} must be a list of hooks`);
      return [];
    }
    return list.flatMap((hook, index) => {
      const id = typeof hook["id"] === "number" ? String(hook["id"]) : textOf(hook["id"]);
      if (id !== null) return [[id, hook] as const];
      wrong("MISSING_HOOK_ID", `${entry}[${index}] has no id`);
      return [];
    });
  }

  function overriding(): readonly (readonly [string, unknown])[] {
    if (isPlain(overrides)) return Object.entries(overrides);
    if (Array.isArray(overrides ?? [])) return listed(overrides, SPRINT_HOOKS, SPRINT_HOOKS);
    wrong("RALPH_INVALID_HOOK_OVERRIDE", `${SPRINT_HOOKS} must be a map of id to fields`);
    return [];
  }
}

function faultsOf(hook: Plain): readonly SprintProblem[] {
  const id = String(hook["id"]);
  const named = ACTIONS.filter((action) => (hook[action] ?? null) !== null);
  const isSwitch = (value: unknown): boolean => value === undefined || typeof value === "boolean";
  const faults: (readonly [is: boolean, message: string, code?: string])[] = [
    [!HOOK_ID_REGEXP.test(id), "needs an id of letters, digits, ., _ and -", "INVALID_HOOK_ID"],
    [named.length === 0, "has none of workflow, prompt and command"],
    [named.length > 1, `has more than one action: ${named.join(", ")}`, "HOOK_AMBIGUOUS_ACTION"],
    ...named.map((key) => [textOf(hook[key]) === null, `: ${key} must be a text`] as const),
    ...SWITCHES.map((key) => [!isSwitch(hook[key]), `: ${key} must be true or false`] as const),
    [![undefined, "before", "after"].some((when) => when === hook["when"]), ": when must be before or after"],
  ];
  return faults.filter(([is]) => is).map(([, message, code = "RALPH_INVALID_HOOK"]) => ({
    code,
    message: `the hook ${id} ${message}`,
  }));
}

/** A hook as YAML has it, defaults filled in; `null` for one without id or action. Pure. */
export function hookOf(value: Plain): HookConfig | null {
  const { id, agent, "agent-command": agentCommand, timeout } = value;
  const [action, ...others] = ACTIONS.filter((key) => typeof value[key] === "string");
  if ((typeof id !== "string" && typeof id !== "number") || action === undefined || others.length > 0) return null;
  return {
    id: String(id),
    [action]: value[action],
    enabled: value["enabled"] !== false,
    parallel: value["parallel"] !== false,
    when: value["when"] === "before" ? "before" : "after",
    isolated: value["isolated"] !== false,
    ...(typeof agent === "string" ? { agent } : {}),
    ...(typeof agentCommand === "string" ? { agentCommand } : {}),
    ...(typeof timeout === "number" ? { timeout } : {}),
  };
}
