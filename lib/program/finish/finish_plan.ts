import { textAt } from "../../agents/json.ts";
import { usage } from "../../cli/command.ts";
import type { RalphContext } from "../../context/context.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import { type BranchWork, branchWork } from "../../git/branch_work.ts";
import { commitAt, defaultBranch, isAncestor, remoteBranch } from "../../git/refs.ts";
import { mergeTrees, tooOldToMerge } from "../../git/land.ts";
import { type Repository, requireRepository, type WithGit } from "../../git/repository.ts";
import { hashText } from "../../host/hash.ts";
import type { Host, ProcessEnd } from "../../host/types.ts";

/** The work that would be finished, and how. */
export interface FinishPlan {
  readonly work: BranchWork & { readonly branch: string; readonly base: string };
  /** `merge` happens in this repository; nothing is pushed. */
  readonly way: "request" | "push" | "merge";
  /** As one commit. */
  readonly squash: boolean;
  /** The archive of the branch goes to the remote also. */
  readonly withHistory: boolean;
  /** The remote that the work is pushed to; `null`: nothing is pushed. */
  readonly remote: { readonly name: string; readonly url: string } | null;
  /** The branch as a request names it: with its owner, if the base is in another repository. */
  readonly head: string;
  /** The program that makes the pull or merge request; `null`: nothing does. */
  readonly forge: Forge | null;
  /** Subjects, oldest first. */
  readonly commits: readonly string[];
  /** Files that differ in both, so that git cannot merge them by itself. */
  readonly conflicts: readonly string[];
  readonly target: Target;
  /** Commits that the base has and the branch has not. */
  readonly behind: number;
  /** The base has all that the branch holds: nothing is left to merge. */
  readonly isMerged: boolean;
}

/** The base as the work gets onto it. */
export interface Target {
  /** Its newest commit, here or on the remote. */
  readonly onto: string;
  /** Git's name for that commit here: `main`, `origin/main`. */
  readonly name: string;
  /** The commit of the branch of that name here; `null`: there is none. */
  readonly here: string | null;
  /** A person should know this of it; "" is nothing. */
  readonly note: string;
}

/** The way out for a person if there is a conflict, or if both together fail. @param then what follows */
export function wayOut(
  { work: { branch }, target }: FinishPlan,
  then = "`ralph run` and `ralph finish`",
): string {
  return `\`git merge ${target.name}\` on ${branch}, settle it there and commit, then ${then}`;
}

/** The person's choice on the command line. */
export interface FinishChoice {
  readonly base?: string | undefined;
  readonly merge: boolean;
  readonly squash: boolean;
  readonly withHistory: boolean;
}

/**
 * Looks at what there is to finish; changes nothing but what `git fetch` brings of the base.
 *
 * @param own paths that Ralph itself writes: their changes are no one's uncommitted work
 * @param apart those of them that are taken off the branch, relative to the top level
 * @throws {RalphError} finish-refused, usage
 */
export async function finishPlan(
  ralph: RalphContext,
  choice: FinishChoice,
  own: (path: string) => boolean,
  apart: readonly string[],
): Promise<FinishPlan> {
  const repository = requireRepository(ralph);
  const { branch } = await repository.status();
  if (branch === null) throw nothing("HEAD is detached: switch to the branch that is to be finished");
  const base = choice.base ?? await defaultBranch(repository) ?? await remoteBranch(repository);
  if (base === null) throw nothing(`no branch is known that ${branch} could be merged into: name it by \`--base\``);
  if (base === branch) throw nothing(`the work is on ${branch} itself`);
  await refuseDirty(repository, own);
  const remote = await remoteOf(repository, branch);
  const isHere = choice.merge || remote === null;
  if (isHere && choice.withHistory) {
    throw usage("--with-history pushes to a remote", "a merge here keeps all of it here");
  }
  // of a fork the base is elsewhere
  const from = await remoteName(repository, "upstream", base) || remote?.name;
  const target = await targetOf(repository, { base, remote: from ?? null, isHere });
  const work = await branchWork(repository, { base: target.onto, apart });
  if (work === null) throw nothing(`${branch} and ${base} have no commit in common`);
  const old = await tooOldToMerge(repository);
  if (old !== null) throw nothing(`it needs git 2.38 or newer, this is ${old}`);
  const merged = await mergeTrees(repository, target.onto, work.head);
  const lines = async (...words: readonly string[]): Promise<readonly string[]> =>
    (await repository.git(words)).stdout.split("\n").filter((line) => line !== "");
  const [tree] = await lines("rev-parse", "--verify", "--quiet", `${target.onto}^{tree}`);
  const isMerged = merged.conflicts.length === 0 && merged.tree === tree;
  if (isMerged && !isHere) throw nothing(`${base} has all that ${branch} holds`);
  const forge = isHere || remote === null ? null : await forgeOf(ralph.host, ralph.root, remote.url);
  return {
    work: { ...work, branch, base },
    way: isHere ? "merge" : forge === null ? "push" : "request",
    squash: choice.squash,
    withHistory: choice.withHistory,
    remote: isHere ? null : remote,
    head: forge?.program === "gh" && from !== remote?.name ? `${ownerOf(remote!.url)}:${branch}` : branch,
    forge,
    commits: await lines("log", "--reverse", "--format=%s", `${work.from}..HEAD`),
    conflicts: merged.conflicts,
    target,
    behind: Number((await lines("rev-list", "--count", `HEAD..${target.onto}`))[0] ?? 0),
    isMerged,
  };
}

