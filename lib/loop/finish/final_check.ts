import { note, type RalphContext } from "../../context/context.ts";
import { isAncestor } from "../../git/refs.ts";
import type {
  Backlog,
  Check,
  CheckResult,
  LoopView,
  PassedItem,
  PassedRecord,
  Verification,
} from "../../backlog/types.ts";
import { doubtOf } from "../../backlog/attempts.ts";
import { type CheckLike, namedCheck } from "../../checks/function.ts";
import type { CheckoutPlace } from "../../checks/checkout/place.ts";
import { createTestReader } from "../../measured/tests_run.ts";
import { repeatFailed, verificationOf, verify, type VerifyOptions } from "../../checks/verify.ts";
import { requireRepository } from "../../git/repository.ts";
import type { CleanRun } from "./clean.ts";
import { NOT_CLAIMED, type Notice } from "../policy/progress.ts";
import { join, relative } from "node:path";
import { type CoverageReader, createCoverageReader } from "../../measured/read_coverage.ts";
import { branchWork } from "../../git/branch_work.ts";
import { outputFrom } from "../../git/run_git.ts";

export interface FinalWork {
  /** Everything that has passed, in this run and before. */
  readonly items: readonly PassedItem[];
  /** Each check once; its scope names every item that it holds for, by commas. */
  readonly checks: readonly Check[];
}

export interface FinalResult {
  readonly verification: Verification;
  /** Ids of the items that no check has seen, that no agent has claimed, or that failed the unseen check. */
  readonly unverified: readonly string[];
  /** Commands that were judged in the tree or failed only once, and items in doubt. */
  readonly notices: readonly Notice[];
  /** The commit that it speaks of; `null`: the working tree. */
  readonly commit: string | null;
}

const DOUBTS = {
  challenge: "unverified: it passed its checks, and failed one that its author had not seen",
  "not-claimed": NOT_CLAIMED,
};

/** Joins ids in a check's scope. No id holds it: ids of stories, tasks and plans are single words or file lines. */
const SEPARATOR = "\u0001";

/** Collects what has passed and its checks, each command once; reviews cost a turn and are not repeated. */
export async function finalWork(
  ralph: Pick<RalphContext, "config">,
  backlog: Backlog,
  { view, passedNow, shared, only }: {
    readonly view: LoopView;
    /** The items that passed in this run, for a backlog that cannot list what passed. */
    readonly passedNow: readonly PassedItem[];
    /** Checks that hold for every item, beside the configuration's. */
    readonly shared: readonly CheckLike[];
    /** Only these items. */
    readonly only: ReadonlySet<string> | null;
  },
): Promise<FinalWork> {
  const passed = await backlog.passed?.(view) ?? passedNow;
  const items = passed.filter(({ id }) => only?.has(id) ?? true);
  const named = shared.map(namedCheck).filter((check) => check !== null);
  const defaults = ralph.config.verify.default.map((command): Check => ({ name: command, command }));
  const ids = items.map(({ id }) => id);
  const byName = new Map<string, { readonly check: Check; readonly ids: Set<string> }>();
  const hold = (check: Check, forIds: readonly string[]): void => {
    if (check.review === true) return;
    const key = check.command ?? check.name;
    const known = byName.get(key) ?? { check, ids: new Set<string>() };
    for (const id of forIds) known.ids.add(id);
    byName.set(key, known);
  };
  for (const check of [...defaults, ...named]) hold(check, ids);
  for (const { id, checks } of items) for (const check of checks) hold(check, [id]);
  const checks = [...byName.values()].map(({ check, ids: held }) => ({ ...check, scope: [...held].join(SEPARATOR) }));
  return { items, checks };
}

/** How the final check is run. */
interface FinalRun {
  readonly records: readonly PassedRecord[];
  readonly logs: string;
  readonly signal: AbortSignal;
  /** `null`: everything is judged in the tree. */
  readonly clean: CleanRun | null;
  /** Brings HEAD back onto the branch. @returns whether it was elsewhere */
  readonly hold: () => Promise<boolean>;
}

