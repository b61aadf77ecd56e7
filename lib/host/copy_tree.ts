import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { failedAt } from "./file_errors.ts";
import { ensureDirectory, removeOwn } from "./files.ts";
import { entryAt } from "./looks.ts";
import type { Host } from "./types.ts";

/** `cp` keeps modes, times, links and names that are not UTF-8, and shares blocks where the file system can. */
const CP: Readonly<Record<string, readonly string[]>> = { linux: ["-a", "--reflink=auto"], darwin: ["-a", "-c"] };

/**
 * Copies a file or a folder to a path, in place of what Ralph has put there. Never by hard links: a file that is later edited in
 * place would change in both.
 *
 * @param below a folder of Ralph's own that `to` is in
 * @param signal ends it: nobody needs the copy any more
 * @throws {RalphError} file-unwritable
 */
export async function copyTree(
  { processes, environment }: Host,
  from: string,
  to: string,
  below: string,
  signal?: AbortSignal,
): Promise<void> {
  await removeOwn(to, below);
  await ensureDirectory(dirname(to));
  const flags = CP[environment.platform];
  if (flags !== undefined) {
    const ended = signal === undefined ? {} : { signal };
    const end = await processes.run({ file: "cp", arguments: [...flags, "--", from, to], cwd: dirname(to), ...ended });
    if (end.exitCode === 0 || end.reason === "aborted") return;
    await removeOwn(to, below);
  }
  const how = { recursive: true, verbatimSymlinks: true, preserveTimestamps: true };
  await process.getBuiltinModule("node:fs/promises").cp(from, to, how).catch(failedAt(to));
}

/** Paths that differ between two files or folders by kind, mode, content or link; a folder that one lacks is one path. */
export function treeDifferences(one: string, other: string): readonly string[] {
  const found: string[] = [];
  const visit = (name: string): void => {
    const [left, right] = [join(one, name), join(other, name)];
    if (differs(left, right)) return void found.push(name);
    if (!entryAt(left)?.isDirectory()) return;
    for (const child of new Set([...readdirSync(left), ...readdirSync(right)])) {
      visit(name === "" ? child : `${name}/${child}`);
    }
  };
  visit("");
  return found.sort();
}

function differs(left: string, right: string): boolean {
  const [a, b] = [left, right].map((path) => entryAt(path));
  if (a === undefined || b === undefined) return a !== b;
  if (a.mode !== b.mode) return true;
  if (a.isSymbolicLink()) return readlinkSync(left) !== readlinkSync(right);
  return a.isFile() && (a.size !== b.size || !readFileSync(left).equals(readFileSync(right)));
}
