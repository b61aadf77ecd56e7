import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Cli, ralphCli } from "./cli.ts";
import { needs } from "../needs.ts";

const REFUSES = `[ "$1" = --version ] && { echo "2.1.330 (Claude Code)"; exit; }
echo . >> ../started
echo "--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons" >&2
exit 1`;
const PRD = JSON.stringify({
  branchName: "ralph/a",
  userStories: [{
    id: "US-001",
    title: "a",
    acceptanceCriteria: ["Verify: `test -f a`"],
    priority: 1,
    passes: false,
    notes: "",
  }],
});

/** A machine says this if it keeps its program, or a file of it, from the agent. */
const BARRED: readonly (readonly [line: string, code: number])[] = [
  ["Error: EACCES: permission denied, open '/home/a/.claude.json'", 1],
  ["Error: EROFS: read-only file system, mkdir '/home/a/.claude'", 1],
  ["env: 'node': No such file or directory", 127],
];

function claude(...args: string[]): Cli {
  const config = JSON.stringify({ provider: { preset: "claude" } });
  return ralphCli().files({ "ralph.config.json": config, "scripts/ralph/prd.json": PRD })
    .agent("claude", REFUSES).args(...args);
}

describe("an agent that refuses to start", () => {
  test("is started once, and its reason and the way out are named", async () => {
    const { stderr, read } = await claude("run").expectExit(4);

    expect(stderr).toContain("cannot be used with root/sudo privileges");
    expect(stderr).toContain("IS_SANDBOX=1");
    expect(read("../started")).toBe(".\n");
  });

  test.each(BARRED)("is started once where it says %s", async (line, code) => {
    const { stderr, read } = await claude("run").agent(
      "claude",
      `[ "$1" = --version ] && { echo "2.1.330 (Claude Code)"; exit; }
echo . >> ../started; echo "${line}" >&2; exit ${code}`,
    ).expectExit(4);

    expect(stderr).toContain(`\`claude\` does not start: ${line}`);
    expect(read("../started")).toBe(".\n");
  });

  test("is seen by doctor before, and let through where it would start", needs("root"), async () => {
    const { stdout, read } = await claude("doctor").env({ IS_SANDBOX: "" }).expectExit(1);
    expect(stdout).toMatch(/agent +claude \(.*\): it does not run without asking for permission as root/);
    expect(stdout).toContain("IS_SANDBOX=1");
    expect(read("../started")).toBeNull();

    const free = await claude("doctor").env({ IS_SANDBOX: "1", ANTHROPIC_API_KEY: "k" }).expectExit(0);
    expect(free.stdout).toMatch(/agent +claude \([^:]*\)\n/);
  });

  test("doctor names what a verdict would name: no bubblewrap, and how to get it", async () => {
    const { stdout, root } = await ralphCli().args("doctor").expectExit(1);
    expect(stdout).toMatch(/[✓▲] bubblewrap /);

    const bare = await ralphCli(root).env({ PATH: bareBin(root) }).args("doctor").expectExit(1);
    expect(bare.stdout).toContain(
      "bubblewrap (`bwrap`) is not installed: final checks run in a checkout at another path",
    );
    expect(bare.stdout).toContain("apt-get install bubblewrap");
    expect(bare.stdout).toMatch(/ --sandbox +bubblewrap \(`bwrap`\) is not installed: it does not work\n/);
    expect(bare.stdout).toMatch(/ --queue +takes a PostgreSQL/);
  });

  test(
    "doctor says that final checks are complete where only the sandbox lacks a program",
    needs("bubblewrap"),
    async () => {
      const { root } = await ralphCli().args("doctor").expectExit(1);
      const { stdout } = await ralphCli(root).env({ PATH: bareBin(root, "bwrap") }).args("doctor").expectExit(1);
      expect(stdout).toMatch(/✓ bubblewrap +\S+bwrap, for final checks\n/);
      expect(stdout).toMatch(/ --sandbox +socat is not installed: it does not work\n/);
    },
  );
});

/** Git, a shell, and nothing else but what is named. */
function bareBin(root: string, ...more: readonly string[]): string {
  const bin = join(root, "../bare");
  mkdirSync(bin);
  for (const name of ["git", "sh", ...more]) {
    symlinkSync(execFileSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).trim(), join(bin, name));
  }
  return bin;
}
