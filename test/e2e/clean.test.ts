import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createHost } from "../../lib/host/create_host.ts";
import { takeLock } from "../../lib/host/lock.ts";
import { faultProject, WORK } from "../fault/world.ts";
import { ralphCli } from "./cli.ts";

/** A project after a run, with something of each kind that Ralph keeps. */
async function cleaned() {
  const cache = realpathSync(mkdtempSync(join(tmpdir(), "ralph-clean-")));
  onTestFinished(() => rmSync(cache, { recursive: true, force: true }));
  const environment = { XDG_CACHE_HOME: cache };
  const { root, git } = await faultProject(WORK).cli.env(environment).expectExit(0);
  mkdirSync(join(root, ".git/ralph/aside"), { recursive: true });
  writeFileSync(join(root, ".git/ralph/aside/mine.txt"), "x".repeat(5000));
  git("update-ref", "refs/ralph/kept/20260101-000000-abcd", "HEAD");
  const ralph = (...words: string[]) => ralphCli(root).env(environment).agent("worker", WORK).args(...words);
  return { root, git, ralph, checkouts: join(cache, "checkouts") };
}

test("`ralph doctor` shows what Ralph keeps of a project, by kind and with its size", async () => {
  const { ralph } = await cleaned();

  const { stdout } = await ralph("doctor", "--json").expectExit(0);

  const { findings } = JSON.parse(stdout) as { findings: { name: string; detail: string; hint?: string }[] };
  const named = (name: string) => findings.find((one) => one.name === name);
  expect(named("cache")?.detail).toMatch(/^[12] kept of this project, [\d.]+ [kM]?B; all projects: /); // a sandbox's caches
  expect(named("aside")).toMatchObject({
    detail: "1 kept of this project, 8.2 kB",
    hint: "`ralph clean aside` shows and removes it",
  });
  expect(named("refs")?.detail).toBe("1 kept of this project, 0 B");
});

test("`ralph clean` names each thing, asks, and removes what it was told to", async () => {
  const { root, git, ralph, checkouts } = await cleaned();

  const asked = await ralph("clean", "--non-interactive").expectExit(3);
  const some = await ralph("clean", "aside", "--approve", "clean").expectExit(0);
  const [left] = readdirSync(checkouts);
  const all = await ralph("clean", "--approve", "clean").expectExit(0);

  expect(asked.stderr + asked.stdout).toContain(
    ".git/ralph/aside/mine.txt  8.2 kB  was in the way, and is nowhere else",
  );
  expect(asked.stderr + asked.stdout).toContain(
    "refs/ralph/kept/[RUN]  0 B  your uncommitted work, as a run found it",
  );
  expect(some.stdout).toContain("mine.txt");
  expect(some.stdout).not.toContain("refs/");
  expect(left).toBeDefined();
  expect(all.stdout).toContain("removed refs/ralph/kept/[RUN]");
  expect(readdirSync(checkouts)).toEqual([]);
  expect(existsSync(join(root, ".git/ralph/aside/mine.txt"))).toBe(false);
  expect(git("for-each-ref", "refs/ralph")).toBe("");
  await ralph("run").expectExit(0); // what is made again is made again
});

test("`ralph clean` removes nothing while a run is at work", async () => {
  const run = faultProject("sleep 60").cli.start();
  await run.shows("agent worker: started");

  const refused = await ralphCli(run.root).args("clean", "--approve", "clean").expectExit(2);

  expect(refused.stderr).toContain("another `ralph run` is running here");
  run.child.kill("SIGKILL");
  await run.ended();
});

test("`ralph clean` leaves a checkout that another command uses", async () => {
  const { ralph, checkouts } = await cleaned();
  const [home = ""] = readdirSync(checkouts);
  const lock = await takeLock(join(checkouts, home, "lock"), { purpose: "checkout", host: createHost() });

  const { stdout } = await ralph("clean", "cache", "--approve", "clean").expectExit(0);

  expect(lock.status).toBe("held");
  expect(stdout).toContain(`in use, so it stays: ${join(checkouts, home)}`);
  expect(existsSync(join(checkouts, home, "tree"))).toBe(true);
  if (lock.status === "held") await lock.release();
});
