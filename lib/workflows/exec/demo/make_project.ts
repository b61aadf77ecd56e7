import { join } from "node:path";
import { CODEBASE_MAP_FILE } from "../paths.ts";
import { scaffoldExec } from "../scaffold.ts";
import { RalphError } from "../../../errors/ralph_error.ts";
import { temporaryDirectory, writeAtomic } from "../../../host/files.ts";
import type { Host } from "../../../host/types.ts";
import { codebaseMap, PROJECT_FILES } from "./project.ts";

const SETTINGS: readonly (readonly [name: string, value: string])[] = [
  ["user.name", "Ralph's demo"],
  ["user.email", "demo@example.com"],
  ["commit.gpgsign", "false"],
  ["core.hooksPath", ".git/hooks"],
  ["core.autocrlf", "false"],
];

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
