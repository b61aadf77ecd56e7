import type { HookEntry } from "./types.ts";

/** A hook as YAML has it, defaults filled in; `null` for one without id or action. Pure. */
export function hookEntryOf(value: Readonly<Record<string, unknown>>): HookEntry | null {
  const id = value["id"];
  const actions = (["workflow", "prompt", "command"] as const).filter((key) => typeof value[key] === "string");
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
