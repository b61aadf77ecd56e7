import { readFileSync, realpathSync } from "node:fs";
import { join, sep } from "node:path";
import type { PrivateFolder, ShownPath } from "./confinement.ts";
import { copyTarget, ensurePrivateDirectory, pathExists, PRIVATE_FILE, temporaryDirectory } from "./files.ts";
import { entryAt } from "./looks.ts";
import { writeAtomic } from "./write_atomic.ts";

/** Folders that are made for one process, with copies in them; disposed, they are gone. */
export interface PrivateFolders extends AsyncDisposable {
  readonly shown: readonly ShownPath[];
  /** Copies back what is kept and has changed. */
  keep(): Promise<void>;
}

/** A login is small. */
const LARGEST_KEPT = 1024 * 1024;

/** Makes a folder for each, with copies of what is named. */
export async function privateFolders(wanted: readonly PrivateFolder[]): Promise<PrivateFolders> {
  const parent = wanted.length === 0 ? null : await temporaryDirectory("ralph-home-");
  const shown: ShownPath[] = [];
  for (const [index, { at, copy }] of wanted.entries()) {
    const from = join(parent?.path ?? "", String(index));
    await ensurePrivateDirectory(from);
    for (const name of copy) {
      const path = join(at, name);
      if (await pathExists(path)) await copyTarget(path, join(from, name), { times: true });
    }
    shown.push({ from, at });
  }
  return {
    shown,
    async keep() {
      for (const [index, { at, keep }] of wanted.entries()) {
        for (const name of keep) await keepFile(shown[index]?.from ?? "", at, name);
      }
    },
    [Symbol.asyncDispose]: async () => await parent?.[Symbol.asyncDispose](),
  };
}

/** Only what is a small regular file below the folder itself: a process inside may have put links there. */
async function keepFile(from: string, at: string, name: string): Promise<void> {
  const path = join(from, name);
  const found = entryAt(path);
  if (found?.isFile() !== true || found.size > LARGEST_KEPT) return;
  if (!realpathSync(path).startsWith(realpathSync(from) + sep)) return;
  const content = readFileSync(path);
  const target = join(at, name);
  const known = entryAt(target);
  if (known !== undefined && content.equals(readFileSync(target))) return;
  await writeAtomic(target, content, { mode: PRIVATE_FILE });
}
