import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { ralphCli } from "../e2e/cli.ts";
import { faultProject, passedIn, WORK } from "./world.ts";

/** A PATH with these programs alone. */
function pathOf(...programs: readonly string[]): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "ralph-path-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "bin"));
  for (const name of programs) {
    symlinkSync(
      execFileSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).trim(),
      join(folder, "bin", name),
    );
  }
  return join(folder, "bin");
}

const TOOLS = ["cat", "grep", "mkdir", "sleep", "true"];

describe("a PATH without", () => {
  test("git: told before anything starts", async () => {
    const { root } = await faultProject(WORK).cli.args("status").expectExit(0);

    const path = pathOf("sh", ...TOOLS);
    const { stderr } = await ralphCli(root).env({ PATH: path }).args("run", "--agent-cmd", "mkdir ran").expectExit(2);

    expect(stderr).toMatch(
      /error: `git` was not found on PATH\nhint: install git \(https:\/\/git-scm\.com\) and try again\n$/,
    );
    expect(existsSync(join(root, "ran"))).toBe(false);
  });

  test("bash: checks run in sh", async () => {
    const project = faultProject(WORK, {
      config: { provider: { command: `sh -c '${WORK.replaceAll("'", `'\\''`)}'` } },
    });

    const { root } = await project.cli.env({ PATH: pathOf("sh", "git", ...TOOLS) }).expectExit(0);

    expect(passedIn(root)).toEqual(["US-001"]);
  });

  test("any shell: /bin/sh is there all the same", async () => {
    const { root } = await faultProject(WORK).cli.args("status").expectExit(0);

    await ralphCli(root).env({ PATH: pathOf("git", ...TOOLS) }).args("run", "--agent-cmd", WORK).expectExit(0);

    expect(passedIn(root)).toEqual(["US-001"]);
  });
});