/**
 * Runs the final check. Items that no check has seen are verified only where a review of the run that built them says so;
 * those that their agent did not claim stay unverified, however often their checks pass.
 */
export async function finalCheck(
  ralph: RalphContext,
  { items, checks }: FinalWork,
  options: FinalRun,
): Promise<FinalResult> {
  const { clean, records } = options;
  if (checks.length > 0) {
    const where = clean === null ? "" : ", in a clean checkout";
    const count = `${checks.length} check${checks.length === 1 ? "" : "s"}`;
    const title = `Everything that passed, checked once more${where}: ${count}`;
    ralph.events.emit({ type: "step-start", step: "final-check", title });
  }
  const { verification, notices, commit } = await checked(ralph, { items, checks }, options);
  const covered = new Set(checks.flatMap(({ scope = "" }) => scope.split(SEPARATOR)));
  const unverified: string[] = [];
  const doubted: Notice[] = [];
  for (const { id } of items) {
    const record = records.find((one) => one.id === id);
    const kind = record === undefined ? null : doubtOf(record, ralph.config.provider);
    if (kind !== null) doubted.push({ kind, subject: id, message: DOUBTS[kind] });
    else if (covered.has(id) || await wasReviewed(ralph, record)) continue;
    unverified.push(id);
  }
  return { verification, unverified, notices: [...notices, ...doubted], commit };
}

function unsteadyNotices(commands: readonly string[]): readonly Notice[] {
  const message = "failed once, and passed when it was run again on the same commit";
  return commands.map((subject) => ({ kind: "unsteady", subject, message }));
}

/** In the order of the checks: commands in the checkout, those that it cannot make and functions in the tree. */
async function checked(
  ralph: RalphContext,
  { items, checks }: FinalWork,
  { clean, logs, signal, hold }: FinalRun,
): Promise<Omit<FinalResult, "unverified">> {
  const isClean = ({ command }: Check): boolean => command !== undefined && clean?.whyInTree(command) === null;
  const inTree = checks.flatMap(({ command }): readonly Notice[] => {
    const why = command === undefined ? null : clean?.whyInTree(command) ?? null;
    return command === undefined || why === null ? [] : [{ kind: "not-reproducible", subject: command, message: why }];
  });
  const run = async (part: readonly Check[], place: VerifyOptions): ReturnType<typeof repeatFailed> =>
    await repeatFailed(ralph, part, await verify(ralph, part, place), place);
  if (clean === null || checks.length === 0) {
    const { verification, unsteady } = await run(checks, { logs, signal });
    const commit = clean === null ? null : (await requireRepository(ralph).head()).head;
    return { verification, notices: [...inTree, ...unsteadyNotices(unsteady)], commit };
  }
  await hold();
  let up = await clean.bringUp();
  if (await hold()) up = await clean.bringUp();
  if (up.status !== "ready") { // a checkout that cannot be made of HEAD passes nothing
    const name = "clean checkout of HEAD";
    note(ralph, "warn", `no ${name}: ${up.reason}`);
    return { verification: verificationOf([failedFor(items, name, up.reason)]), notices: inTree, commit: null };
  }
  const { commit } = up.place;
  const results: CheckResult[] = [];
  const notices = [...inTree];
  const coverage = coverageIn(ralph, up.place);
  await coverage.start(checks.flatMap(({ command = "" }) => command));
  const tests = createTestReader(ralph.host, up.place);
  const ran = async (): ReturnType<typeof tests> => {
    await coverage.read();
    return await tests();
  };
  for (const [index, part] of inTurn(checks, isClean).entries()) {
    const place = part.every(isClean) ? { place: up.place, ran } : {};
    const options = { logs: index === 0 ? logs : `${logs}-${index + 1}`, signal, ...place };
    const { verification: done, unsteady } = await run(part, options);
    results.push(...done.results);
    notices.push(...unsteadyNotices(unsteady));
    if (done.status === "aborted") return { verification: { ...done, results }, notices, commit };
  }
  if (results.every(({ ok }) => ok)) notices.push(...await notRun(ralph, commit, coverage));
  return { verification: verificationOf(results), notices, commit };
}

