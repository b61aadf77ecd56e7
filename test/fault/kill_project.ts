/** The project of the kill battery: many items, an agent that is outside, and work of the user's own in the tree. */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gitIn, makeRepository, writeFiles } from "../repository.ts";
import { COMMAND, itemId, STATE_FILE, type Workflow, workflowFiles } from "./workflow_files.ts";

const FIXTURES = join(dirname(fileURLToPath(import.meta.url)), "../fixtures/fault");

/** The user has these files in the tree and must find them again, byte for byte and uncommitted. */
export const USER_FILES: Readonly<Record<string, string>> = {
  "notes.txt": "first\nmy unfinished edit\n",
  "src/mine.txt": "nobody else's\n",
};

/** How an agent that edits state makes everything look done. */
const FORGE: Readonly<Record<Workflow, string>> = {
  exec: 's/"passes": false/"passes": true/',
  feature: 's/"passes": false/"passes": true/',
  spec: 's/"s":"p"/"s":"d"/',
  sprint: "s/status: pending/status: completed/",
  gsd: "s/- \\[ \\]/- [x]/",
};

export interface KillProject {
  readonly workflow: Workflow;
  readonly folder: string;
  readonly root: string;
  /** The agent keeps its log here, outside the repository. */
  readonly storm: string;
  /** Ids, in order. */
  readonly items: readonly string[];
  readonly workers: number;
  /** The words after the program. */
  readonly command: readonly string[];
  environment(start: number): NodeJS.ProcessEnv;
  git(...args: string[]): string;
}

export function createKillProject(workflow: Workflow, count: number, workers = 1): KillProject {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), `ralph-kills-${workflow}-`)));
  const root = join(folder, "project");
  const storm = join(folder, "storm");
  for (const path of [root, storm, join(folder, "home"), join(folder, "tmp"), join(root, "tools")]) mkdirSync(path);
  const items = Array.from({ length: count }, (_, index) => itemId(workflow, index + 1));
  const project: KillProject = {
    workflow,
    folder,
    root,
    storm,
    items,
    workers,
    command: [...COMMAND[workflow], "--ui", "plain", ...(workers === 1 ? [] : ["--parallel", `${workers}`])],
    environment: (start) => ({
      PATH: process.env["PATH"],
      HOME: join(folder, "home"),
      TMPDIR: join(folder, "tmp"),
      LANG: "C.UTF-8",
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_CONFIG_NOSYSTEM: "1",
      STORM: storm,
      STORM_START: `${process.pid}.${start}`,
      STORM_WORKFLOW: workflow,
      STORM_STATE: STATE_FILE[workflow],
      STORM_FORGE: FORGE[workflow],
      STORM_ITEMS: `${count}`,
    }),
    git: (...args) => gitIn(root, project.environment(0))(...args),
  };
  copyFileSync(join(FIXTURES, "kill_agent.sh"), join(folder, "agent.sh"));
  copyFileSync(join(FIXTURES, "kill_check.sh"), join(root, "tools/check.sh"));
  const files = workflowFiles(
    workflow,
    items.map((id, index) => ({
      title: `Write ${id}`,
      check: workflow === "sprint" ? "sh tools/check.sh" : `sh tools/check.sh ${id}`,
      priority: workers === 1 ? index + 1 : 1,
    })),
  );
  const config = {
    ...JSON.parse(files["ralph.config.json"] ?? "{}") as object,
    provider: { command: `sh '${join(folder, "agent.sh")}'` },
  };
  writeFiles(root, {
    "notes.txt": "first\n",
    "src/.gitkeep": "",
    ...files,
    "ralph.config.json": `${JSON.stringify(config)}\n`,
  });
  makeRepository(root, { environment: project.environment(0) });
  for (const [path, text] of Object.entries(USER_FILES)) writeFileSync(join(root, path), text);
  return project;
}

/** The state of each item in the tree: `passed`, or another word. @throws where it cannot be read */
export function stateOf({ root, workflow, items }: KillProject): ReadonlyMap<string, string> {
  const said = statusById(workflow, textOf(join(root, STATE_FILE[workflow])));
  // a spec's tasks leave the plan when they are accepted, a sprint's steps are no steps before its agent has added them
  const unsaid = workflow === "spec" ? "passed" : workflow === "sprint" ? "open" : "lost";
  return new Map(items.map((id) => [id, said.get(id) ?? unsaid]));
}

function textOf(path: string): string {
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}

function statusById(workflow: Workflow, text: string): ReadonlyMap<string, string> {
  const status = (isPassed: boolean): string => isPassed ? "passed" : "open";
  switch (workflow) {
    case "exec":
    case "feature": {
      const { userStories } = JSON.parse(text) as {
        readonly userStories: readonly { readonly id: string; readonly passes: boolean }[];
      };
      return new Map(userStories.map(({ id, passes }) => [id, status(passes)]));
    }
    case "spec": {
      if (text === "") throw new Error("there is no plan");
      const records = text.split("\n").filter(Boolean).map((line) =>
        JSON.parse(line) as { readonly t: string; readonly id: string; readonly s?: string }
      );
      return new Map(records.filter(({ t }) => t === "task").map(({ id, s }) => [id, status(s === "d")]));
    }
    case "sprint":
      return new Map(
        [...text.matchAll(/^ *- id: (step-\d+)\n(?: +.*\n)*? +status: (\S+)/gm)].map(([, id = "", word]) => [
          id,
          status(word === "completed"),
        ]),
      );
    case "gsd":
      return new Map(
        [...text.matchAll(/^- \[(.)\] (\d\d-\d\d)-PLAN/gm)].map(([, box, id = ""]) => [id, status(box === "x")]),
      );
  }
}
