import { spawnSync } from "node:child_process";
import { existsSync, lstatSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { RalphContext } from "../../lib/context/context.ts";
import { RalphError } from "../../lib/errors/ralph_error.ts";
import type { LoopOutcome } from "../../lib/loop/run/outcome.ts";
import { runLoop } from "../../lib/loop/run/run_loop.ts";
import { prdBacklog } from "../../lib/workflows/exec/backlog.ts";
import { featureBacklog } from "../../lib/workflows/feature/backlog.ts";
import { parseDirectory } from "../../lib/workflows/feature/directories.ts";
import { gsdBacklog } from "../../lib/workflows/gsd/backlog.ts";
import { specBacklog } from "../../lib/workflows/spec/backlog.ts";
import { sprintBacklog } from "../../lib/workflows/sprint/backlog.ts";
import { compileSprint } from "../../lib/workflows/sprint/compile.ts";
import { loopWorld } from "../loop/loop_world.ts";
import { randomNumbers, seedOfRun } from "../workflows/spec/random_numbers.ts";
import { randomTurn } from "./property_turns.ts";
import { PROJECTS, startFiles } from "./rows/languages.ts";
import { type Case, type Workflow, WORKFLOWS } from "./rows/types.ts";
import { STATE } from "./rows/workflows.ts";

const SPRINT = ".claude/sprints/calc";
const LIMITS = { maxIterations: 5 };
const TESTS = ["add", "mul"].map((name) => PROJECTS.shell.test(name as "add"));
const RUN: Readonly<Record<Workflow, (ralph: RalphContext) => Promise<LoopOutcome>>> = {
  exec: (ralph) => runLoop(ralph, prdBacklog(ralph), LIMITS),
  feature: (ralph) => runLoop(ralph, featureBacklog(ralph, { feature: parseDirectory("2026-01-01-calc")! }), LIMITS),
  spec: (ralph) => runLoop(ralph, specBacklog(ralph), LIMITS),
  sprint: (ralph) => runLoop(ralph, sprintBacklog(ralph, { directory: SPRINT }), LIMITS),
  gsd: (ralph) => runLoop(ralph, gsdBacklog(ralph), LIMITS),
};

/** One run, drawn from a seed: how it ended, and what of the promise does not hold. */
async function oneRun(workflow: Workflow, seed: number): Promise<{ readonly end: string; readonly broken: string[] }> {
  const random = randomNumbers(seed);
  const config = { protect: ["test/**"], verify: { baseline: random.chance(0.3) } };
  const given: Case = { name: "", workflow, language: "shell", agent: "", items: 2, config };
  const before: Readonly<Record<string, string>> = { ...startFiles("shell"), ...STATE[workflow](given) };
  const scripts: string[] = [];
  await using world = await loopWorld(async (request) => {
    const { script, turn } = await randomTurn(random, workflow, request);
    scripts.push(script);
    return turn;
  }, { files: before });
  const ends: string[] = [];
  try {
    if (workflow === "sprint") {
      await compileSprint(world.ralph, { directory: SPRINT });
      await world.git("add", "-A");
      await world.git("commit", "-qm", "compiled");
    }
    let ralph = world.ralph;
    for (let left = random.chance(0.3) ? 2 : 1; left > 0 && ends.at(-1) !== "passed"; left -= 1) {
      const outcome = await RUN[workflow](ralph);
      ends.push(outcome.status);
      if (left > 1) ralph = await world.again();
    }
  } catch (error) {
    if (!RalphError.isInstance(error)) {
      throw new Error(`seed ${seed}, ${workflow}\n${scripts.join("\n--\n")}`, { cause: error });
    }
    ends.push(`error ${error.code}`);
  }
  const end = ends.at(-1) ?? "none";
  const broken = end === "passed" ? violations(world.root, before) : [];
  return { end, broken: broken.map((line) => `seed ${seed}, ${workflow}: ${line}\n${scripts.join("\n--\n")}`) };
}

/**
 * The parts of the promise that do not hold: checks in a clean clone of HEAD, and files that only a person may change.
 */
function violations(root: string, before: Readonly<Record<string, string>>): string[] {
  const folder = mkdtempSync(join(tmpdir(), "ralph-property-"));
  const env = { PATH: process.env["PATH"], HOME: folder, GIT_CONFIG_NOSYSTEM: "1", GIT_NO_REPLACE_OBJECTS: "1" };
  const clone = join(folder, "clone");
  try {
    const made = spawnSync("git", ["clone", "-q", `file://${root}`, clone], { env, encoding: "utf8" });
    if (made.status !== 0) return [`HEAD cannot be cloned: ${made.stderr}`];
    const differs = (at: string, path: string): boolean => {
      const file = join(at, path);
      return !existsSync(file) || !lstatSync(file).isFile() || readFileSync(file, "utf8") !== before[path];
    };
    const changed = [...TESTS, "ralph.config.json"].flatMap((path) => [
      ...(differs(root, path) ? [`${path} differs in the tree`] : []),
      ...(differs(clone, path) ? [`${path} differs in HEAD`] : []),
    ]);
    const red = TESTS.filter((path) => spawnSync("sh", [path], { cwd: clone, env }).status !== 0);
    return [...changed, ...red.map((path) => `sh ${path} fails in a clean clone of HEAD`)];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describe("whenever a run has passed", () => {
  const runs = Number(process.env["RALPH_RUNS"] ?? 10);
  const seed = seedOfRun();

  test(
    `a clean clone of HEAD passes every check that the items had when it began (${runs} runs, RALPH_SEED=${seed})`,
    async () => {
      const ends: Record<string, number> = {};
      const broken: string[] = [];
      const started = performance.now();
      let next = 0;
      let done = 0;
      // A run that is cut off has a result all the same.
      const tell = (): void => {
        const seconds = Math.round((performance.now() - started) / 1000);
        console.log(
          `seed ${seed}: ${done} of ${runs} runs, ${broken.length} violations, ${seconds} s: ${JSON.stringify(ends)}`,
        );
      };
      const lane = async (): Promise<void> => {
        for (let index = next++; index < runs; index = next++) {
          const workflow = WORKFLOWS[index % WORKFLOWS.length] ?? "exec";
          const run = await oneRun(workflow, seed + index);
          ends[`${workflow} ${run.end}`] = (ends[`${workflow} ${run.end}`] ?? 0) + 1;
          broken.push(...run.broken);
          for (const line of run.broken) console.log(line);
          if (run.end.startsWith("error")) console.log(`seed ${seed + index}, ${workflow}: ended with ${run.end}`);
          done += 1;
          if (done % 25 === 0 && done < runs) tell();
        }
      };
      await Promise.all([lane(), lane(), lane()]);
      tell();

      expect(broken).toEqual([]);
    },
    60_000 + runs * 10_000,
  );
});
