import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { expect, test } from "vitest";
import { environment, ROOT } from "../../tools/runtimes.mjs";
import { temporaryRepository } from "../../lib/testing/temporary_repository.ts";
import { finish } from "./runtimes.ts";

test("a run that is paused holds its process under Node.js, which ends one that waits for nothing", async () => {
  const story = { id: "US-001", title: "a", priority: 1, passes: false, notes: "" };
  const stories = [{ ...story, acceptanceCriteria: ["Verify: `test -f a.txt`"] }, {
    ...story,
    id: "US-002",
    acceptanceCriteria: ["Verify: `test $(wc -l < a.txt) = 2`"],
  }];
  await using repository = await temporaryRepository({
    files: { "scripts/ralph/prd.json": JSON.stringify({ branchName: "main", userStories: stories }) },
  });
  const program = join(ROOT, "dist", "bin", "ralph.js");
  const agent =
    "cat > /dev/null; touch .git/begun; until test -f .git/go || [ $((waits = waits + 1)) -gt 1200 ]; do sleep 0.1; done; echo x >> a.txt; echo '<promise>COMPLETE</promise>'";
  const child = spawn(process.execPath, [program, "run", "--agent-cmd", agent, "--branch="], {
    cwd: repository.path,
    env: environment({}),
    stdio: ["ignore", "ignore", "pipe"],
  });
  let shown = "";
  child.stderr.on("data", (chunk: Buffer) => shown += chunk.toString());
  const ended = new Promise<number | null>((done) => child.on("close", (code) => done(code)));
  await expect.poll(() => existsSync(join(repository.path, ".git/begun"))).toBe(true);

  expect((await finish([process.execPath, program], ["pause"], repository.path)).code).toBe(0);
  await finish(["touch"], [".git/go"], repository.path);
  await expect.poll(() => shown).toContain("paused: `ralph resume` continues");
  await new Promise((done) => setTimeout(done, 1000));
  expect(child.exitCode).toBeNull();
  expect((await finish([process.execPath, program], ["resume"], repository.path)).code).toBe(0);

  expect([await ended, shown]).toEqual([0, expect.stringContaining("passed: 2 verified")]);
  expect(readFileSync(join(repository.path, "a.txt"), "utf8")).toBe("x\nx\n");
  expect(readdirSync(join(repository.path, ".git/ralph/control"))).toEqual([]);
});