/** Checks in their order, parted where the place changes: a service starts before the command that needs it. Pure. */
function inTurn(checks: readonly Check[], isClean: (check: Check) => boolean): readonly (readonly Check[])[] {
  const parts: Check[][] = [];
  for (const check of checks) {
    const last = parts.at(-1);
    if (last?.[0] !== undefined && isClean(last[0]) === isClean(check)) last.push(check);
    else parts.push([check]);
  }
  return parts;
}

/** A failure that is all these items'. Pure. */
export function failedFor(items: readonly PassedItem[], name: string, tail: string): CheckResult {
  const scope = items.map(({ id }) => id).join(SEPARATOR);
  return { name, scope, ok: false, exitCode: null, tail, durationMs: 0 };
}

/** A review counts where the commit that it saw is part of HEAD's history. */
async function wasReviewed(
  { repository }: Pick<RalphContext, "repository">,
  record: PassedRecord | undefined,
): Promise<boolean> {
  if (record?.status !== "verified" || record.commit === null || repository === null) return false;
  return await isAncestor(repository, record.commit, "HEAD");
}

/** Which items come again for these failures: a check of one item is that item's, a shared one goes to the item settled last. Pure. */
export function sentBack(
  failures: readonly CheckResult[],
  settledLast: string | undefined,
): ReadonlyMap<string, readonly CheckResult[]> {
  const back = new Map<string, CheckResult[]>();
  for (const failure of failures) {
    const ids = failure.scope.split(SEPARATOR).filter((id) => id !== "");
    const id = settledLast !== undefined && ids.includes(settledLast) ? settledLast : ids.at(-1);
    if (id !== undefined) back.set(id, [...back.get(id) ?? [], failure]);
  }
  return back;
}

/** Ralph reads in a checkout what its commands say that they ran. */
function coverageIn(
  ralph: Pick<RalphContext, "repository" | "root">,
  { tree }: Pick<CheckoutPlace, "tree">,
): CoverageReader {
  const { topLevel } = requireRepository(ralph);
  return createCoverageReader({ cwd: join(tree, relative(topLevel, ralph.root)), topLevels: [tree, topLevel] });
}

/** Lines that the branch adds and of which a check's own coverage says that none ran them. */
async function notRun(
  ralph: Pick<RalphContext, "repository" | "root">,
  commit: string,
  coverage: CoverageReader,
): Promise<readonly Notice[]> {
  if (!coverage.isKnown()) return [];
  const repository = requireRepository(ralph);
  const work = await branchWork(repository);
  if (work === null) return [];
  const words = ["-c", "core.quotePath=false", "diff", "-U0", "--no-renames", "--no-ext-diff", "--no-textconv"];
  const diff = await outputFrom(repository, [...words, "--no-color", "--dst-prefix=b/", work.from, commit]);
  const found = diff.split(/^\+\+\+ /m).slice(1).flatMap((part): readonly string[] => {
    const path = part.slice(2, part.indexOf("\n")).replace(/\t$/, "");
    const lines = coverage.of(path);
    if (!part.startsWith("b/") || lines === undefined) return [];
    const added = [...part.matchAll(/^@@ \S+ \+(\d+)(?:,(\d+))? @@/gm)].flatMap(([, start, count = "1"]) =>
      Array.from({ length: Number(count) }, (_, index) => Number(start) + index)
    );
    const missed = added.filter((line) => lines.get(line) === 0);
    return missed.length === 0 ? [] : [`${path}:${ranges(missed)}`];
  });
  const message = "added lines that no check ran, by their own coverage";
  return found.length === 0 ? [] : [{ kind: "not-run", subject: found.join("; "), message }];
}

/** `3-5,9`. */
function ranges(lines: readonly number[]): string {
  const parts: [number, number][] = [];
  for (const line of lines) {
    const last = parts.at(-1);
    if (last?.[1] === line - 1) last[1] = line;
    else parts.push([line, line]);
  }
  return parts.map(([from, to]) => from === to ? `${from}` : `${from}-${to}`).join(",");
}
