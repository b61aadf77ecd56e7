import type { RalphContext } from "../../lib/context/context.ts";
import { runLoop } from "../../lib/loop/run/run_loop.ts";
import type { LoopOptions, LoopOutcome } from "../../lib/loop/run/outcome.ts";
import type { RalphOptions } from "../../lib/recipe/create_ralph.ts";
import { prdBacklog } from "../../lib/workflows/exec/backlog.ts";
import { featureBacklog } from "../../lib/workflows/feature/backlog.ts";
import { parseDirectory } from "../../lib/workflows/feature/directories.ts";
import { gsdBacklog } from "../../lib/workflows/gsd/backlog.ts";
import { specBacklog } from "../../lib/workflows/spec/backlog.ts";
import { doneTask } from "../../lib/workflows/spec/mutations.ts";
import { planStore } from "../../lib/workflows/spec/store.ts";
import { sprintBacklog } from "../../lib/workflows/sprint/backlog.ts";
import { compileSprint } from "../../lib/workflows/sprint/compile.ts";
import { loopWorld, type Turns, type World } from "../loop/loop_world.ts";
import { planText, PROJECT, THREE, TWO } from "../workflows/gsd/planning.ts";

export const CHECK = "test -f done.txt\n";
const FEATURE = parseDirectory("2026-01-01-calc")!;
const STORY = { title: "Make done.txt", acceptanceCriteria: ["Verify: `sh check.sh`"], passes: false, notes: "" };

/** The last lines of a run call these restored. */
export function restoredIn({ notices }: LoopOutcome): readonly string[] {
  return notices.flatMap(({ kind, subject }) => kind === "restored" ? [subject] : []);
}

/** One workflow in a repository of its own: what it asks for is that `sh check.sh` passes. */
export interface Workflow {
  readonly name: string;
  readonly state: string;
  /** A prompt of its own, and a file of it that says what is asked for; `null` where state says all. */
  readonly prompt: string;
  readonly plan: string | null;
  readonly files: Readonly<Record<string, string>>;
  prepare?(ralph: RalphContext): Promise<unknown>;
  run(ralph: RalphContext, options: LoopOptions): Promise<LoopOutcome>;
  /** Its agent says this, or runs it, when it claims to be done. */
  claim(ralph: RalphContext, prompt: string): Promise<readonly string[]>;
}

export const WORKFLOWS: readonly Workflow[] = [
  {
    name: "exec",
    state: "scripts/ralph/prd.json",
    prompt: "scripts/ralph/prompt.md",
    plan: null,
    files: {
      "scripts/ralph/prd.json": JSON.stringify({
        branchName: "main",
        userStories: [{ id: "US-1", priority: 1, ...STORY }, { id: "US-2", priority: 2, ...STORY }],
      }),
    },
    run: (ralph, options) => runLoop(ralph, prdBacklog(ralph), options),
    claim: () => Promise.resolve(["<promise>COMPLETE</promise>"]),
  },
  {
    name: "feature",
    state: FEATURE.prdFile,
    prompt: ".ralph/prompts/feature_run.md",
    plan: FEATURE.markdownFile,
    files: {
      [FEATURE.markdownFile]: "# Calc\n",
      [FEATURE.prdFile]: JSON.stringify({
        schemaVersion: 2,
        project: "P",
        branchName: "main",
        userStories: [{ id: "US-1", priority: 1, ...STORY }],
      }),
    },
    run: (ralph, options) => runLoop(ralph, featureBacklog(ralph, { feature: FEATURE }), options),
    claim: () => Promise.resolve(["<ralph>DONE</ralph>"]),
  },
  {
    name: "spec",
    state: "ralph/plan.jsonl",
    prompt: "ralph/PROMPT_build.md",
    plan: "ralph/specs/a.md",
    files: {
      "ralph/specs/a.md": "# a\n",
      "ralph/plan.jsonl": [
        '{"t":"spec","spec":"a.md"}',
        '{"t":"task","id":"t-1","spec":"a.md","name":"one","s":"p","accept":"Verify: `sh check.sh`"}\n',
      ].join("\n"),
    },
    run: (ralph, options) => runLoop(ralph, specBacklog(ralph), options),
    async claim(ralph) {
      await planStore(ralph).mutate((plan) => doneTask(plan, { id: "t-1", head: "abc1234" }));
      return [];
    },
  },
  {
    name: "sprint",
    state: "sprint/PROGRESS.yaml",
    prompt: ".ralph/prompts/sprint_plan.md",
    plan: "sprint/SPRINT.yaml",
    files: { "sprint/SPRINT.yaml": "workflow: ralph\ngoal: make done.txt\n" },
    prepare: (ralph) => compileSprint(ralph, { directory: "sprint" }),
    run: (ralph, options) => runLoop(ralph, sprintBacklog(ralph, { directory: "sprint" }), options),
    claim: () => Promise.resolve(["RALPH_COMPLETE: reached"]),
  },
  {
    name: "gsd",
    state: ".planning/STATE.md",
    prompt: ".ralph/prompts/gsd_plan.md",
    plan: ".planning/phases/01-base/01-01-PLAN.md",
    files: Object.fromEntries(
      Object.entries(PROJECT).filter(([path]) => path !== TWO && path !== THREE).map(([path, text]) =>
        path.endsWith("01-01-PLAN.md")
          ? [path, planText("done.txt").replace("grep -q right done.txt", "sh check.sh")]
          : [path, text]
      ),
    ),
    run: (ralph, options) => runLoop(ralph, gsdBacklog(ralph), options),
    claim: () => Promise.resolve(["###PLAN_COMPLETE###"]),
  },
];

/** A workflow whose agent does only what `cheat` does, and claims that all is done. */
export async function cheatWorld(
  workflow: Workflow,
  cheat: (world: World, number: number) => Promise<unknown>,
  options: RalphOptions = {},
  files: Readonly<Record<string, string>> = {},
): Promise<World> {
  let made: World | null = null;
  const turns: Turns = async ({ prompt }, number) => {
    await cheat(made!, number);
    const lines = await workflow.claim(made!.ralph, prompt);
    return { lines, text: lines.join("\n") };
  };
  made = await loopWorld(turns, {
    ...options,
    config: { verify: { default: ["sh check.sh"] }, protect: ["check.sh"], ...options.config },
    files: { "check.sh": CHECK, ...workflow.files, ...files },
  });
  await workflow.prepare?.(made.ralph);
  await made.git("add", "-A");
  await made.git("commit", "-q", "--allow-empty", "-m", "prepared");
  return made;
}
