/** Compares a project's final state with one that nobody killed; and tells if the comparison would see a difference. */
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { gitIn } from "../repository.ts";
import { type KillProject, stateOf } from "./kill_project.ts";

/** These must be the same, whatever happened on the way. */
export interface Outcome {
  /** Content by path in HEAD; times, commits and ids of attempts left out. */
  readonly tree: ReadonlyMap<string, string>;
  /** The text of the commits that settled an item or hold its work, by item. */
  readonly commits: ReadonlyMap<string, string>;
  readonly state: ReadonlyMap<string, string>;
  /** The status of the working tree. */
  readonly status: string;
}

/** Times, commits, attempts: what is another in each run. */
const VOLATILE: readonly (readonly [RegExp, string])[] = [
  [/\d{8}-\d{6}-[0-9a-z]{4}(\.\d+)?/g, "ATTEMPT"],
  [/\S*\/agent\.sh/g, "AGENT"],
  [/\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?/g, "TIME"],
  [/\b[0-9a-f]{7,40}\b/g, "COMMIT"],
  [/iteration \d+/g, "iteration N"],
  [/\n\nChecked-with: .*$/gm, ""],
  // a kill takes a failed attempt that was not counted yet
  [/"retries": \d+/g, '"retries": N'],
  [/^\{"t": ?"reject".*\n/gm, ""],
  [/\b\d+(?:\.\d+)?(?:ms|s| s| min)\b/g, "DURATION"],
];

/**
 * State alone. A failed attempt is noted where it was counted, and a kill may have taken it; a feature's note of which commit
 * a story is in comes with the next story, or by itself where Ralph was killed before.
 */
const NOTED =
  /^(ralph: .* (failed|parked)|ralph: task reject|docs\(.*\): attempt failed|chore: update prd\.json(?![^]*passed$))/;

/** @throws where git finds the repository damaged */
export function outcomeOf(project: KillProject, root = project.root): Outcome {
  const git = gitIn(root, project.environment(0));
  git("fsck", "--no-dangling", "--no-progress");
  const paths = git("ls-tree", "-r", "-z", "--name-only", "HEAD").split("\0").filter(Boolean);
  const messages = git("log", "-z", "--format=%B").split("\0").map((text) => steady(text.trim()));
  const told = messages.filter((text) => !NOTED.test(text));
  return {
    tree: new Map(paths.map((path) => [path, inOrder(project, path, steady(git("show", `HEAD:${path}`)))])),
    commits: new Map(
      project.items.map((id) => [id, told.filter((text) => namedIn(text).includes(id)).sort().join("\n--\n")]),
    ),
    state: stateOf({ ...project, root }),
    status: git("status", "--porcelain", "--untracked-files=all").trimEnd(),
  };
}

/** The differences, in words; empty if all is the same. Pure. */
export function differences(found: Outcome, wanted: Outcome): readonly string[] {
  const maps = (what: string, one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): string[] =>
    [...new Set([...one.keys(), ...other.keys()])].filter((key) => one.get(key) !== other.get(key)).map((key) =>
      `${what} ${key}: ${shown(one.get(key))}, without a kill ${shown(other.get(key))}`
    );
  return [
    ...maps("file", found.tree, wanted.tree),
    ...maps("commits of", found.commits, wanted.commits),
    ...maps("state of", found.state, wanted.state),
    ...(found.status === wanted.status ? [] : [`the tree: ${found.status}, without a kill ${wanted.status}`]),
  ];
}

/** Damage that the comparison must see: each is done to a copy of the project. */
const DAMAGES: readonly (readonly [what: string, seen: RegExp, damage: (git: ReturnType<typeof gitIn>) => void])[] = [
  ["a commit taken out", /^commits of /, (git) => {
    const at = lastOfAnItem(git);
    let head = git("rev-parse", `${at}~1`).trim();
    for (const commit of git("rev-list", "--reverse", `${at}..HEAD`).split("\n").filter(Boolean)) {
      const message = git("log", "-1", "--format=%B", commit);
      head = git("commit-tree", `${commit}^{tree}`, "-p", head, "-m", message).trim();
    }
    git("update-ref", "HEAD", head);
  }],
  ["a commit doubled", /^commits of /, (git) => {
    git(
      "commit",
      "--quiet",
      "--allow-empty",
      "--only",
      "--message",
      git("log", "-1", "--format=%B", lastOfAnItem(git)),
    );
  }],
  ["a file removed", /^file src\//, (git) => {
    const [path = ""] = git("ls-files", "src/*1.txt").split("\n");
    git("rm", "--quiet", path);
    git("commit", "--quiet", "--only", "--message", "gone", "--", path);
  }],
];

/** Damages that were done to a copy of the project and not seen: empty, if the comparison can be believed. */
export function unseenDamage(project: KillProject, wanted: Outcome): readonly string[] {
  return DAMAGES.filter(([, seen, damage]) => {
    const copy = join(project.folder, "damaged");
    cpSync(project.root, copy, { recursive: true, verbatimSymlinks: true });
    try {
      damage(gitIn(copy, project.environment(0)));
      return !differences(outcomeOf(project, copy), wanted).some((line) => seen.test(line));
    } finally {
      rmSync(copy, { recursive: true, force: true, maxRetries: 5 });
    }
  }).map(([what]) => `the comparison does not see ${what}`);
}

/** The last commit that adds an item's file. */
function lastOfAnItem(git: ReturnType<typeof gitIn>): string {
  return git("log", "-1", "--format=%H", "--diff-filter=A", "--", "src/*[0-9].txt").trim();
}

/** Workers end in any order, and so do the lines about what they have done. */
function inOrder({ workers }: KillProject, path: string, text: string): string {
  return workers > 1 && path.endsWith("progress.txt") ? text.split("\n").sort().join("\n") : text;
}

function steady(text: string): string {
  return VOLATILE.reduce((now, [what, by]) => now.replace(what, by), text);
}

/** Ids in the first line of a message, or in the line with which Ralph settles. */
function namedIn(message: string): readonly string[] {
  const lines = message.split("\n").filter((line, at) => at === 0 || line.startsWith("ralph: "));
  return lines.join("\n").match(/(?:US-|t-|step-)\d+|\b\d\d-\d\d\b/g) ?? [];
}

function shown(text: string | undefined): string {
  return text === undefined ? "nothing" : JSON.stringify(text.length > 300 ? `${text.slice(0, 300)}…` : text);
}
