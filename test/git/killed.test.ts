import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { fixtureCommand } from "../fixtures/processes/fixture_command.ts";
import { waitUntil } from "../fixtures/processes/survivors.ts";
import { temporaryRepository } from "./temporary_repository.ts";

test("a Ralph killed at any moment of its commits leaves a repository that the next one continues with", async () => {
  await using project = await temporaryRepository({ "state.txt": "start\n", "user.txt": "u\n" });
  const [file, ...arguments_] = fixtureCommand("commit_forever.ts");
  for (let round = 0; round < 10; round++) {
    const child = spawn(file, [...arguments_, project.path, String(round)], {
      detached: true,
      stdio: ["ignore", "pipe", "inherit"],
    });
    let ready = false;
    child.stdout.on("data", () => (ready = true));
    await waitUntil(() => ready, 20_000);
    expect(ready).toBe(true);
    await wait(10 + round * 9);
    child.kill("SIGKILL");
    await new Promise((resolve) => child.on("exit", resolve));
  }

  await project.repository.ensureReady();
  await project.repository.commit({ paths: ["."], subject: "the rest" });

  expect(project.git("fsck", "--strict", "--no-dangling")).toBe("");
  expect(project.git("status", "--porcelain")).toBe("");
  expect(project.git("log", "--format=%s").split("\n").length).toBeGreaterThan(2);
});

test("an index.lock that SIGKILL of Ralph and its git left is taken away", async () => {
  await using project = await temporaryRepository({ "state.txt": "start\n" });
  // a hook holds git inside the commit, while it holds index.lock
  writeFileSync(join(project.path, ".git/hooks/prepare-commit-msg"), "#!/bin/sh\nexec sleep 60\n", { mode: 0o755 });
  const [file, ...arguments_] = fixtureCommand("commit_forever.ts");
  const child = spawn(file, [...arguments_, project.path, "0"], { stdio: ["ignore", "ignore", "inherit"] });
  const lock = join(project.path, ".git/index.lock");
  expect(await waitUntil(() => existsSync(lock), 20_000)).toBeGreaterThanOrEqual(0);
  await waitUntil(() => gitPids(project.path).length >= 2, 5000);
  child.kill("SIGKILL");
  await new Promise((resolve) => child.on("exit", resolve));
  await expect(project.repository.ensureReady()).rejects.toMatchObject({ code: "git-locked" });
  for (const pid of gitPids(project.path)) process.kill(pid, "SIGKILL");
  await waitUntil(() => gitPids(project.path).length === 0, 5000);
  expect(existsSync(lock)).toBe(true);

  await project.repository.ensureReady();

  expect(existsSync(lock)).toBe(false);
  writeFileSync(join(project.path, ".git/hooks/prepare-commit-msg"), "#!/bin/sh\n", { mode: 0o755 });
  expect(await project.repository.commit({ paths: ["."], subject: "after" })).toMatchObject({ status: "committed" });
});

function gitPids(folder: string): readonly number[] {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map(Number).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, "utf8").includes("\0RALPH_GIT=") &&
        readlinkSync(`/proc/${pid}/cwd`) === folder;
    } catch {
      return false;
    }
  });
}
