/**
 * The demonstration's project: a to-do list in POSIX shell, with tests for what it cannot do yet.
 *
 * @module
 */
import { join } from "node:path";
import { CODEBASE_MAP_FILE } from "../types.ts";
import { scaffoldExec } from "../scaffold.ts";
import { RalphError } from "../../../errors/ralph_error.ts";
import { temporaryDirectory, writeAtomic } from "../../../host/files.ts";
import type { Host } from "../../../host/types.ts";
import { DEMO_README, DEMO_TESTS } from "../../../generated/demo.ts";
import type { Script, ScriptedTurn } from "../../../agents/scripted/types.ts";

const SETTINGS: readonly (readonly [name: string, value: string])[] = [
  ["user.name", "Ralph's demo"],
  ["user.email", "demo@example.com"],
  ["commit.gpgsign", "false"],
  ["core.hooksPath", ".git/hooks"],
  ["core.autocrlf", "false"],
];

/** `todo.sh` at each point of its story; later commands are added to the earlier ones. */
function todoScript(...commands: readonly string[]): string {
  return `#!/bin/sh
# A to-do list in a text file, one item a line.
set -eu
file=\${TODO_FILE:-todo.txt}

case \${1:-list} in
list) [ ! -f "$file" ] || awk '{ print NR ". " $0 }' "$file" ;;
${commands.join("")}*) echo "todo: unknown command: $1" >&2; exit 2 ;;
esac
`;
}

/** `todo.sh add TEXT` */
const ADD = `add) echo "[ ] $2" >>"$file" ;;
`;

/** `todo.sh done N`, as it is written in a hurry: it ticks every item. */
const DONE_WRONG = `done) sed 's/^\\[ \\]/[x]/' "$file" >"$file.new" && mv "$file.new" "$file" ;;
`;

/** `todo.sh done N` */
const DONE = `done) sed "$2s/^\\[ \\]/[x]/" "$file" >"$file.new" && mv "$file.new" "$file" ;;
`;

/** `todo.sh left` */
const LEFT = `left) awk '/^\\[ \\]/ { left++ } END { print left + 0 " of " NR " left" }' "$file" ;;
`;

/** The project's files before Ralph comes. */
const PROJECT_FILES: Readonly<Record<string, string>> = {
  "README.md": DEMO_README,
  "todo.sh": todoScript(),
  "test.sh": DEMO_TESTS,
};

/** The topics of the demonstration's codebase map. */
const TOPICS = ["How the list is stored", "How the tests work"] as const;

const NOTES: readonly (readonly string[])[] = [
  [
    "- **Summary**: one item a line in `todo.txt`, or in the file that `TODO_FILE` names",
    "- **Evidence**:",
    "  - `todo.sh:4`: `file=${TODO_FILE:-todo.txt}`",
    "- **Conventions and invariants**: `[ ] ` in front of an open item, `[x] ` in front of one that is done; numbers are line numbers",
  ],
  [
    "- **Summary**: `sh test.sh NAME` runs one test on a list of its own; `sh test.sh` runs all",
    "- **Evidence**:",
    "  - `test.sh`: `check` compares and prints what was expected and what came",
    "- **Risks**: none seen",
  ],
];

/** The codebase map when the first `noted` topics are described. */
function codebaseMap(noted: number, today: string): string {
  const topics = TOPICS.map((topic, index) => `- [${index < noted ? "x" : " "}] ${topic}`);
  const notes = TOPICS.slice(0, noted).flatMap((topic, index) => ["", `## ${today} - ${topic}`, "", ...NOTES[index]!]);
  return ["# Codebase Map", "", "## Next Topics", "", ...topics, ...notes, ""].join("\n");
}

/**
 * Makes the demonstration's repository in a temporary folder, which is left there.
 *
 * @returns its absolute path
 * @throws {RalphError} git-missing, git-failed
 */
