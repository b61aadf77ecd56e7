/** Runners in clones of one bare repository, against a server that behaves like GitHub. */
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ARTEFACT } from "../e2e/cli.ts";
import { gitIn, makeRepository, type TestGit } from "../repository.ts";
import { PROJECT } from "./github_server.ts";

/** Writes a file that is named like the issue, and notes the turn. */
const AGENT = [
  'p=$(cat); n=$(printf %s "$p" | grep -oE "issue #[0-9]+" | head -1 | grep -oE "[0-9]+")',
  'echo "$n" >> "$TURNS"; env > "$TURNS.env"; printf "%s" "$p" > "$TURNS.prompt-$n"',
  "sleep ${TURN_SECONDS:-0}",
  'echo "$n" > "fix-$n.txt"',
  'echo "$p" | grep -oE "<ralph [a-z0-9]+>DONE</ralph>" | head -1',
].join("; ");

export interface Farm extends Disposable {
  readonly folder: string;
  readonly remote: TestGit;
  readonly turns: string;
  /** Makes a clone. */
  clone(name: string, config?: object): string;
}

/** A bare repository with one commit, and room for clones. */
export function farm(url: string): Farm {
  const folder = mkdtempSync(join(tmpdir(), "ralph-trackers-"));
  const bare = join(folder, "remote.git");
  execFileSync("git", ["init", "--quiet", "--bare", "--initial-branch=main", bare]);
  const first = join(folder, "first");
  mkdirSync(first);
  const config = {
    provider: { command: AGENT },
    verify: { default: ["test -f README.md"], baseline: false, final: "tree" },
    tests: { integrity: "off" },
    experiments: { budget: 0 },
    tracker: { name: "github", project: PROJECT, url, heartbeat: 300 },
  };
  const git = makeRepository(first, { files: { "ralph.config.json": JSON.stringify(config), "README.md": "shop\n" } });
  git("push", "--quiet", bare, "main");
  return {
    folder,
    remote: gitIn(bare),
    turns: join(folder, "turns"),
    clone(name, change = {}) {
      const path = join(folder, name);
      execFileSync("git", ["clone", "--quiet", bare, path]);
      const own = gitIn(path);
      own("config", "user.name", name);
      own("config", "user.email", `${name}@example.com`);
      const tracker = { ...config.tracker, ...change };
      const text = JSON.stringify({ ...config, tracker });
      if (text !== JSON.stringify(config)) {
        writeFileSync(join(path, "ralph.config.json"), text);
        own("commit", "--quiet", "--all", "--message", "config");
      }
      return path;
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export interface Ran {
  readonly code: number | null;
  readonly out: string;
}

export interface Running {
  readonly pid: number;
  readonly end: Promise<Ran>;
  /** Everything that it printed so far. */
  out(): string;
}

const [PROGRAM = "", ...FIRST] = ARTEFACT;
export const TOKEN = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

/** Starts `ralph` in a clone. */
export function start(
  { turns }: Pick<Farm, "turns">,
  cwd: string,
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Running {
  const variables = { ...process.env, GH_TOKEN: TOKEN, TURNS: turns, RALPH_HISTORY: "", ...environment };
  const child = spawn(PROGRAM, [...FIRST, ...words], { cwd, env: variables, stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  child.stdout.on("data", (chunk) => text += String(chunk));
  child.stderr.on("data", (chunk) => text += String(chunk));
  const end = new Promise<Ran>((done) => child.on("close", (code) => done({ code, out: text })));
  return { pid: child.pid!, end, out: () => text };
}

/** Runs it to its end. */
export async function ralph(
  place: Pick<Farm, "turns">,
  cwd: string,
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  return await start(place, cwd, words, environment).end;
}
