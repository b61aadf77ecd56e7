import { join } from "node:path";
import { type FeatureDirectory, FEATURES_FOLDER, scaffoldFeature } from "./directories.ts";
import type { RalphContext } from "../../context/context.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import { takeLock } from "../../host/lock.ts";

/**
 * Holds `.ralph/ralph.lock` and the feature's `prd.json.lock`, beside the run lock: other programs that know the format
 * look for them. A dead holder's lock is taken over.
 *
 * @throws {RalphError} run-locked
 *
 * @example Keep other runs away from a feature
 * ```ts
 * import { lockFeature, openFeature } from "ralph/feature";
 * import { testContext } from "ralph/testing";
 *
 * await using ralph = await testContext({ files: { ".ralph/2026-01-31-hello/prd.md": "# Hello\n" } });
 * await using _lock = await lockFeature(ralph, await openFeature(ralph));
 * ```
 */
export async function lockFeature(
  { host, root }: Pick<RalphContext, "host" | "root">,
  feature: FeatureDirectory,
): Promise<AsyncDisposable> {
  await scaffoldFeature(root);
  const held: (() => Promise<void>)[] = [];
  const release = async (): Promise<void> => {
    for (const letGo of held.splice(0).toReversed()) await letGo();
  };
  for (const path of [`${FEATURES_FOLDER}/ralph.lock`, `${feature.prdFile}.lock`]) {
    const lock = await takeLock(join(root, path), { purpose: `run ${feature.name}`, host });
    if (lock.status === "busy") {
      await release();
      const { pid, since, purpose } = lock.holder;
      throw new RalphError("run-locked", { details: { purpose, pid, startedAt: since } });
    }
    held.push(lock.release);
  }
  return { [Symbol.asyncDispose]: release };
}
