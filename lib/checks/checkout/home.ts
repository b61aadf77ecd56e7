import { basename, join } from "node:path";
import { RalphError } from "../../errors/ralph_error.ts";
import { hashText, listDirectory, pathExists, readText, removePath, writePlain } from "../../host/files.ts";
import { takeLock } from "../../host/lock.ts";
import type { Host } from "../../host/types.ts";

/** The folder of one repository's checkout, ours until it is disposed of. Paths are absolute. */
export interface CheckoutHome extends AsyncDisposable {
  readonly path: string;
  /** The working tree of the checkout. */
  readonly tree: string;
  /** The folder of all homes. */
  readonly cache: string;
}

/** Takes the folder that is kept for a repository, or one for this time where another process uses that. */
export async function takeHome(host: Host, topLevel: string): Promise<CheckoutHome> {
  const { variables, home } = host.environment;
  const cache = join(variables["XDG_CACHE_HOME"] || join(home, ".cache"), "checkouts");
  await sweepHomes(host, cache);
  const name = hashText(topLevel).slice(0, 16);
  const kept = await lockOf(host, join(cache, name));
  const path = kept.status === "held" ? join(cache, name) : join(cache, `${name}-${host.ids.random(6)}`);
  const lock = kept.status === "held" ? kept : await lockOf(host, path);
  await writePlain(join(path, "root"), topLevel);
  return {
    path,
    tree: join(path, "tree", basename(topLevel)),
    cache,
    async [Symbol.asyncDispose]() {
      if (kept.status === "busy") await removePath(path);
      if (lock.status === "held") await lock.release();
    },
  };
}

/** Removes what is kept for repositories that are gone, and what a killed process left. */
async function sweepHomes(host: Host, cache: string): Promise<void> {
  for (const name of await listDirectory(cache)) {
    const path = join(cache, name);
    const root = await readText(join(path, "root"));
    if (root === null || !name.includes("-") && await pathExists(root)) continue;
    await sweepHome(host, path);
  }
}

/** Another process may remove it, or take it, at the same time: what cannot be removed now is left for the next sweep. */
async function sweepHome(host: Host, path: string): Promise<void> {
  try {
    const lock = await lockOf(host, path);
    if (lock.status !== "held") return;
    await removePath(path);
    await lock.release();
  } catch (error) {
    if (
      !RalphError.isInstance(error) && !["ENOENT", "ENOTEMPTY"].includes((error as NodeJS.ErrnoException).code ?? "")
    ) {
      throw error;
    }
  }
}

function lockOf(host: Host, path: string): ReturnType<typeof takeLock> {
  return takeLock(join(path, "lock"), { purpose: "checkout", host });
}
