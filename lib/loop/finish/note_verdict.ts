import { note, type RalphContext } from "../../context/context.ts";
import { attest, briefHash, ownAttestation } from "../../attest/attest.ts";
import type { CheckResult, CommandCheck } from "../../backlog/types.ts";
import type { BriefRecord, JudgedItem } from "../../backlog/journal_types.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import {
  type Repository,
  requireRepository,
  type RootedRepository,
  rootPaths,
  topLevelPaths,
} from "../../git/repository.ts";
import { VERSION } from "../../host/version.ts";
import type { Notice } from "../policy/progress.ts";
import { maskOf } from "../settle/committer.ts";
import { posix } from "node:path";
import { checksNothing } from "../../backlog/verify_commands.ts";
import { describeFailures } from "../../backlog/attempts.ts";
import { commitOfTree, openCheckout } from "../../checks/checkout/open_checkout.ts";
import { createTestReader } from "../../measured/tests_run.ts";
import { verify } from "../../checks/verify.ts";
import { type Config, CONFIG_FILE } from "../../config/load.ts";
import { commitAt, defaultBranch } from "../../git/refs.ts";
import { pathsBetween } from "../../git/run_git.ts";

/** A commit that passed. */
export interface Passed {
  readonly commit: string;
  /** The commit that the work began on; `null` where that is not known. */
  readonly base: string | null;
  readonly checks: readonly CheckResult[];
  readonly notices: readonly Notice[];
  /** The files that judged it; absent where no run fixed them. */
  readonly brief?: BriefRecord;
}

/** A commit that passed is not wholly believed with one of these. */
const BESIDE: ReadonlySet<string> = new Set(["old-tests", "cannot-fail", "workspace", "unsteady", "not-tried"]);

/** Attests the verdict of a commit that passed, in place of an older one. */
export async function noteVerdict(ralph: RalphContext, passed: Passed): Promise<void> {
  const { commit, base, checks, notices, brief } = passed;
  const masked = maskOf(ralph);
  const verdict = {
    commit,
    base,
    checks: checks.map(({ name, command = name, expect, exitCode }) => ({
      command: masked(command),
      exitCode,
      ...(expect === undefined ? {} : { expect }),
    })),
    findings: notices.filter(({ kind }) => BESIDE.has(kind))
      .map(({ kind, subject }) => ({ kind, subject: masked(subject) })),
    brief: brief === undefined ? null : briefHash(brief.files),
    ralph: VERSION,
    run: ralph.run.id,
  };
  await warning(ralph, commit, () => attest(ralph, verdict));
}

/** Attests the verdict of a commit to another one also, whose tree is the same but for state. */
export async function carryVerdict(ralph: RalphContext, from: string, to: string): Promise<void> {
  if (from === to) return;
  await warning(ralph, to, async () => {
    const { status, verdict, reasons } = await ownAttestation(ralph, from);
    const problem = `the attestation of ${from.slice(0, 10)} is refused: ${reasons.join("; ")}`;
    if (status === "refused") throw new RalphError("attest-failed", { details: { problem } });
    if (verdict !== null) await attest(ralph, { ...verdict, commit: to });
  });
}

/** An attestation that cannot be written is a warning: it changes no verdict. */
async function warning(ralph: RalphContext, commit: string, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (!RalphError.isInstance(error)) throw error;
    note(ralph, "warn", `no verdict was noted at ${commit.slice(0, 10)}: ${error.message}`);
  }
}

/** The work that is judged, and its beginning. */
interface VerdictSinceOptions {
  /** The work is judged by configuration and tests of its merge base with this commit. @default the default branch */
  readonly base?: string;
  /** Commit that is judged. @default what would be committed now */
  readonly head?: string;
  /** Commands beside those of the base's `verify.default`. */
  readonly checks?: readonly (string | CommandCheck)[];
  /** Commits at which items passed: tests that came with them are old for what came later. Git has to have them. */
  readonly verified?: readonly string[];
  /** Milliseconds that one check may take. @default what the base's `verify.timeout` says */
  readonly timeoutMs?: number;
  /** Ends the checks. @default the context's */
  readonly signal?: AbortSignal;
}

/** The verdict on the work since a commit. */
export interface VerdictSince {
  readonly status: "passed" | "failed" | "unverified" | "aborted";
  readonly base: string;
  /** The commit that was judged; for work that is not committed one that no branch has. */
  readonly head: string | null;
  /** The checks that ran, with the tests as they are. */
  readonly checks: readonly CheckResult[];
  /** Why it did not pass. */
  readonly reasons: readonly string[];
  /** The facts to know beside the verdict, as a run's end has them. */
  readonly notices: readonly Notice[];
  /** The experiments that there was no time for, in words; `null` if there are none. */
  readonly leftOut: string | null;
}

