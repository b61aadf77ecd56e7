import { posix } from "node:path";
import type { Check } from "../backlog/types.ts";
import { describeFailures } from "../backlog/verdict.ts";
import { commitOfTree } from "../checks/check_tree.ts";
import { openCheckout } from "../checks/checkout/open_checkout.ts";
import { verify } from "../checks/verify.ts";
import { CONFIG_FILE } from "../config/load.ts";
import type { Config } from "../config/types.ts";
import type { RalphContext } from "../context/context.ts";
import { RalphError } from "../errors/ralph_error.ts";
import { requireRepository } from "../git/require_repository.ts";
import { topLevelPaths } from "../git/tree_paths.ts";
import type { Repository } from "../git/types.ts";

/** What is judged, and from when on. */
export interface VerdictSinceOptions {
  /** Commit whose configuration and tests judge. @default the merge base with the default branch */
  readonly base?: string;
  /** Commit that is judged. @default what would be committed now */
  readonly head?: string;
  /** Commands beside those of the base's `verify.default`. */
  readonly checks?: readonly string[];
  /** Milliseconds that one check may take. @default what the base's `verify.timeout` says */
  readonly timeoutMs?: number;
  /** Absolute path of a folder for the checks' output. @default the run's own */
  readonly logs?: string;
  /** Ends the checks. @default the context's */
  readonly signal?: AbortSignal;
}

/** What the work since a commit comes to. */
export interface VerdictSince {
  readonly status: "passed" | "failed" | "unverified" | "aborted";
  readonly base: string;
  /** What failed, or what is to be known of a pass. */
  readonly reasons: readonly string[];
}

/**
 * The verdict without a run: what would be committed now, in a clean checkout, passes the checks that the base names,
 * with the tests as they are and as they were at the base. Nothing is marked or committed; only the checks' logs are kept.
 *
 * @throws {RalphError} not-a-repository, usage for a base that is no commit, config-invalid
 * @example Judge what another loop left
 * ```ts
 * import { exitCodeOf, verdictSince } from "ralph";
 * import { testContext } from "ralph/testing";
 *
 * await using ralph = await testContext({ files: { "a.txt": "a\n" } });
 * const verdict = await verdictSince(ralph, { base: "HEAD", checks: ["test -f a.txt"] });
 * console.log(verdict.status, exitCodeOf(verdict)); // passed 0
 * ```
 */
export async function verdictSince(ralph: RalphContext, options: VerdictSinceOptions = {}): Promise<VerdictSince> {
  const repository = requireRepository(ralph);
  const signal = options.signal ?? ralph.signal;
  const base = await commitNamed(repository, options.base ?? await mergeBase(repository));
  const judged = { ...ralph, config: await configAt(ralph, repository, base) };
  const commands = new Set([...judged.config.verify.default, ...options.checks ?? []]);
  const checks = [...commands].map((command): Check => ({
    name: command,
    command,
    ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
  }));
  if (checks.length === 0) return { status: "unverified", base, reasons: ["no check is named: use `--verify CMD`"] };
  const head = options.head ?? await commitOfTree(judged);
  await using checkout = await openCheckout(judged, { signal });
  await checkout.bringUp(base); // what the base has of links and submodules is allowed
  const up = await checkout.bringUp(head);
  if (up.status !== "ready") {
    const why = up.status === "links-outside"
      ? up.links
      : up.status === "failed"
      ? [up.reason]
      : ["nothing is committed"];
    return { status: "failed", base, reasons: why };
  }
  const now = await verify(judged, checks, { place: up.place, signal });
  if (now.status === "aborted") return { status: "aborted", base, reasons: [] };
  if (now.status === "failed") return { status: "failed", base, reasons: [describeFailures(now)] };
  const { describeChange, withOldJudges } = await import("../checks/judging/with_old_judges.ts");
  const logs = options.logs ?? await ralph.run.folder(".ralph/runs");
  const history = { base, steps: [], items: [] };
  const old = await withOldJudges(judged, (commit) => checkout.bringUp(commit), {
    history,
    head,
    checks,
    touched: () => checkout.touched(),
    logs,
    signal,
  });
  const changed = old.changes.map((change) => `tests changed: ${describeChange(change)}`);
  switch (old.status) {
    case "aborted":
      return { status: "aborted", base, reasons: [] };
    case "unknown":
      return { status: "failed", base, reasons: [...changed, old.reason ?? "the old tests could not be run"] };
    case "failed": {
      const why = describeFailures({ status: "failed", results: old.failures, failures: old.failures });
      return { status: "failed", base, reasons: [...changed, `with the tests as they were: ${why}`] };
    }
    default:
      return { status: "passed", base, reasons: changed };
  }
}

async function commitNamed(repository: Repository, name: string): Promise<string> {
  const found = await repository.git(["rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`]);
  if (found.exitCode === 0) return found.stdout.trim();
  throw new RalphError("usage", {
    details: { problem: `${name} is no commit` },
    hint: "`--base COMMIT` names the commit that the work began on",
  });
}

/** Where the branch left the default one; on that one itself, HEAD. */
async function mergeBase(repository: Repository): Promise<string> {
  const head = await repository.git(["symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"]);
  const names = head.exitCode === 0 ? [head.stdout.trim()] : ["main", "master"];
  for (const name of names) {
    const base = await repository.git(["merge-base", "HEAD", name]);
    if (base.exitCode === 0) return base.stdout.trim();
  }
  return "HEAD";
}

/** The configuration of the base: what is judged does not choose its checks. */
async function configAt(ralph: RalphContext, repository: Repository, base: string): Promise<Config> {
  const [path = CONFIG_FILE] = topLevelPaths(ralph, [CONFIG_FILE]);
  const shown = await repository.git(["show", `${base}:${posix.normalize(path)}`]);
  const { checkConfig } = await import("../config/check.ts");
  if (shown.exitCode !== 0) return checkConfig({}).config ?? ralph.config;
  const invalid = (problem: string): RalphError =>
    new RalphError("config-invalid", { details: { path: `${CONFIG_FILE} at ${base.slice(0, 12)}`, problem } });
  let value: unknown;
  try {
    value = JSON.parse(shown.stdout);
  } catch (error) {
    throw invalid((error as Error).message);
  }
  const checked = checkConfig(value, { ignoreUnknown: true });
  if (checked.config !== null) return checked.config;
  throw invalid(checked.problems.map(({ text }) => text).join("; "));
}
