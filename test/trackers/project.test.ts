import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { defaultConfig } from "../../lib/config/defaults.ts";
import { nameTracker } from "../../lib/trackers/open_tracker.ts";
import { makeRepository } from "../repository.ts";

/** The project on github.com that the tracker of a clone with this remote is. */
async function projectOf(remote: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "ralph-project-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const run = makeRepository(folder, { files: { "a.txt": "a\n" } });
  run("remote", "add", "origin", remote);
  const git = (words: readonly string[]): Promise<{ exitCode: number; stdout: string; stderr: string; tail: string }> =>
    Promise.resolve({ exitCode: 0, stdout: run(...words), stderr: "", tail: "" });
  return (await nameTracker({ ...defaultConfig().tracker, name: "github" }, { git })).project;
}

test.each([
  "git@github.com:acme/shop.git",
  "https://github.com/acme/shop",
  "https://someone:word@GitHub.com/acme/shop.git",
  "ssh://git@ssh.github.com:443/acme/shop.git",
  "git@github.com-work:acme/shop.git",
])("the remote %s is at GitHub", async (remote) => {
  expect(await projectOf(remote)).toBe("acme/shop");
});

test.each([
  "git@github.company.com:acme/shop.git",
  "https://github.community.example/acme/shop",
  "https://notgithub.com/acme/shop.git",
  "git@github.com-evil.org:acme/shop.git",
  "https://example.org/github.com/acme/shop.git",
  "/srv/mirrors/github.com/acme/shop.git",
])(
  "the remote %s is elsewhere: issues of the project at GitHub with the same name are a stranger's",
  async (remote) => {
    await expect(projectOf(remote)).rejects.toThrow("is not at github.com");
  },
);
