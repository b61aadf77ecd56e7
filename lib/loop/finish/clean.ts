import { join } from "node:path";
import { note, type RalphContext } from "../../context/context.ts";
import type { Backlog, Check, CheckResult } from "../../backlog/types.ts";
import { isResultOf } from "../../backlog/verify_commands.ts";
import { isNamed, whyNotReproducible } from "../../checks/checkout/classify.ts";
import { openCheckout } from "../../checks/checkout/open_checkout.ts";
import type { BroughtUp, Checkout, CheckoutPlace } from "../../checks/checkout/place.ts";
import { verifyQuietly } from "../../checks/verify.ts";
import type { JournalKey } from "../../backlog/journal_types.ts";
import { requireRepository, rootPaths, topLevelPaths } from "../../git/repository.ts";
import type { CheckedAs } from "../run/outcome.ts";
import type { Notice } from "../policy/progress.ts";
import { pathExists } from "../../host/files.ts";
import { tidied } from "../run/tidied.ts";
import { pathsFrom, READING } from "../../git/run_git.ts";
import { linksAtHead, nestedIn, nestedMessage } from "../../git/nested.ts";
import { type Ownership, ownPaths } from "../settle/committer.ts";

/** Ralph's own folders and locks: no check needs them. */
const OWN_REGEXP = /(^|\/)(\.ralph|runs|logs|transcripts|\.ralph\/(\.gitignore|ralph\.lock|.*\/prd\.json\.lock))$/;

/** The clean checkout of a run, and which checks it cannot make. */
export interface CleanRun extends AsyncDisposable {
  /** Opens it, before the first turn: what it finds then (links, submodules, ignored files) is what counts. */
  open(): Promise<void>;
  /** To a commit. @default HEAD */
  bringUp(commit?: string): Promise<BroughtUp>;
  /** Files of the commit that checks have written since it was brought up. */
  touched(): Promise<readonly string[]>;
  /** Why a command has to be judged in the tree; `null`: the checkout can make it. */
  whyInTree(command: string): string | null;
  /**
   * Looks at checks that are red in the tree before anything was done for them: whether the checkout can make them.
   * Each command is looked at once, whatever later turns leave in the tree.
   */
  look(red: readonly CheckResult[], checks: readonly Check[], signal: AbortSignal): Promise<void>;
  /** Paths that the tree has and its commit has not, as they are now. */
  absentNow(): Promise<readonly string[]>;
  /** The ones that were there before the first turn of the first run. */
  readonly absentAtStart: readonly string[];
  notices(): readonly Notice[];
}

/** The checkout of a run. Nothing is opened where `verify.final` says so, or where nothing is built. */
export function createCleanRun(
  ralph: RalphContext,
  { key, backlog }: { readonly key: JournalKey; readonly backlog: Pick<Backlog, "policy" | "stateFiles"> },
): CleanRun {
  const wanted = checkedAsOf(ralph, backlog) === "commit";
  let checkout: Checkout | null = null;
  let brought: BroughtUp | null = null;
  let absent: readonly string[] = [];

  async function open(begin: (of: Checkout) => Promise<BroughtUp | null>): Promise<void> {
    if (!wanted || checkout !== null) return;
    checkout = await openCheckout(ralph, { state: topLevelPaths(ralph, backlog.stateFiles), signal: ralph.signal });
    brought = await begin(checkout);
    if (ralph.loop.acceptChanges) await ralph.journal.forgetClean(key); // what is there now is there by agreement
    const known = ralph.journal.clean(key);
    absent = known?.absent ?? await absentNow();
    if (known === null) await ralph.journal.cleanStart(key, absent);
  }

  async function absentNow(): Promise<readonly string[]> {
    return await absentPaths(ralph, (brought?.status === "ready" ? brought.place : checkout)?.copied ?? []);
  }

  return {
    open: () => open((of) => of.begin()),
    absentNow,
    get absentAtStart() {
      return absent;
    },
    async bringUp(commit) {
      const isFirst = checkout === null && commit === undefined;
      await open((of) => isFirst ? of.bringUp() : of.begin());
      const up = isFirst && brought !== null ? brought : await (checkout as Checkout).bringUp(commit);
      if (commit === undefined) brought = up;
      return up;
    },
    touched: async () => await checkout?.touched() ?? [],
    whyInTree: (command) => ralph.journal.clean(key)?.inTree[command] ?? null,
    async look(red, checks, signal) {
      if (checkout === null || absent.length === 0) return; // it has all that the tree has
      const { looked = {} } = ralph.journal.clean(key) ?? {};
      const unknown = checks.filter(({ command }) => command !== undefined && looked[command] !== true)
        .filter((check) => red.some((one) => isResultOf(one, check)));
      if (unknown.length === 0) return;
      brought ??= await checkout.bringUp();
      if (brought.status !== "ready") return;
      // what has passed since is in the tree, and has to be in the checkout
      const { head } = await requireRepository(ralph).head();
      const up = head === brought.place.commit ? brought : await checkout.bringUp();
      if (up.status === "ready") await lookIn({ ralph, key, absent, place: up.place, red, signal }, unknown);
    },
    notices: () => noticesOf(checkout, brought),
    async [Symbol.asyncDispose]() {
      await tidied(ralph, async () => await checkout?.[Symbol.asyncDispose]());
    },
  };
}

