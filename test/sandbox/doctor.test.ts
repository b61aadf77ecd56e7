import { expect, it } from "vitest";
import { ralphCli } from "../e2e/cli.ts";
import { needs, SANDBOX } from "../needs.ts";

it(
  "doctor --sandbox tries it and leaves nothing",
  needs(...SANDBOX),
  async () => {
    const { stdout, git } = await ralphCli()
      .agent("claude", "echo 2.1.330")
      .env({ IS_SANDBOX: "1" })
      .args("doctor", "--sandbox")
      .files({ "ralph.config.json": JSON.stringify({ provider: { preset: "claude" } }), "a.txt": "a" })
      .expectExit(0);
    expect(stdout).toContain("sandbox: bubblewrap, the agent's own hosts; not used: `--sandbox` or `sandbox.mode`");
    expect(stdout).toMatch(/✓ +allowed +write the working tree/);
    expect(stdout).toMatch(/✓ +allowed +start claude/);
    for (const name of ["write git's hooks", "set git's configuration", "write the home folder", "write the system"]) {
      expect(stdout).toMatch(new RegExp(`✓ +denied +${name}`));
    }
    expect(git("status", "--short")).toBe("");
    expect(git("config", "--get-regexp", "user")).not.toContain("doctor");
  },
);
