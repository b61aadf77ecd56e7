/** A project with stories, an agent that misbehaves, and what must hold afterwards. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { type Cli, ralphCli } from "../e2e/cli.ts";
import { endCarriers, untilGone } from "./processes.ts";

/** A story as the strict PRD has it. */
export interface StoryText {
  readonly id: string;
  readonly title: string;
  readonly acceptanceCriteria: readonly string[];
  readonly priority: number;
  readonly passes: boolean;
  readonly notes: string;
}

export interface FaultProject {
  readonly cli: Cli;
  /** `NAME=value` that every process of this project carries. */
  readonly mark: string;
}

/** Story `n` is done when `work/n.txt` holds `done`. */
export function stories(count: number): readonly StoryText[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `US-00${index + 1}`,
    title: `Write ${index + 1}`,
    acceptanceCriteria: [`Verify: \`grep -qx done work/${index + 1}.txt\``],
    priority: index + 1,
    passes: false,
    notes: "",
  }));
}

export function prdText(of: readonly StoryText[], branchName = "main"): string {
  return `${JSON.stringify({ branchName, userStories: of }, null, 2)}\n`;
}

/** Shell for an agent that does the story it was given, and says so as its prompt asks. `$n` is the story's number. */
export const WORK = 'p=$(cat); p=${p#*"<promise "}; n=${RALPH_ITEM#US-00}; mkdir -p work; echo done > "work/$n.txt"; ' +
  'echo "<promise ${p%%>*}>COMPLETE</promise>"';

/** Shell for an agent that never ends. Its script may be replaced once `../begun` is there. */
export const HANGS = "echo yes > ../begun; sleep 300";

let projects = 0;

/** `ralph run` with the agent `worker`, a shell script, over `count` stories. */
export function faultProject(
  script: string,
  options: { readonly count?: number; readonly config?: object; readonly prd?: string } = {},
): FaultProject {
  projects += 1;
  const mark = `FAULT=${process.pid}-${projects}`;
  const cli = ralphCli().files({
    ".gitignore": "ignored/\n",
    "ralph.config.json": `${JSON.stringify({ provider: { command: "worker" }, ...options.config })}\n`,
    "scripts/ralph/prd.json": options.prd ?? prdText(stories(options.count ?? 1)),
  }).agent("worker", script).env({ FAULT: mark.slice("FAULT=".length), CI: "true" }).args("run");
  onTestFinished(() => endCarriers(mark));
  return { cli, mark };
}

/** The ids of the stories that prd.json says have passed; the file must be whole. */
export function passedIn(root: string): readonly string[] {
  const prd = JSON.parse(readFileSync(join(root, "scripts/ralph/prd.json"), "utf8")) as {
    readonly userStories: readonly StoryText[];
  };
  return prd.userStories.filter(({ passes }) => passes).map(({ id }) => id);
}

/** No process of the project is left after 3 s, and no lock stands in anybody's way. */
export async function expectNothingLeft({ mark }: FaultProject, root: string): Promise<void> {
  expect(await untilGone(mark, 3000)).toBeTypeOf("number");
  for (const path of [".git/index.lock", ".git/HEAD.lock", ".git/ralph/run.lock", ".git/ralph/store.lock"]) {
    expect(existsSync(join(root, path)), path).toBe(false);
  }
}
