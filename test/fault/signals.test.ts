import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { ralphCli } from "../e2e/cli.ts";
import { sampled } from "../sampled.ts";
import { expectNothingLeft, faultProject, passedIn, prdText, stories, WORK } from "./world.ts";

const HOOK = join(dirname(fileURLToPath(import.meta.url)), "../fixtures/fault/slow_hook.sh");
const HANG =
  "[ -f \"$FAULT_AGAIN\" ] || { touch ignored/here; setsid sleep 300 & (trap '' TERM INT HUP; sleep 300) & sleep 300; }";
const PHASES: readonly (readonly [phase: string, agent: string, criterion: string])[] = [
  ["an agent's turn", `mkdir -p ignored; ${HANG}; ${WORK}`, "Verify: `test -f work/1.txt`"],
  ["a check", `mkdir -p ignored; ${WORK}; echo '<promise>COMPLETE</promise>'`, `Verify: \`${HANG}\``],
  [
    "the commit",
    `mkdir -p ignored; [ -f ignored/again ] || touch ignored/slow-hook; ${WORK}`,
    "Verify: `test -f work/1.txt`",
  ],
];

async function until(path: string): Promise<void> {
  await expect.poll(() => existsSync(path)).toBe(true);
}

// each signal and each phase once in the short form
describe.each([["SIGTERM", 0], ["SIGINT", 1], ["SIGHUP", 2]] as const)("%s to Ralph alone", (signal, first) => {
  test.each(sampled([...PHASES.slice(first), ...PHASES.slice(0, first)]))(
    "during %s leaves valid state, no process, and a run that continues",
    async (_phase, agent, criterion) => {
      const prd = prdText([{ ...stories(1)[0]!, acceptanceCriteria: [criterion] }]);
      const project = faultProject(agent, { prd });
      const folder = mkdtempSync(join(tmpdir(), "ralph-again-"));
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
      const FAULT_AGAIN = join(folder, "again"); // a checkout may be elsewhere
      const running = project.cli.env({ FAULT_AGAIN }).before(
        `mkdir -p ignored; cp '${HOOK}' .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit`,
      ).start();
      await until(join(running.root, "ignored/here"));

      const started = performance.now();
      running.child.kill(signal);
      const { exitCode, root, stderr } = await running.ended();

      expect(exitCode, stderr).toBe(130);
      expect(performance.now() - started).toBeLessThan(10_000);
      expect(stderr).not.toMatch(/internal|at .*\.ts:/);
      passedIn(root);
      await expectNothingLeft(project, root);

      for (const path of [join(root, "ignored/again"), FAULT_AGAIN]) writeFileSync(path, "");
      const again = await ralphCli(root).env({ FAULT_AGAIN }).agent("worker", agent).args("run").expectExit(0);
      expect(passedIn(root)).toEqual(["US-001"]);
      expect(again.git("log", "--format=%s").match(/^feat: US-001/gm)).toHaveLength(1);
      expect(again.git("status", "--porcelain")).toBe("");
    },
  );
});
