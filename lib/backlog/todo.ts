import { howToEnd } from "./signals.ts";
import type { Backlog, Check } from "./types.ts";
import { verifyCommands } from "./verify_commands.ts";
import type { StateFiles } from "./state_files.ts";

/** Where the list is and what must pass. */
export interface TodoBacklogOptions {
  /** Relative to the root. @default "TODO.md" */
  readonly file?: string;
  /** Run after every item, before the commands that the item itself names: ``Verify: `cmd` ``. */
  readonly checks?: readonly (string | Check)[];
  /** Attempts an item is given. @default 3 */
  readonly maxRetries?: number;
}

/** An item of a Markdown list: its line's number (from 0) and its text. */
export interface TodoItem {
  /** From 1. */
  readonly line: number;
  /** Without the box. */
  readonly text: string;
  /** The box is ticked. */
  readonly done: boolean;
}

const TODO_REGEXP = /^(\s*[-*+] \[)([ xX])(\] +)(.+?)\s*$/;
const FENCE_REGEXP = /^\s*(```|~~~)/;

/** The check boxes of a Markdown text, those in code fences left out. Pure. */
export function todoItems(text: string): readonly TodoItem[] {
  const items: TodoItem[] = [];
  let fenced = false;
  for (const [line, content] of text.split("\n").entries()) {
    if (FENCE_REGEXP.test(content)) fenced = !fenced;
    const match = fenced ? null : TODO_REGEXP.exec(content);
    if (match !== null) items.push({ line, text: match[4] ?? "", done: match[2] !== " " });
  }
  return items;
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
  const load = async (): Promise<readonly TodoItem[]> => todoItems(await state.read(file) ?? "");

  return {
    name: "todo",
    scope: file,
    stateFiles: [file],
    unverified: "block",
    async overview({ parked }) {
      const items = await load();
      const open = items.filter(({ done }) => !done).map(idOf);
      const given = open.filter((id) => parked.some((item) => item.id === id));
      const left = open.filter((id) => !given.includes(id));
      const named = items.filter(({ text }) => verifyCommands(text).length > 0).map(idOf);
      const unchecked = checks.length === 0 ? left.filter((id) => !named.includes(id)) : [];
      return {
        total: items.length,
        passed: items.length - open.length,
        open: left.length,
        parked: given.length,
        unchecked,
      };
    },
    async next({ inFlight, parked }) {
      const open = (await load()).filter(({ done }) => !done);
      const item = open.find((one) => !inFlight.includes(idOf(one)) && !parked.some(({ id }) => id === idOf(one)));
      if (item !== undefined) {
        return {
          status: "item",
          item: { id: idOf(item), kind: "todo", title: titleOf(item), criteria: [item.text], data: item },
        };
      }
      if (inFlight.length > 0) return { status: "waiting" };
      if (open.length > 0) return { status: "blocked", reasons: parked.map(({ id, reason }) => `${id}: ${reason}`) };
      return { status: "done", verdict: "verified" };
    },
    async work(item, { nonce, previous }) {
      const failure = previous !== null && "message" in previous
        ? `\n\nThe last attempt failed:\n${previous.message}`
        : "";
      return {
        prompt: `Do this and nothing else: ${item.data.text}${failure}\n\n${howToEnd(nonce)}`,
        checks: [...checks, ...verifyCommands(item.data.text)].map((check) =>
          typeof check === "string" ? { name: check, command: check } : check
        ),
      };
    },
    async settle(item, attempt) {
      if (attempt.status === "verified" || attempt.status === "unverified") {
        await state.update(file, (text) => marked(text, item.data, true));
        return { status: "passed", commit: { subject: `feat: ${item.title}`, paths: [file], work: true } };
      }
      if (attempt.status === "interrupted") return { status: "open" };
      await state.update(file, (text) => marked(text, item.data, false)); // a pass is taken back when its commit was refused
      const reason = "message" in attempt ? attempt.message : attempt.status;
      const given = attempt.status === "blocked" || attempt.number >= maxRetries;
      return given ? { status: "parked", reason } : { status: "open", reason };
    },
  };
}

function idOf({ line, text }: TodoItem): string {
  return `${line + 1}: ${text}`;
}

/** What is to be done, without the commands that show it. */
function titleOf({ text }: TodoItem): string {
  const title = text.replace(/[\s.,;:]*(?<![\w-])Verify:[ \t]*`.*$/s, "");
  return title === "" ? text : title;
}

/** The text with one item's box ticked or not; a line that says something else by now is left alone. */
function marked(text: string | null, item: TodoItem, done: boolean): string | null {
  return text?.split("\n").map((content, line) => {
    const match = line === item.line ? TODO_REGEXP.exec(content) : null;
    return match?.[4] === item.text ? content.replace(/\[[ xX]\]/, done ? "[x]" : "[ ]") : content;
  }).join("\n") ?? null;
}
