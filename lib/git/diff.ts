import { join } from "node:path";
import { readStart } from "../host/files.ts";
import { type Git, outputOfGit, READING } from "./run_git.ts";

const MAX_BYTES = 32_768;
/** More would not fit into a command line, nor be read by anybody. */
const MAX_PATHS = 500;

/** A readable diff of the working tree against a commit, new files included. @param base `null`: before the first commit */
export async function diffOf(
  git: Git,
  topLevel: string,
  paths: readonly string[],
  { base: given = "HEAD", maxBytes = MAX_BYTES }: { readonly base?: string | null; readonly maxBytes?: number } = {},
): Promise<string> {
  if (paths.length === 0) return "";
  const shown = paths.slice(0, MAX_PATHS);
  const base = given ?? await emptyTree(git);
  const arguments_ = ["diff", "--no-color", "--no-ext-diff", "--no-renames", base, "--", ...shown];
  let text = await outputOfGit(git, arguments_, { environment: READING, maxBytes: maxBytes + 1 });
  const others = ["ls-files", "-z", "--others", "--", ...shown];
  for (const path of (await outputOfGit(git, others, { environment: READING })).split("\0")) {
    if (path === "" || path.endsWith("/") || text.length > maxBytes) continue;
    text += newFile(path, await readStart(join(topLevel, path), maxBytes - text.length + 1));
  }
  const cut = Buffer.byteLength(text) > maxBytes || paths.length > shown.length;
  return cut ? `${Buffer.from(text).subarray(0, maxBytes).toString("utf8")}\n… (cut)\n` : text;
}

function newFile(path: string, bytes: Uint8Array | null): string {
  const head = `diff --git a/${path} b/${path}\nnew file\n`;
  if (bytes === null) return head;
  if (bytes.includes(0)) return `${head}Binary file b/${path}\n`;
  const text = new TextDecoder().decode(bytes);
  const lines = (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");
  return text === "" ? head : `${head}--- /dev/null\n+++ b/${path}\n${lines.map((line) => `+${line}\n`).join("")}`;
}

async function emptyTree(git: Git): Promise<string> {
  return (await outputOfGit(git, ["hash-object", "-t", "tree", "--stdin"], { environment: READING, input: "" })).trim();
}
