import type { Check } from "../backlog/types.ts";
import { isCommand } from "./function.ts";
import type { CheckLike } from "./types.ts";

/** A command, or a check with a name, as the latter; `null` for a function or a dax command, of which nothing is known. */
export function namedCheck(like: CheckLike): Check | null {
  if (typeof like === "string") return { name: like, command: like };
  return typeof like === "object" && like !== null && !isCommand(like) ? like : null;
}
