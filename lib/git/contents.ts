import type { Host } from "../host/types.ts";
import { createBatchReader } from "./batch_reader.ts";
import { gitFailed, READING } from "./run_git.ts";

const TIMEOUT_MS = 60_000;

/** The text of these files in a commit, in one process; `null` for one that is not there. At most `maxBytes` of each. */
export async function contentsAt(
  { host, topLevel }: { readonly host: Host; readonly topLevel: string },
  commit: string,
  paths: readonly string[],
  maxBytes: number,
): Promise<ReadonlyMap<string, string | null>> {
  const asked = paths.filter((path) => !path.includes("\n")); // a request is a line
  const found = new Map<string, string | null>();
  if (asked.length === 0) return found;
  const take = createBatchReader((content) => {
    found.set(asked[found.size] ?? "", content?.toString("utf8") ?? null);
  }, maxBytes);
  const arguments_ = ["cat-file", "--batch"];
  const end = await host.processes.run({
    file: "git",
    arguments: arguments_,
    cwd: topLevel,
    environment: READING,
    input: asked.map((path) => `${commit}:${path}\n`).join(""),
    guarded: false,
    timeoutMs: TIMEOUT_MS,
    onOutput: (chunk, stream) => {
      if (stream === "stdout") take(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    },
  });
  if (end.exitCode === 0 && found.size === asked.length) return found;
  throw gitFailed(arguments_, end.stderr.trim() || `${found.size} of ${asked.length} files were read`);
}