export async function makeProject(host: Host, today: string): Promise<string> {
  const { path } = await temporaryDirectory("ralph-demo-");

  async function git(...arguments_: readonly string[]): Promise<void> {
    const end = await host.processes.run({ file: "git", arguments: arguments_, cwd: path, guarded: false });
    if (end.reason === "not-found") throw new RalphError("git-missing");
    if (end.exitCode === 0) return;
    const details = { command: arguments_.join(" "), reason: end.tail.trim() };
    const hint = "the demonstration needs a git that works in a temporary folder";
    throw new RalphError("git-failed", { details, hint });
  }

  async function commit(subject: string): Promise<void> {
    await git("add", "--all");
    await git("commit", "--quiet", "--message", subject);
  }

  await git("init", "--quiet");
  await git("symbolic-ref", "HEAD", "refs/heads/main");
  for (const [name, value] of SETTINGS) await git("config", name, value);
  for (const [name, content] of Object.entries(PROJECT_FILES)) await writeAtomic(join(path, name), content);
  await commit("A to-do list, with tests for commands that no one has written yet");
  await scaffoldExec(path);
  await writeAtomic(join(path, CODEBASE_MAP_FILE), codebaseMap(0, today));
  await commit("ralph init");
  return path;
}

/** The goal that the demonstration builds. */
export const GOAL = "add the commands `add`, `done` and `left` to the to-do list";

/** The planner's questions, each with the answer that is used, or suggested, in the demonstration. */
export const QUESTIONS: readonly { readonly question: string; readonly answer: string }[] = [
  { question: "What should `done` do with an item: tick it, or take it away?", answer: "tick it" },
  { question: "I found `sh test.sh`. Is it what must pass in the end?", answer: "yes, all of it" },
];

const DRAFT = {
  branchName: "ralph/todo-commands",
  userStories: [
    story(1, "Add items", ["`sh todo.sh add TEXT` appends an open item", "Verify: `sh test.sh add`"]),
    story(2, "Tick items off", ["`sh todo.sh done N` ticks item N and no other", "Verify: `sh test.sh done`"]),
    story(3, "Count what is left", [
      "`sh todo.sh left` prints how many items are open",
      "Verify: `sh test.sh left`",
      "Verify: `sh test.sh`",
    ]),
  ],
};

const PLAN = "# Plan: from a goal to a PRD";
const UNDERSTAND = "# Understand one topic";
const IMPLEMENT = "# Implement one story";
const COMPLETE = "<promise>COMPLETE</promise>";

/**
 * The scripted agent's turns in the demonstration. It claims too early once, as agents do.
 *
 * @param today local day, `YYYY-MM-DD`
 * @param pause seconds that each turn takes, for a person who watches
 */
export function demoScript(today: string, pause: number): Script {
  const turns: readonly ScriptedTurn[] = [
    { match: PLAN, say: envelope(QUESTIONS.map(({ question }) => question), null) },
    { match: PLAN, times: "any", say: envelope([], DRAFT) },
    ...TOPICS.map((topic, index): ScriptedTurn => ({
      match: [UNDERSTAND, topic],
      write: { [CODEBASE_MAP_FILE]: codebaseMap(index + 1, today) },
      say: [`Noted: ${topic}.`, COMPLETE],
    })),
    implement("US-001", todoScript(ADD), "`add` works."),
    implement("US-002", todoScript(ADD, DONE_WRONG), "`done` works, I am sure of it."),
    implement(
      "US-002",
      todoScript(ADD, DONE),
      "The test showed that every item was ticked: now only item N is.",
      "2. [x] bread",
    ),
    implement("US-003", todoScript(ADD, DONE, LEFT), "`left` works."),
  ];
  return { turns: turns.map((turn) => ({ ...turn, delay: pause })) };
}

function implement(id: string, content: string, words: string, seen?: string): ScriptedTurn {
  const match = [IMPLEMENT, id, ...(seen === undefined ? [] : [seen])];
  return { match, write: { "todo.sh": content }, say: [words, COMPLETE] };
}

function envelope(questions: readonly string[], prdDraft: unknown): string {
  return JSON.stringify(
    {
      questions,
      uncertainties: [],
      prdDraft,
      recommendUnderstand: { shouldRun: true, reasons: ["no one has described this code yet"] },
    },
    null,
    2,
  );
}

function story(number: number, title: string, acceptanceCriteria: readonly string[]): unknown {
  return { id: `US-00${number}`, title, acceptanceCriteria, priority: number, passes: false, notes: "" };
}
