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

const SETTINGS: readonly (readonly [name: string, value: string])[] = [
  ["user.name", "Ralph's demo"],
  ["user.email", "demo@example.com"],
  ["commit.gpgsign", "false"],
  ["core.hooksPath", ".git/hooks"],
  ["core.autocrlf", "false"],
];

/** `todo.sh` at each point of its story; later commands are added to the earlier ones. */
export function todoScript(...commands: readonly string[]): string {
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
export const ADD = `add) echo "[ ] $2" >>"$file" ;;
`;

/** `todo.sh done N`, as it is written in a hurry: it ticks every item. */
export const DONE_WRONG = `done) sed 's/^\\[ \\]/[x]/' "$file" >"$file.new" && mv "$file.new" "$file" ;;
`;

/** `todo.sh done N` */
export const DONE = `done) sed "$2s/^\\[ \\]/[x]/" "$file" >"$file.new" && mv "$file.new" "$file" ;;
`;

/** `todo.sh left` */
export const LEFT = `left) awk '/^\\[ \\]/ { left++ } END { print left + 0 " of " NR " left" }' "$file" ;;
`;

/** The project's files before Ralph comes. */
export const PROJECT_FILES: Readonly<Record<string, string>> = {
  "README.md": DEMO_README,
  "todo.sh": todoScript(),
  "test.sh": DEMO_TESTS,
};

/** The topics of the demonstration's codebase map. */
export const TOPICS = ["How the list is stored", "How the tests work"] as const;

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
export function codebaseMap(noted: number, today: string): string {
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
    throw new RalphError("git-failed", {
      details,
      hint: "the demonstration needs a git that works in a temporary folder",
    });
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