/**
 * The verdict without a run: what would be committed now, in a clean checkout, passes the checks that the base names,
 * with the tests as they are and as they were at the base. Nothing is marked, committed or kept.
 *
 * @throws {RalphError} not-a-repository, usage for a base that is no commit or not known, config-invalid
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
  const base = await mergeBase(repository, options);
  const judged = { ...ralph, config: await configAt(ralph, base) };
  const checks = checksOf([...judged.config.verify.default, ...options.checks ?? []], options);
  const commands = [...new Set(checks.map(({ command }) => command))];
  refuseEmpty(commands);
  const nothing = { base, head: null, checks: [], reasons: [], notices: [], leftOut: null };
  if (checks.length === 0) {
    return { ...nothing, status: "unverified", reasons: ["no check is named: use `--verify CMD`"] };
  }
  const { head: named } = options;
  const head = named === undefined ? await commitOfTree(judged) : await commitAt(repository, named) ?? named;
  await using checkout = await openCheckout(judged, { signal });
  await checkout.bringUp(base); // what the base has of links and submodules is allowed
  const up = await checkout.bringUp(head);
  if (up.status !== "ready") return { ...nothing, status: "failed", head, reasons: [up.reason] };
  const now = await verify(judged, checks, { place: up.place, signal, ran: createTestReader(ralph.host, up.place) });
  const known = { ...nothing, head, checks: now.results };
  if (now.status === "aborted") return { ...known, status: "aborted" };
  if (now.status === "failed") return { ...known, status: "failed", reasons: [describeFailures(now)] };
  const { experiments } = await import("../../checks/experiment/experiments.ts");
  const evidence = await experiments(judged, {
    history: { base, steps: [], items: await itemsAt(ralph, { base, head }, options.verified ?? []) },
    head,
    commands,
    isOwn: (path) => path === CONFIG_FILE,
    bringUp: (commit) => checkout.bringUp(commit),
    checks,
    checkMs: now.results.reduce((sum, { durationMs }) => sum + durationMs, 0),
    budget: judged.config.experiments.budget,
    signal,
  });
  if (signal.aborted) return { ...known, status: "aborted" };
  const { findingsOf, leftOutText } = await import("../../checks/experiment/findings.ts");
  const found = findingsOf(evidence, "alone");
  const status = found.reasons.length > 0 ? "failed" : "passed";
  return { ...known, ...found, status, leftOut: leftOutText(evidence) };
}

/**
 * The commit at which the work left another, or the default branch; on that one itself, and without a remote, HEAD.
 *
 * @throws {RalphError} usage where none is known
 */
export async function mergeBase(
  repository: Repository,
  { base: name, head = "HEAD" }: Pick<VerdictSinceOptions, "base" | "head">,
): Promise<string> {
  const here = name === undefined ? await defaultBranch(repository) : null;
  const known = ["origin/HEAD", "origin/main", "origin/master", ...here === null ? [] : [here]];
  for (const one of name === undefined ? known : [name]) {
    const base = await repository.git(["merge-base", "--end-of-options", head, one]);
    if (base.exitCode === 0) return base.stdout.trim();
  }
  const problem = name === undefined
    ? "no branch is known that the work began on"
    : `${name} is no commit, or has nothing in common with ${head}`;
  const isShallow = (await repository.git(["rev-parse", "--is-shallow-repository"])).stdout.trim() === "true";
  const hint = isShallow
    ? "this clone is shallow: `git fetch --unshallow` brings the commits before"
    : "`--base COMMIT` names the commit that the work began on";
  throw new RalphError("usage", { details: { problem }, hint });
}

/** Each command once. */
function checksOf(
  commands: readonly (string | CommandCheck)[],
  { timeoutMs }: Pick<VerdictSinceOptions, "timeoutMs">,
): readonly CommandCheck[] {
  const limit = timeoutMs === undefined ? {} : { timeoutMs };
  const checks = commands.map((check) => typeof check === "string" ? { name: check, command: check } : check);
  return [...new Map(checks.map((check) => [check.name, { ...check, ...limit }])).values()];
}

function refuseEmpty(commands: readonly string[]): void {
  const empty = commands.find(checksNothing);
  if (empty === undefined) return;
  const problem = `verify: \`${empty}\` checks nothing: name a command that can fail`;
  throw new RalphError("config-invalid", { details: { path: CONFIG_FILE, problem } });
}

/** The configuration of the base: what is judged does not choose its checks. */
export async function configAt(ralph: RootedRepository, base: string): Promise<Config> {
  const [path = CONFIG_FILE] = topLevelPaths(ralph, [CONFIG_FILE]);
  const shown = await requireRepository(ralph).git(["show", `${base}:${posix.normalize(path)}`]);
  const { checkConfig } = await import("../../config/check.ts");
  const invalid = (problem: string): RalphError =>
    new RalphError("config-invalid", { details: { path: `${CONFIG_FILE} at ${base.slice(0, 12)}`, problem } });
  let value: unknown;
  try {
    value = shown.exitCode === 0 ? JSON.parse(shown.stdout) : {};
  } catch (error) {
    throw invalid((error as Error).message);
  }
  const checked = checkConfig(value, { ignoreUnknown: true });
  if (checked.config !== null) return checked.config;
  throw invalid(checked.problems.map(({ text }) => text).join("; "));
}

/** The work as items: what each commit has, and what the head has. */
async function itemsAt(
  ralph: RalphContext,
  { base, head }: { readonly base: string; readonly head: string },
  verified: readonly string[],
): Promise<readonly JudgedItem[]> {
  const place = { root: ralph.root, repository: requireRepository(ralph) };
  const changedAt = async (commit: string): Promise<readonly string[]> =>
    rootPaths(place, await pathsBetween(place.repository, base, commit));
  const items = verified.map(async (passed) => ({ id: passed, text: "", changed: await changedAt(passed), passed }));
  return verified.length === 0
    ? []
    : [...await Promise.all(items), { id: "", text: "", changed: await changedAt(head) }];
}
