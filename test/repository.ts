import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { writeFirstCommit } from "./first_commit.ts";

/** The parts of a test's repository. */
export interface RepositoryOptions {
  /** Path to content. @default none */
  readonly files?: Readonly<Record<string, string>>;
  /** Subject of the first commit, of all that the folder holds; `null`: none is made. @default "start" */
  readonly commit?: string | null;
  /** @default "Ada" with "ada@example.com" */
  readonly person?: { readonly name: string; readonly email: string };
  /** More lines of the repository's configuration. @default "" */
  readonly config?: string;
  /** git runs with this environment. @default the environment of the test */
  readonly environment?: NodeJS.ProcessEnv;
}

/** Runs git in the repository; gives what it printed. @throws {Error} with what it said, when it fails */
export type TestGit = (...arguments_: readonly string[]) => string;

/** Makes a repository of the folder, on the branch `main`, with an identity of its own. */
export function makeRepository(root: string, options: RepositoryOptions = {}): TestGit {
  const { files = {}, commit = "start", config = "", environment = process.env } = options;
  const { name, email } = options.person ?? { name: "Ada", email: "ada@example.com" };
  const git = gitIn(root, environment);
  const paths = readdirSync(root).length === 0 && config === "" ? Object.keys(files) : null;
  begin(root, git);
  appendFileSync(join(root, ".git/config"), `[user]\n\tname = ${name}\n\temail = ${email}\n${config}`);
  writeFiles(root, files);
  if (commit === null) return git;
  if (paths !== null && !paths.some((path) => OF_GIT_REGEXP.test(path)) && !written?.[0]?.includes("extensions")) {
    writeFirstCommit(root, paths, `${name} <${email}>`, commit);
  } else {
    git("add", "--all");
    git("-c", "maintenance.auto=false", "commit", "--quiet", "--allow-empty", "--message", commit);
  }
  return git;
}

/** Files that git reads before it adds others, and paths that it would spell otherwise. */
const OF_GIT_REGEXP = /(?:^|\/)(?:\.git|\.{0,2}(?:\/|$))/;

/** As git writes them on this machine. */
const WRITTEN = ["config", "info/exclude"];
let written: readonly Buffer[] | undefined;

/** As `git init` does, without its process and its samples: thousands of tests begin with one. */
function begin(root: string, git: TestGit): void {
  if (written === undefined || existsSync(join(root, ".git"))) {
    git("init", "--quiet", "--initial-branch=main");
    written ??= WRITTEN.map((name) => readFileSync(join(root, ".git", name), { flag: "a+" }));
    return;
  }
  for (const name of ["hooks", "info", "objects/info", "objects/pack", "refs/heads", "refs/tags"]) {
    mkdirSync(join(root, ".git", name), { recursive: true });
  }
  writeFileSync(join(root, ".git/HEAD"), "ref: refs/heads/main\n");
  for (const [index, name] of WRITTEN.entries()) writeFileSync(join(root, ".git", name), written[index] ?? "");
}

/** Git in a folder. */
export function gitIn(root: string, environment: NodeJS.ProcessEnv = process.env): TestGit {
  return (...arguments_) => {
    const { status, stdout, stderr, error } = spawnSync("git", arguments_, {
      cwd: root,
      env: environment,
      encoding: "utf8",
      maxBuffer: 1 << 28,
    });
    if (error !== undefined) throw error;
    if (status !== 0) throw new Error(`Command failed: git ${arguments_.join(" ")}\n${stderr}`);
    return stdout;
  };
}

/** Writes files below a folder, by path. */
export function writeFiles(root: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}
