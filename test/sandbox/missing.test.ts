import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { ralphCli } from "../e2e/cli.ts";
import { needs, SANDBOX } from "../needs.ts";

const folder = mkdtempSync(join(tmpdir(), "ralph-path-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** PATH with every program but these. */
function pathWithout(...missing: readonly string[]): string {
  const bin = mkdtempSync(join(folder, "bin-"));
  mkdirSync(bin, { recursive: true });
  for (const from of ["/usr/local/bin", "/usr/bin", "/bin"]) {
    for (const name of readdirSync(from)) {
      if (missing.includes(name)) continue;
      try {
        symlinkSync(join(from, name), join(bin, name));
      } catch {
        // the same name in an earlier folder
      }
    }
  }
  return bin;
}

const STORY = { id: "US-001", title: "A", acceptanceCriteria: ["Verify: `test -f made.txt`"], priority: 1 };
const PRD = { branchName: "main", userStories: [{ ...STORY, passes: false, notes: "" }] };

function run(path: string, config: object, ...flags: readonly string[]) {
  return ralphCli()
    .files({ "scripts/ralph/prd.json": JSON.stringify(PRD), "ralph.config.json": JSON.stringify(config) })
    .env({ PATH: path })
    .args(
      "run",
      "--workflow",
      "exec",
      "--ui",
      "plain",
      "--agent-cmd",
      "cat >/dev/null; touch made.txt; echo '<promise>COMPLETE</promise>'",
      ...flags,
    );
}

describe("where something is missing", needs(...SANDBOX), () => {
  const bare = pathWithout("bwrap");

  it.each([
    ["--sandbox", {}],
    ["--strict", {}],
    ["--quiet", { sandbox: { mode: "required" } }],
  ])("%s %o ends with 4, says what to install, and starts no agent", async (flag, config) => {
    const { stderr, read } = await run(bare, config, flag).expectExit(4);
    expect(stderr).toContain("no sandbox is available: bubblewrap (`bwrap`) is not installed");
    expect(stderr).toContain("apt-get install bubblewrap socat");
    expect(read("made.txt")).toBeNull();
  });

  it("socat is named where hosts are let through one by one", async () => {
    const { stderr } = await run(pathWithout("socat"), {}, "--sandbox").expectExit(4);
    expect(stderr).toContain("socat is not installed");
  });

  it("RALPH_SANDBOX is --sandbox", async () => {
    await run(bare, {}).env({ PATH: bare, RALPH_SANDBOX: "1" }).expectExit(4);
  });

  it("mode on works without one, and says so first and last", async () => {
    const { stderr } = await run(bare, { sandbox: { mode: "on" } }).expectExit(0);
    expect(stderr).toContain("warning: no sandbox: bubblewrap (`bwrap`) is not installed");
    expect(stderr).toMatch(/✓ passed[\s\S]*no sandbox/);
  });

  it("--strict --no-sandbox works without one, and says so", async () => {
    const { stderr } = await run(bare, {}, "--strict", "--no-sandbox").expectExit(0);
    expect(stderr).toMatch(/✓ passed[\s\S]*no sandbox/);
  });
});

it("a verdict without bubblewrap ends with one sentence that says how to get it", needs("Linux"), () => {
  const { command, cwd, environment } = run(pathWithout("bwrap", "codex"), {}).prepare();
  const [file = "", ...args] = command;
  const { stderr, status } = spawnSync(file, args, { cwd, env: environment, encoding: "utf8" });

  expect(status, stderr).toBe(0);
  expect(stderr).toContain(
    "\n  environment  bubblewrap is not installed, so the final check ran in a copy at a different path. " +
      "`apt-get install bubblewrap` removes this note.\n",
  );
});
