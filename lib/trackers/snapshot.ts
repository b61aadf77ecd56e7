/**
 * The issues as they were read last, under a ref: what `ralph status` shows without asking the host.
 *
 * @module
 */
import { ownCommit } from "../git/refs.ts";
import type { WithGit } from "../git/repository.ts";
import { lineFrom, outputFrom } from "../git/run_git.ts";
import { jsonIn } from "../host/data.ts";
import { hashText } from "../host/files.ts";
import type { Issue } from "./types.ts";

const FILE = "issues.json";

function refOf(tracker: string): string {
  return `refs/ralph/tracker/${hashText(tracker).slice(0, 16)}`;
}

/** Keeps the issues. @param tracker `github owner/name` */
export async function keepSnapshot(repository: WithGit, tracker: string, issues: readonly Issue[]): Promise<void> {
  const blob = await lineFrom(repository, ["hash-object", "-w", "--stdin"], { input: JSON.stringify(issues) });
  const tree = await lineFrom(repository, ["mktree"], { input: `100644 blob ${blob}\t${FILE}\n` });
  const commit = await ownCommit(repository, tree, { parents: [], message: `ralph: issues of ${tracker}` });
  await outputFrom(repository, ["update-ref", refOf(tracker), commit]);
}

/** The issues that were kept; `null` where none were. */
export async function readSnapshot({ git }: WithGit, tracker: string): Promise<readonly Issue[] | null> {
  const { exitCode, stdout } = await git(["cat-file", "blob", `${refOf(tracker)}:${FILE}`]);
  const issues = exitCode === 0 ? jsonIn(stdout) : null;
  return Array.isArray(issues) ? issues as readonly Issue[] : null;
}
