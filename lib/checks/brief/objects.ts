import type { RalphContext } from "../../context/context.ts";
import { requireRepository } from "../../git/repository.ts";
import { createGit, lineFrom } from "../../git/run_git.ts";

/** Writes files as git objects, unfiltered. @returns the object of each file, by its absolute path */
export async function writeObjects(
  ralph: Pick<RalphContext, "repository" | "root">,
  files: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const named = files.filter((file) => !file.includes("\n")); // a request is a line
  if (named.length === 0) return new Map();
  const arguments_ = ["hash-object", "-w", "--no-filters", "--stdin-paths"];
  const input = named.map((file) => `${file}\n`).join("");
  const objects = (await lineFrom(requireRepository(ralph), arguments_, { input })).split("\n");
  return new Map(named.map((file, index) => [file, objects[index] ?? ""]));
}

/** The bytes of a git object, or `null` when it is gone. */
export async function readObject(
  { host, ...ralph }: Pick<RalphContext, "host" | "repository" | "root">,
  object: string,
): Promise<Uint8Array | null> {
  const chunks: Buffer[] = [];
  const onOutput = (chunk: Buffer): void => void chunks.push(Buffer.from(chunk));
  const git = createGit(host, requireRepository(ralph).topLevel);
  const { exitCode } = await git(["cat-file", "blob", object], { onOutput });
  return exitCode === 0 ? Buffer.concat(chunks) : null;
}
