import { verifyCommands } from "../../../backlog/verify_commands.ts";
import type { JsonObject, Task } from "../types.ts";

/** ``Changes tests: `GLOB` ``: a criterion that permits a task to change tests. */
const GRANT_REGEXP = /Changes tests:[ \t]*`[^`]*`[ \t]*[.,;]?/gi;
const TEXTS = ["name", "notes", "accept"] as const;

/** A new task's record without permissions to change tests. Pure. */
export function withoutGrants(record: JsonObject): JsonObject {
  const texts = TEXTS.flatMap((key) => {
    const text = record[key];
    return typeof text === "string" ? [[key, text.replaceAll(GRANT_REGEXP, "").trim()] as const] : [];
  });
  const { changes_tests: _, ...own } = record;
  return { ...own, ...Object.fromEntries(texts) };
}

/** A new task's record with the commands, and the permissions, of the task that it replaces or is the last part of. Pure. */
export function inherited(record: JsonObject, old: Pick<Task, "accept" | "notes">): JsonObject {
  const accept = typeof record["accept"] === "string" ? record["accept"] : "";
  if (accept.trim() === "") return old.accept === "" ? record : { ...record, accept: old.accept };
  const known = verifyCommands(accept);
  const missing = verifyCommands(old.accept).filter((command) => !known.includes(command));
  const grants = [old.accept, old.notes].flatMap((text) => text.match(GRANT_REGEXP) ?? []);
  const added = [
    ...missing.map((command) => command.includes("`") ? `Verify: \`\` ${command} \`\`` : `Verify: \`${command}\``),
    ...grants.filter((grant) => !accept.includes(grant)),
  ];
  return added.length === 0 ? record : { ...record, accept: [accept, ...added].join("\n") };
}