/** Tries checks in the checkout whose results in the tree are given, and remembers which are not reproducible. */
async function lookIn(
  { ralph, key, absent, place, red, signal }: {
    readonly ralph: RalphContext;
    readonly key: JournalKey;
    readonly absent: readonly string[];
    readonly place: CheckoutPlace;
    readonly red: readonly CheckResult[];
    readonly signal: AbortSignal;
  },
  checks: readonly Check[],
): Promise<void> {
  for (const check of checks) {
    const { command } = check;
    const tree = red.find((one) => isResultOf(one, check));
    if (command === undefined || tree === undefined) continue;
    const clean = await verifyQuietly(ralph, [check], { place, signal });
    const result = clean.results[0];
    if (clean.status === "aborted" || result === undefined) return;
    const isRed = !result.ok && result.timedOut !== true;
    const because = isRed ? whyNotReproducible(result, tree, absent) : null;
    if (isRed && because === null) await reportNamed(ralph, command, absent);
    await ralph.journal.cleanFinding(key, command, because);
  }
}

/** Red in both: nothing says whether it needs what it names. */
async function reportNamed(ralph: RalphContext, command: string, absent: readonly string[]): Promise<void> {
  const { events } = ralph;
  const { topLevel } = requireRepository(ralph);
  const words = command.split(/[\s'"`;&|<>()=]+/);
  const named: string[] = [];
  for (const path of absent.filter((one) => isNamed(one, command))) {
    // a file that the work is to make in that folder is not there yet
    const there = words.filter((word) => word.includes(path)).map((word) => pathExists(join(topLevel, word)));
    if ((await Promise.all(there)).includes(true)) named.push(path);
  }
  if (named.length === 0) return;
  const message = `${command} names ${named.join(", ")}, which git does not have: ` +
    "name it in `workspace.copy` if the check cannot do without it";
  note({ events }, "warn", message);
}

/** The thing that the final check looks at. A commit that lacks the work cannot be checked. */
export function checkedAsOf({ config }: Pick<RalphContext, "config">, { policy }: Pick<Backlog, "policy">): CheckedAs {
  if (policy?.final === false) return "nothing";
  return config.verify.final === "clean" && config.commits.work ? "commit" : "tree";
}

const TAKEN = "as the agent left them; `workspace.setup` installs them anew";

function noticesOf(checkout: Checkout | null, brought: BroughtUp | null): readonly Notice[] {
  if (checkout === null || brought?.status !== "ready") return [];
  const { place } = brought;
  const { namespace } = place;
  const workspace = (subject: string, message: string): Notice => ({ kind: "workspace", subject, message });
  const where: Notice = { kind: "environment", subject: namespace.reason ?? "", message: "" };
  return [
    ...(namespace.kind === "elsewhere" ? [where] : []),
    ...(place.dependencies === "taken" && place.copied.length > 0 ? [workspace(place.copied.join(", "), TAKEN)] : []),
    ...place.lost.map((path) => workspace(path, "was changed by a check, and could not be restored")),
    ...checkout.changedSinceLastRun.map((path) =>
      workspace(path, "differs from the last run's under the same lock file")
    ),
    ...checkout.tracked.map((path) => workspace(path, "is named by `workspace.copy`, but tracked: not copied")),
  ];
}

/** Paths that the tree has and its commit has not, but for copied ones; a folder is one path. Longer ones first. */
async function absentPaths(
  place: Pick<RalphContext, "repository" | "root">,
  copied: readonly string[],
): Promise<readonly string[]> {
  const look = ["ls-files", "-z", "--others", "--directory", "--no-empty-directory"];
  const paths = await pathsFrom(requireRepository(place), look, { environment: READING });
  return paths.map((path) => path.replace(/\/$/, "")).filter((path) => !copied.includes(path) && !OWN_REGEXP.test(path))
    .sort((one, other) => other.length - one.length);
}

/** Paths that a message names at most. */
const MOST_PATHS = 20;

/** The paths that the tree has and HEAD has not, if that is why a check fails. */
interface Lacking {
  /** For the next prompt and the last lines. */
  readonly message: string;
  /** No attempt can help: a person's uncommitted changes, or what was there, and not in git, before the first turn. */
  readonly hopeless: "uncommitted" | "absent" | null;
}

/**
 * Looks at checks that fail in the clean checkout: where one passes in the tree, what it found there is not committed.
 *
 * @param checks those of the final check
 * @returns `null` where the tree fails them as well, or where they ran there
 */
export async function lackingIn(
  ralph: RalphContext,
  failures: readonly CheckResult[],
  checks: readonly Check[],
  { backlog, clean, ownership: { userPaths }, signal }: {
    readonly backlog: Pick<Backlog, "stateFiles" | "ownFiles">;
    readonly clean: CleanRun;
    readonly ownership: Pick<Ownership, "userPaths">;
    readonly signal: AbortSignal;
  },
): Promise<Lacking | null> {
  if (ralph.config.verify.final !== "clean") return null;
  const failing = checks.filter((check) =>
    check.command !== undefined && failures.some((failure) => isResultOf(failure, check))
  );
  if (failing.length === 0) return null;
  const inTree = await verifyQuietly(ralph, failing, { signal });
  const passing = inTree.results.filter(({ ok }) => ok).map(({ name }) => name);
  if (passing.length === 0) return null;
  const own = new Set(ownPaths(ralph, backlog));
  const changed = (await requireRepository(ralph).status()).changed.filter(({ path }) => !own.has(path));
  const now = await clean.absentNow();
  const isChanged = (path: string): boolean => changed.some((entry) => entry.path === path);
  const ignored = now.filter((path) => !clean.absentAtStart.includes(path) && !isChanged(path));
  const before = now.filter((path) => clean.absentAtStart.includes(path) && !isChanged(path));
  const isNeeded = (path: string): boolean =>
    failing.some(({ command = "" }) => isNamed(path, command)) || failures.some(({ tail }) => isNamed(path, tail));
  const all = passing.length === failures.length;
  const isNew = changed.length + ignored.length > 0;
  const linked = await linksAtHead(requireRepository(ralph));
  const nested = await nestedIn(requireRepository(ralph), [...linked, ...changed.map(({ path }) => path), ...ignored]);
  const paths = [
    ...changed.map(({ path, submodule }) => submodule === undefined ? path : `${path} (${SUBMODULE})`),
    ...ignored,
  ].filter((path) => !nested.includes(path.replace(/\/$/, "")));
  const has = [
    ...nested.length > 0 ? [nestedMessage(nested)] : [],
    ...paths.length > 0 ? [`the tree has, and HEAD has not: ${shown(ralph, paths)}`] : [],
    ...!isNew && before.length > 0
      ? [
        `the tree has since before the run, and git has not: ${shown(ralph, before)} ` +
        "(name in `workspace.copy` what the check needs)",
      ]
      : [],
  ].map((part) => `; ${part}`).join("");
  const isPersons = ignored.length === 0 &&
    changed.every(({ path, submodule }) => submodule === undefined && userPaths.has(path));
  return {
    message: `${passing.join(", ")} passes in the working tree and fails in a clean checkout of HEAD${has}`,
    hopeless: all ? hopeless() : null,
  };

  function hopeless(): Lacking["hopeless"] {
    if (isNew) return isPersons ? "uncommitted" : null;
    return before.some(isNeeded) ? "absent" : null;
  }
}

const SUBMODULE = "a submodule, which Ralph leaves to the turn to commit";

function shown(ralph: Pick<RalphContext, "repository" | "root">, paths: readonly string[]): string {
  const named = rootPaths(ralph, paths.slice(0, MOST_PATHS));
  return [...named, ...(paths.length > MOST_PATHS ? [`${paths.length - MOST_PATHS} more`] : [])].join(", ");
}
