/**
 * Keys of SPRINT.yaml and of a workflow's file that were hardly meant so. Loads the YAML library: import it when a sprint
 * is at hand.
 *
 * @module
 */
import { isMap, isScalar, isSeq } from "yaml";
import { nearest } from "../../errors/nearest.ts";
import type { ProgressDocument } from "./document.ts";

/** Ralph reads these keys of SPRINT.yaml and of a workflow's file. */
const KEYS: readonly string[] = [
  "workflow",
  "mode",
  "goal",
  "sprint-id",
  "goal-prompt",
  "step-prompt",
  "reflection-prompt",
  "ralph",
  "per-iteration-hooks",
];

const LOOP_KEYS: readonly string[] = ["idle-threshold", "min-iterations"];

const HOOK_KEYS: readonly string[] = [
  "id",
  "workflow",
  "prompt",
  "command",
  "enabled",
  "parallel",
  "isolated",
  "when",
  "agent",
  "agent-command",
  "timeout",
];

/** A key that a person may have mistyped: a message repeats nothing else. */
const KEY_REGEXP = /^[\w-]{1,40}$/;

/** Keys that are nearly one that is read, a line each. Keys of other tools are no mistake. Pure. */
export function mistypedKeys(document: ProgressDocument, text: string, file: string): readonly string[] {
  return [
    ...mistypedIn(document.contents, KEYS),
    ...mistypedIn(document.get("ralph"), LOOP_KEYS),
    ...hooksIn(document.get("per-iteration-hooks")).flatMap((hook) => mistypedIn(hook, HOOK_KEYS)),
  ];

  function mistypedIn(map: unknown, known: readonly string[]): readonly string[] {
    if (!isMap(map)) return [];
    return map.items.flatMap(({ key }) => {
      if (!isScalar(key) || typeof key.value !== "string" || known.includes(key.value)) return [];
      if (!KEY_REGEXP.test(key.value)) return [];
      const near = nearest(key.value, known);
      if (near === null) return [];
      const line = text.slice(0, key.range?.[0]).split("\n").length;
      return [`${file}:${line}: \`${key.value}\` is not read; did you mean \`${near}\`?`];
    });
  }
}

/** The hooks of a list, or of a map of id to fields. */
function hooksIn(hooks: unknown): readonly unknown[] {
  if (isSeq(hooks)) return hooks.items;
  return isMap(hooks) ? hooks.items.map(({ value }) => value) : [];
}
