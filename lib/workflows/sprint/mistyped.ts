/**
 * Keys of SPRINT.yaml and of a workflow's file that were hardly meant so. Loads the YAML library: import it when a sprint
 * is at hand.
 *
 * @module
 */
import { isMap, isScalar, isSeq } from "yaml";
import { nearest } from "../../errors/ralph_error.ts";
import type { ProgressDocument } from "./document.ts";
import { HOOK_KEYS } from "./hook_definitions.ts";
import { lineOf } from "./nodes.ts";

/** Ralph reads these keys of SPRINT.yaml and of a workflow's file. */
const KEYS = ["workflow", "mode", "goal", "sprint-id", "ralph", "per-iteration-hooks"];
const PROMPTS = ["goal-prompt", "step-prompt", "reflection-prompt"];
const LOOP_KEYS = ["idle-threshold", "min-iterations"];

/** A key that a person may have mistyped: a message repeats nothing else. */
const KEY_REGEXP = /^[\w-]{1,40}$/;

/** Keys that are nearly one that is read, a line each. Keys of other tools are no mistake. Pure. */
export function mistypedKeys(document: ProgressDocument, text: string, file: string): readonly string[] {
  const hooks = document.get("per-iteration-hooks");
  const named = isMap(hooks) ? hooks.items.map(({ value }) => value) : [];
  return [
    ...mistypedIn(document.contents, [...KEYS, ...PROMPTS]),
    ...mistypedIn(document.get("ralph"), LOOP_KEYS),
    ...(isSeq(hooks) ? hooks.items : named).flatMap((hook) => mistypedIn(hook, HOOK_KEYS)),
  ];

  function mistypedIn(map: unknown, known: readonly string[]): readonly string[] {
    if (!isMap(map)) return [];
    return map.items.flatMap(({ key }) => {
      if (!isScalar(key) || typeof key.value !== "string" || known.includes(key.value)) return [];
      const near = KEY_REGEXP.test(key.value) ? nearest(key.value, known) : null;
      return near === null
        ? []
        : [`${file}:${lineOf(text, key)}: \`${key.value}\` is not read; did you mean \`${near}\`?`];
    });
  }
}
