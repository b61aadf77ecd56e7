import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { gitSettings, settingOf } from "../../lib/git/git_settings.ts";
import { openRepository } from "../../lib/git/open_repository.ts";
import { createHost } from "../../lib/host/create_host.ts";

test("settings are read anew where a file that they come from has changed, also one behind a link", async () => {
  const folder = mkdtempSync(join(tmpdir(), "ralph-settings-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [root, target, link] = [join(folder, "project"), join(folder, "dotfile"), join(folder, "config")];
  execFileSync("git", ["init", "-q", root]);
  writeFileSync(target, "[user]\n\tname = Ada\n");
  symlinkSync(target, link);
  const repository = (await openRepository(createHost(), root))!;
  const asked: string[] = [];
  const git: typeof repository.git = (words, options) => {
    asked.push(words[0]!);
    return repository.git(words, { ...options, environment: { ...options?.environment, GIT_CONFIG_GLOBAL: link } });
  };
  const nameNow = async (): Promise<unknown> => settingOf(await gitSettings({ ...repository, git }), "user.name");

  expect([await nameNow(), await nameNow(), asked.length]).toEqual(["Ada", "Ada", 1]);
  writeFileSync(target, "[user]\n\tname = Grace\n");
  expect(await nameNow()).toBe("Grace");
  execFileSync("git", ["-C", root, "config", "user.name", "Here"]);
  expect(await nameNow()).toBe("Here");
});
