import { OWN_IDENTITY } from "./refs.ts";
import { outputFrom } from "./run_git.ts";
import type { WithGit } from "./repository.ts";

/** A note to a commit, below a ref of notes. */
export interface Note {
  readonly ref: string;
  readonly text: string;
}

/** The hash of what a name leads to, each; `null` where there is nothing. One process. */
export async function namesToIds(repository: WithGit, names: readonly string[]): Promise<readonly (string | null)[]> {
  const input = names.map((name) => `${name}\n`).join("");
  const listed = await outputFrom(repository, ["cat-file", "--batch-check=%(objectname)"], { input });
  return listed.split("\n").slice(0, names.length).map((line) => /^[0-9a-f]{40,}$/.test(line) ? line : null);
}

/**
 * Writes notes to a commit in place of older ones, all in one process.
 *
 * @param tips the present ends of their refs
 * @throws {RalphError} git-failed, also where another tool has written one meanwhile
 */
export async function writeNotes(
  repository: WithGit,
  commit: string,
  notes: readonly Note[],
  { tips, now }: { readonly tips: readonly (string | null)[]; readonly now: number },
): Promise<void> {
  const who = `${OWN_IDENTITY["GIT_COMMITTER_NAME"]} <${OWN_IDENTITY["GIT_COMMITTER_EMAIL"]}>`;
  const input = notes.map(({ ref, text }, index) => {
    const from = tips[index] ?? null;
    return [
      `commit ${ref}`,
      `committer ${who} ${Math.floor(now / 1000)} +0000`,
      data(`ralph: ${commit}`),
      ...from === null ? [] : [`from ${from}`],
      `N inline ${commit}`,
      data(text),
      "",
    ].join("\n");
  }).join("");
  await outputFrom(repository, ["fast-import", "--quiet", "--done", "--date-format=raw"], { input: `${input}done\n` });
}

function data(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}`;
}

/** The note of a commit; `null` where it has none. */
export async function noteAt(repository: WithGit, ref: string, commit: string): Promise<string | null> {
  const { exitCode, stdout } = await repository.git(["notes", `--ref=${ref}`, "show", commit]);
  return exitCode === 0 ? stdout : null;
}

/** The commits whose notes below a ref hold a text. */
export async function commitsNoted(repository: WithGit, ref: string, part: string): Promise<readonly string[]> {
  const { exitCode, stdout } = await repository.git(["grep", "-l", "--no-color", "-F", "-e", part, ref]);
  if (exitCode !== 0) return [];
  return stdout.split("\n").filter((line) => line !== "").map((line) => line.slice(ref.length + 1).replaceAll("/", ""));
}
