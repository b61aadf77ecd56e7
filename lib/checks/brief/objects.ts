import type { RalphContext } from "../../context/context.ts";
import { requireRepository } from "../../git/require_repository.ts";
import { gitFailed, READING } from "../../git/run_git.ts";
import { createBatchReader } from "../../git/batch_reader.ts";

/** Writes files as git objects, unfiltered. @returns the object of each file, by its absolute path */
export async function writeObjects(
  ralph: Pick<RalphContext, "repository" | "root">,
  files: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const named = files.filter((file) => !file.includes("\n")); // a request is a line
  if (named.length === 0) return new Map();
  const arguments_ = ["hash-object", "-w", "--no-filters", "--stdin-paths"];
  const end = await requireRepository(ralph).git(arguments_, { input: named.map((file) => `${file}\n`).join("") });
  if (end.exitCode !== 0) throw gitFailed(arguments_, end.stderr);
  const objects = end.stdout.trim().split("\n");
  return new Map(named.map((file, index) => [file, objects[index] ?? ""]));
}

/** The bytes of a git object, or `null` when it is gone. */
export async function readObject(
  { host, ...ralph }: Pick<RalphContext, "host" | "repository" | "root">,
  object: string,
): Promise<Uint8Array | null> {
  let content: Uint8Array | null = null;
  const take = createBatchReader((bytes) => void (content = bytes));
  await host.processes.run({
    file: "git",
    arguments: ["cat-file", "--batch"],
    cwd: requireRepository(ralph).topLevel,
    environment: READING,
    input: `${object}\n`,
    guarded: false,
    onOutput: (chunk, stream) => {
      if (stream === "stdout") take(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    },
  });
  return content;
}
