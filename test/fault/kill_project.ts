/** The project of the kill battery: many stories, an agent that is outside, and work of the user's own in the tree. */
import { copyFileSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gitIn, makeRepository } from "../repository.ts";

const FIXTURES = join(dirname(fileURLToPath(import.meta.url)), "../fixtures/fault");

/** What the user has in the tree and must find again, byte for byte and uncommitted. */
export const USER_FILES: Readonly<Record<string, string>> = {
  "notes.txt": "first\nmy unfinished edit\n",
  "src/mine.txt": "nobody else's\n",
};

export interface KillProject {
  readonly folder: string;
  readonly root: string;
  /** Where the agent keeps its log, outside the repository. */
  readonly storm: string;
  readonly stories: readonly string[];
  /** Of `ralph run`. */
  readonly flags: readonly string[];
  environment(start: number): NodeJS.ProcessEnv;
  git(...args: string[]): string;
}

export function createKillProject(count: number, workers = 1): KillProject {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "ralph-kills-")));
  const root = join(folder, "project");
  const storm = join(folder, "storm");
  for (
    const path of [
      root,
      storm,
      join(folder, "home"),
      join(root, "src"),
      join(root, "tools"),
      join(root, "scripts/ralph"),
    ]
  ) {
    mkdirSync(path, { recursive: true });
  }
  const stories = Array.from({ length: count }, (_, index) => `US-${String(index + 1).padStart(3, "0")}`);
  const project: KillProject = {
    folder,
    root,
    storm,
    stories,
    flags: workers === 1 ? [] : ["--parallel", `${workers}`],
    environment: (start) => ({
      PATH: process.env["PATH"],
      HOME: join(folder, "home"),
      LANG: "C.UTF-8",
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_CONFIG_NOSYSTEM: "1",
      STORM: storm,
      STORM_START: `${start}`,
    }),
    git: (...args) => gitIn(root, project.environment(0))(...args),
  };
  copyFileSync(join(FIXTURES, "kill_agent.sh"), join(folder, "agent.sh"));
  copyFileSync(join(FIXTURES, "kill_check.sh"), join(root, "tools/check.sh"));
  writeFileSync(join(root, "notes.txt"), "first\n");
  writeFileSync(join(root, "src/.gitkeep"), "");
  writeFileSync(
    join(root, "ralph.config.json"),
    `${JSON.stringify({ provider: { command: `sh '${join(folder, "agent.sh")}'` } })}\n`,
  );
  writeFileSync(
    join(root, "scripts/ralph/prd.json"),
    `${
      JSON.stringify(
        {
          branchName: "main",
          userStories: stories.map((id, index) => story(id, workers === 1 ? index + 1 : 1)),
        },
        null,
        2,
      )
    }\n`,
  );
  makeRepository(root, { environment: project.environment(0) });
  for (const [path, text] of Object.entries(USER_FILES)) writeFileSync(join(root, path), text);
  return project;
}

function story(id: string, priority: number): object {
  const criteria = [`src/${id}.txt is good`, `Verify: \`sh tools/check.sh ${id}\``];
  return { id, title: `Write ${id}`, acceptanceCriteria: criteria, priority, passes: false, notes: "" };
}
