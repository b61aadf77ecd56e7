import type { $Type } from "dax";
import { RalphError } from "../errors/ralph_error.ts";
import type { Check, CheckContext, CheckExpectation } from "../backlog/types.ts";
import { isCommand } from "./function.ts";
import type { CheckLike, CommandLike } from "./types.ts";

/** A check in one form: a command for the shell, or a function that looks or builds a command. */
export interface Runnable {
  readonly name: string;
  readonly scope?: string;
  readonly timeoutMs?: number;
  readonly run?: ((context: CheckContext, $: $Type) => unknown) | undefined;
  readonly command?: string | undefined;
  readonly expect?: CheckExpectation | undefined;
  readonly review?: boolean;
}

const CHECK_FORMS = "a command, a dax command, a function, or `{ name, command }` or `{ name, run }`";
const NAME_LENGTH = 60;

/**
 * Names each check: a command by its text, a function by its name or the beginning of its source. A name that is taken
 * by another function gets a number.
 *
 * @throws {RalphError} option-invalid for what is no check
 */
export function toRunnables(checks: readonly CheckLike[]): readonly Runnable[] {
  const counts = new Map<string, number>();
  return checks.map((like) => {
    const runnable = toRunnable(like);
    if (typeof like !== "function") return runnable;
    const count = (counts.get(runnable.name) ?? 0) + 1;
    counts.set(runnable.name, count);
    return count === 1 ? runnable : { ...runnable, name: `${runnable.name} (${count})` };
  });
}

function toRunnable(like: CheckLike): Runnable {
  if (typeof like === "string") return { name: like, command: like };
  if (typeof like === "function") {
    return { name: like.name || shortened(String(like)), run: (context, $) => like($, context) };
  }
  if (isCommand(like)) return { name: shortened(textOf(like)), run: () => like };
  if (isCheck(like)) return like;
  throw new RalphError("option-invalid", {
    details: { option: "a check", expected: CHECK_FORMS, value: JSON.stringify(like) ?? typeof like },
    hint: "docs/guides/recipes.md shows each form",
  });
}

/** Recipes in JavaScript reach this too, so that the type alone proves nothing. */
function isCheck(like: unknown): like is Check {
  const { name, run, command } = (like ?? {}) as Partial<Record<keyof Check, unknown>>;
  return typeof name === "string" && (typeof run === "function" || typeof command === "string");
}

function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length <= NAME_LENGTH ? line : `${line.slice(0, NAME_LENGTH - 1)}…`;
}

/** The text of a dax command: it gives that to its logger only, before it starts anything. */
function textOf(command: CommandLike): string {
  let text = "command";
  const stop = new Error("only the text is wanted");
  const copy = command.printCommand().tailDisplay(false);
  copy.setPrintCommandLogger((printed) => {
    text = printed;
    throw stop;
  });
  try {
    void copy.spawn();
  } catch (error) {
    if (error !== stop) throw error;
  }
  return text;
}
