import { OWN_IDENTITY } from "./refs.ts";
import { outputFrom } from "./run_git.ts";
import type { WithGit } from "./repository.ts";

/** A note to a commit, below a ref of notes. */
export interface Note {
  readonly ref: string;
  readonly text: string;
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
  { tips, now }: { readonly tips: readonly (string | undefined)[]; readonly now: number },
): Promise<void> {
  const who = `${OWN_IDENTITY["GIT_COMMITTER_NAME"]} <${OWN_IDENTITY["GIT_COMMITTER_EMAIL"]}>`;
  const input = notes.map(({ ref, text }, index) => {
    const from = tips[index];
    return [
      `commit ${ref}`,
      `committer ${who} ${Math.floor(now / 1000)} +0000`,
      data(`ralph: ${commit}`),
      ...from === undefined ? [] : [`from ${from}`],
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
