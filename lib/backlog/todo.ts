import { listBacklog } from "./list.ts";
import type { Backlog, Check } from "./types.ts";
import { verifyCommands } from "./verify_commands.ts";
import type { StateFiles } from "./state_files.ts";
import { stateMissing } from "../errors/ralph_error.ts";
import { proseLines } from "./fences.ts";

/** The place of the list, and the checks that must pass. */
export interface TodoBacklogOptions {
  /** Relative to the root. @default "TODO.md" */
  readonly file?: string;
  /** Run after every item, before the commands that the item itself names: ``Verify: `cmd` ``. */
  readonly checks?: readonly (string | Check)[];
  /** Attempts an item is given. @default 3 */
  readonly maxRetries?: number;
}

/** An item of a Markdown check list. */
export interface TodoItem {
  /** Number of its line, from 1. */
  readonly line: number;
  /** Without the box. */
  readonly text: string;
  /** The box is ticked. */
  readonly done: boolean;
}

const TODO_REGEXP = /^(\s*[-*+] \[)([ xX])(\] +)(.+?)\s*$/;

/** The check boxes of a Markdown text, those in code fences left out. Pure. */
export function todoItems(text: string): readonly TodoItem[] {
  return proseLines(text).flatMap(({ text: line, number }) => {
    const match = TODO_REGEXP.exec(line);
    return match === null ? [] : [{ line: number, text: match[4] ?? "", done: match[2] !== " " }];
  });
}

/**
 * A Markdown check list as a backlog: `- [ ] Do this` becomes `- [x] Do this` when its checks passed. Its checks are
 * those given here and the commands that the item names, ``- [ ] Do this. Verify: `cmd` ``; where there are none,
 * `verify.default` of the configuration.
 *
 * @example Work off TODO.md
 * ```ts
 * import { runLoop, todoBacklog } from "ralph";
 * import { testContext } from "ralph/testing";
 *
 * await using ralph = await testContext({
 *   files: { "TODO.md": "- [ ] write a.txt\n" },
 *   agent: { turns: [{ write: { "a.txt": "a" }, say: "<ralph>DONE</ralph>" }] },
 * });
 * const run = await runLoop(ralph, todoBacklog(ralph, { checks: ["test -f a.txt"] }));
 * console.log(run.status, await ralph.state.read("TODO.md")); // passed - [x] write a.txt
 * ```
 */
export function todoBacklog(
  { state }: { readonly state: StateFiles },
  options: TodoBacklogOptions = {},
): Backlog<TodoItem> {
  const { file = "TODO.md", checks = [], maxRetries = 3 } = options;

  async function load(): Promise<readonly TodoItem[]> {
    const text = await state.read(file);
    if (text !== null) return todoItems(text);
    throw stateMissing(file, "list what is to be done: `- [ ] task`");
  }

  return listBacklog<TodoItem>({
    name: "todo",
    scope: file,
    stateFiles: [file],
    policy: { retries: maxRetries },
    read: load,
    async write(ids, done) {
      const wanted = (await load()).filter((item) => ids.includes(idOf(item)));
      for (const item of wanted) await state.update(file, (text) => marked(text, item, done ? "[x]" : "[ ]"));
    },
    itemOf: (item) => ({
      id: idOf(item),
      kind: "todo",
      title: titleOf(item),
      prompt: `Do only this: ${item.text}`,
      criteria: [item.text],
      checks: [...checks, ...verifyCommands(item.text).map((command) => ({ name: command, command, own: true }))],
      done: item.done,
    }),
  });
}

function idOf({ line, text }: TodoItem): string {
  return `${line}: ${text}`;
}

/** The task, without the commands that show it. */
function titleOf({ text }: TodoItem): string {
  const title = text.replace(/[\s.,;:]*(?<![\w-])Verify:[ \t]*`.*$/s, "");
  return title === "" ? text : title;
}

/** The text with one item's box ticked or not; a line that says something else by now is left alone. */
function marked(text: string | null, item: TodoItem, box: "[ ]" | "[x]"): string | null {
  return text?.split("\n").map((content, line) => {
    const match = line + 1 === item.line ? TODO_REGEXP.exec(content) : null;
    return match?.[4] === item.text ? content.replace(/\[[ xX]\]/, box) : content;
  }).join("\n") ?? null;
}