function nothing(problem: string): RalphError {
  const hint = "`ralph status` shows where the work is; `--base BRANCH` names another branch to finish into";
  return new RalphError("finish-refused", { details: { problem: `there is nothing to finish: ${problem}`, hint } });
}

/** Changes that are not committed would not be part of it. Files that git does not track are not in the way. */
async function refuseDirty(repository: Repository, own: (path: string) => boolean): Promise<void> {
  const { changed } = await repository.status();
  const paths = changed.filter(({ path, untracked }) => !untracked && !own(path)).map(({ path }) => path);
  if (paths.length === 0) return;
  const problem = `changes that are not committed would not be part of it: ${paths.slice(0, 10).join(", ")}`;
  throw new RalphError("finish-refused", {
    details: { problem, hint: "commit or stash them, then the same command again" },
  });
}

/** The remote that git pushes the branch to, `origin`, or the only one. */
export async function remoteOf(
  repository: WithGit,
  branch: string,
): Promise<{ readonly name: string; readonly url: string } | null> {
  const line = async (...words: readonly string[]): Promise<string> => (await repository.git(words)).stdout.trim();
  const all = (await line("remote")).split("\n").filter((name) => name !== "");
  const own = await remoteName(repository, "push", branch);
  const name = all.find((one) => one === own) ?? all.find((one) => one === "origin") ??
    (all.length === 1 ? all[0] : undefined);
  return name === undefined ? null : { name, url: await line("config", "--get", `remote.${name}.url`) };
}

/** Git's own name for where a branch is pushed to or comes from; empty if it is no remote. */
async function remoteName({ git }: WithGit, direction: "push" | "upstream", branch: string): Promise<string> {
  const end = await git(["for-each-ref", `--format=%(${direction}:remotename)`, `refs/heads/${branch}`]);
  return end.stdout.trim().replace(/^\.$/, "");
}

/**
 * Finds where the base is now. A request is compared with the remote's. A merge here goes onto the branch that is here.
 * If that is only behind the remote's, it is brought forward to it.
 */
async function targetOf(
  repository: Repository,
  { base, remote, isHere }: { readonly base: string; readonly remote: string | null; readonly isHere: boolean },
): Promise<Target> {
  const fetched = remote === null
    ? null
    : await repository.git(["fetch", "--quiet", "--end-of-options", remote, base], { timeoutMs: 30_000 });
  const unknown = fetched === null || fetched.exitCode === 0
    ? ""
    : `${remote} was not reached (${fetched.stderr.trim().split("\n").at(-1)}): its ${base} may have moved`;
  const here = await commitAt(repository, `refs/heads/${base}`);
  const there = remote === null ? null : await commitAt(repository, `refs/remotes/${remote}/${base}`);
  const named = here ?? there ?? await commitAt(repository, base);
  if (named === null) throw usage(`there is no branch ${base}`, "name another by `--base`");
  const known = { onto: here ?? named, name: base, here, note: unknown };
  if (there === null || there === here) return known;
  if (!isHere || here === null || await isAncestor(repository, here, there)) {
    return { ...known, onto: there, name: `${remote}/${base}` };
  }
  if (await isAncestor(repository, there, here)) return known;
  return { ...known, note: `${base} and ${remote}/${base} have each commits that the other has not` };
}

/** A program that makes requests. */
interface Forge {
  readonly program: "gh" | "glab";
  /** `pull request` or `merge request`. */
  readonly request: string;
}

export interface RequestText {
  /** The branch, of a fork with its owner. */
  readonly head: string;
  readonly base: string;
  readonly title: string;
  /** Markdown. */
  readonly body: string;
  readonly draft: boolean;
  readonly squash: boolean;
}

const FORGES: readonly (Forge & { readonly host: RegExp })[] = [
  { program: "gh", request: "pull request", host: /(^|\.)github\./ },
  { program: "glab", request: "merge request", host: /(^|\.)gitlab\./ },
];

const TIMEOUT_MS = 60_000;
/** Command lines have an end, and so have requests. */
const BODY_CHARACTERS = 60_000;

