import { note, type RalphContext } from "../../context/context.ts";
import { type FeatureDirectory, FEATURES_FOLDER, listFeatures, matchFeature, scaffoldFeature } from "./directories.ts";
import { parseFeaturePrd } from "./format.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import { commitAt } from "../../git/refs.ts";
import type { Repository } from "../../git/repository.ts";
import { readText, resolveInside } from "../../host/files.ts";
import { usage } from "../../cli/command.ts";
import { readOrError } from "../read_or_error.ts";
import { join } from "node:path";
import { takeLock } from "../../host/lock.ts";

/**
 * The directory of a feature. Without a name the only one that is not finished, and a note says so.
 *
 * @throws {RalphError} feature-missing, usage
 *
 * @example Open the only feature there is
 * ```ts
 * import { openFeature } from "ralph/feature";
 * import { testContext } from "ralph/testing";
 *
 * await using ralph = await testContext({ files: { ".ralph/2026-01-31-hello/prd.md": "# Hello\n" } });
 * const { path } = await openFeature(ralph);
 * console.log(path); // .ralph/2026-01-31-hello
 * ```
 */
export async function openFeature(
  ralph: Pick<RalphContext, "events" | "repository" | "root">,
  name = "",
): Promise<FeatureDirectory> {
  return await findFeature({ ...ralph, say: (text) => note(ralph, "info", text) }, name);
}

/**
 * The same for commands that only look; `say` is told which one it is where it is not named.
 *
 * @throws {RalphError} feature-missing, usage
 */
export async function findFeature(
  { root, repository, say }: Pick<RalphContext, "repository" | "root"> & { readonly say: (text: string) => void },
  name: string,
): Promise<FeatureDirectory> {
  const features = await listFeatures(root);
  if (name !== "") {
    const feature = matchFeature(features, name);
    if (feature !== null) return feature;
    throw await featureMissing(name, features, repository);
  }
  const open: FeatureDirectory[] = [];
  for (const feature of features) if (!await isFinished(root, feature)) open.push(feature);
  const candidates = open.length > 0 ? open : features;
  const [feature, other] = candidates;
  if (feature === undefined) throw usage("there is no feature here yet", "`ralph prd FEATURE` begins one");
  if (other !== undefined) {
    const names = candidates.map((one) => one.name).join(", ");
    const problem = `${candidates.length} features are ${open.length > 0 ? "not finished" : "there"}: ${names}`;
    throw usage(`which feature? ${problem}`, `name one, such as \`ralph run ${feature.name}\``);
  }
  const why = open.length > 0 ? "the only one that is not finished" : "the only one there is";
  say(`feature ${feature.name} (${why})`);
  return feature;
}

async function isFinished(root: string, { prdFile }: FeatureDirectory): Promise<boolean> {
  const text = await readText(join(root, prdFile));
  if (text === null) return false;
  const { value: prd } = await readOrError(() => parseFeaturePrd(text, prdFile)); // an error is reported when it is opened
  return prd !== null && prd.userStories.every(({ passes }) => passes) && typeof prd.run.verifiedAt === "string";
}

/** The error for a feature that is not there. */
export async function featureMissing(
  name: string,
  features: readonly FeatureDirectory[],
  repository: Repository | null,
): Promise<RalphError> {
  const branch = `ralph/${name}`;
  const elsewhere = repository === null ? null : await commitAt(repository, `refs/heads/${branch}`);
  const problem = features.length === 0
    ? "`.ralph/` holds none"
    : `there are: ${[...new Set(features.map((one) => one.name))].join(", ")}`;
  const hint = elsewhere !== null
    ? `\`ralph prd ${name}\` begins it; or switch to the branch ${branch}, which may hold it`
    : `\`ralph prd ${name}\` begins it`;
  return new RalphError("feature-missing", { details: { name, problem, hint } });
}

/**
 * Holds `.ralph/ralph.lock` and the feature's `prd.json.lock`, beside the run lock: other programs that know the format
 * look for them. A dead holder's lock is taken over.
 *
 * @throws {RalphError} run-locked, path-outside-root
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
    const lock = await takeLock(await resolveInside(root, path), { purpose: `run ${feature.name}`, host });
    if (lock.status === "busy") {
      await release();
      const { pid, since, purpose } = lock.holder;
      throw new RalphError("run-locked", { details: { purpose, pid, startedAt: since } });
    }
    held.push(lock.release);
  }
  return { [Symbol.asyncDispose]: release };
}