/** The program for a remote's host, where it is there: by the host's name, else by where the program is logged in. */
export async function forgeOf(host: Pick<Host, "processes">, cwd: string, url: string): Promise<Forge | null> {
  const name = hostOf(url);
  if (name === null) return null;
  const named = FORGES.find((forge) => forge.host.test(name));
  for (const { program, request } of named === undefined ? FORGES : [named]) {
    const asked = named === undefined ? ["auth", "status", "--hostname", name] : ["--version"];
    const end = await host.processes.run({ file: program, arguments: asked, cwd, timeoutMs: 10_000 });
    if (end.reason === "exited" && end.exitCode === 0) return { program, request };
  }
  return null;
}

/** `github.com` of `git@github.com:a/b.git` and `https://github.com/a/b`; `null` for a folder. */
export function hostOf(url: string): string | null {
  const found = /^[a-z+]+:\/\/(?:[^@/]*@)?\[?([^/:\]]+)/i.exec(url) ??
    /^(?:[^@/\s]+@)?([^/:\s]+\.[^/:\s]+):(?!\/\/)/.exec(url);
  return url.startsWith("file:") ? null : found?.[1]?.toLowerCase() ?? null;
}

/** `a` of `git@github.com:a/b.git` and `https://github.com/a/b`. */
function ownerOf(url: string): string {
  return /([^/:]+)\/[^/]+\/?$/.exec(url)?.[1] ?? "";
}

/** The arguments that make a request. */
function makingArguments({ program }: Forge, text: RequestText): readonly string[] {
  const { head, base, title, draft, squash } = text;
  const isDraft = draft ? ["--draft"] : [];
  if (program === "gh") {
    return [
      "pr",
      "create",
      "--head",
      head,
      "--base",
      base,
      "--title",
      title,
      "--body",
      marked(text.body),
      ...isDraft,
    ];
  }
  const branches = ["--source-branch", head, "--target-branch", base];
  const isSquashed = squash ? ["--squash-before-merge"] : [];
  const words = ["--title", title, "--description", marked(text.body), "--yes"];
  return ["mr", "create", ...branches, ...words, ...isDraft, ...isSquashed];
}

/** The text with its own hash below: a text whose hash still fits was edited by nobody. */
function marked(body: string): string {
  const text = body.slice(0, BODY_CHARACTERS).trim();
  return `${text}\n\n<!-- ralph ${hashText(text)} -->\n`;
}

function isAsMade(body: string): boolean {
  const [, text = "", hash] = /^([^]*)<!-- ralph ([0-9a-f]{64}) -->\s*$/.exec(body.replaceAll("\r\n", "\n")) ?? [];
  return hash === hashText(text.trim());
}

/** A request as `finish` leaves it: `kept` is one that was open and may have a person's words in its text. */
export interface MadeRequest {
  readonly state: "made" | "renewed" | "kept" | "failed";
  /** `null`: the program named none. */
  readonly address: string | null;
  readonly end: ProcessEnd;
}

/** Makes the request; the text of one that is open is written anew if nobody has edited it. */
export async function makeRequest(
  { processes }: Pick<Host, "processes">,
  cwd: string,
  forge: Forge,
  text: RequestText,
): Promise<MadeRequest> {
  const { program } = forge;
  const call = async (arguments_: readonly string[]): Promise<ProcessEnd> =>
    await processes.run({
      file: program,
      arguments: arguments_,
      cwd,
      environment: { GH_PROMPT_DISABLED: "1", NO_PROMPT: "1", NO_COLOR: "1" },
      timeoutMs: TIMEOUT_MS,
    });
  const end = await call(makingArguments(forge, text));
  const [address = null] = /https?:\/\/\S+/.exec(`${end.stdout}\n${end.stderr}`) ?? [];
  if (end.exitCode === 0) return { state: "made", address, end };
  if (!/already exists/i.test(end.stderr)) return { state: "failed", address, end };
  const isGitHub = program === "gh";
  const asked = isGitHub ? ["pr", "view", text.head, "--json", "body"] : ["mr", "view", text.head, "-F", "json"];
  const { stdout } = await call(asked);
  if (!isAsMade(toldText(stdout))) return { state: "kept", address, end };
  const renewed = isGitHub ? ["pr", "edit", text.head, "--body"] : ["mr", "update", text.head, "--description"];
  const again = await call([...renewed, marked(text.body)]);
  return { state: again.exitCode === 0 ? "renewed" : "failed", address, end: again };
}

/** The text of a request as its program tells it; empty if it tells none: then nothing is written over. */
function toldText(stdout: string): string {
  try {
    const told: unknown = JSON.parse(stdout);
    return textAt(told, "body") ?? textAt(told, "description") ?? "";
  } catch {
    return "";
  }
}
