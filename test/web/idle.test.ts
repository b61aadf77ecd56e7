/** The cost of the page while nothing happens, and the access of another user of the machine. */
import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { ralphCli, type Running } from "../e2e/cli.ts";
import { tmuxScreen } from "../e2e/tmux.ts";
import { closeBrowser, openPage, shows, startUi, storyProject } from "./page_world.ts";
import { needs } from "../needs.ts";

const SECONDS = 10;
/** Milliseconds of CPU a second: alone on a machine both take less than one, and what polls far more than three. */
const MOST = 3;

afterAll(closeBrowser);

/** Processes that work in a folder or below it, with the words of their command lines. */
function processesIn(folder: string): readonly { readonly pid: number; readonly words: readonly string[] }[] {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name)).flatMap((pid) => {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      return `${readlinkSync(`/proc/${pid}/cwd`)}/`.startsWith(`${folder}/`) ? [{ pid: Number(pid), words }] : [];
    } catch {
      return []; // it has ended
    }
  });
}

function pidsOf(word: string, folder: string): readonly number[] {
  return processesIn(folder).filter(({ words }) => words.includes(word)).map(({ pid }) => pid);
}

/** Milliseconds of CPU that processes have used, threads that have ended included; in steps of ten. */
function cpuMs(pids: readonly number[]): number {
  const ticks = pids.map((pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
    return Number(fields[11]) + Number(fields[12]);
  });
  return ticks.reduce((sum, ticked) => sum + ticked, 0) * 10;
}

/** A run in the middle of a turn that prints nothing. */
async function quietRun(): Promise<Running> {
  const running = storyProject(1).args("run", "--agent", "claude").start();
  onTestFinished(async () => {
    writeFileSync(join(running.root, "../go-0"), "");
    running.child.kill("SIGTERM");
    await running.ended(); // it writes into its folder until then
  });
  await running.wrote("../prompt-0");
  return running;
}

test("watch and ui cost about nothing while nothing happens", needs("Linux", "tmux", "chromium"), async () => {
  const running = await quietRun();
  const { page } = await openPage(await startUi(running.root));
  await shows(page, "h1", "One run is at work");
  const screen = tmuxScreen(ralphCli(running.root).args("watch").prepare(), 100, 30);
  await screen.shows(/US-001/);
  await new Promise((done) => setTimeout(done, 12_000)); // after ten quiet seconds the time is drawn less often

  const least = { ui: Infinity, watch: Infinity };
  for (let windows = 0; windows < 3 && Math.max(least.ui, least.watch) >= MOST; windows++) {
    for (const name of ["ui", "watch"] as const) expect(pidsOf(name, running.root)).not.toEqual([]);
    const before = { ui: cpuMs(pidsOf("ui", running.root)), watch: cpuMs(pidsOf("watch", running.root)) };
    await new Promise((done) => setTimeout(done, SECONDS * 1000));
    for (const name of ["ui", "watch"] as const) {
      least[name] = Math.min(least[name], (cpuMs(pidsOf(name, running.root)) - before[name]) / SECONDS);
    }
  }

  if (process.env["RALPH_FIGURES"] !== undefined) process.stderr.write(`${JSON.stringify(least)} ms a second\n`);
  expect(least.ui).toBeLessThan(MOST);
  expect(least.watch).toBeLessThan(MOST);
});

const NOBODY = ["--reuid=65534", "--regid=65534", "--clear-groups"];

test(
  "another user of the machine gets neither the token nor the page, nor what a run wrote",
  needs("Linux", "root", "curl"),
  async () => {
    const running = await quietRun();
    const address = new URL(await startUi(running.root));
    execFileSync("chmod", ["o+rx", join(running.root, ".."), running.root]); // the project itself is open to all
    const token = address.pathname.replaceAll("/", "");
    const [ui = 0] = pidsOf("ui", running.root);
    const as = (script: string): string => {
      const { stdout, stderr } = spawnSync("setpriv", [...NOBODY, "sh", "-c", script], { encoding: "utf8", cwd: "/" });
      return stdout + stderr;
    };
    const reads = (path: string): string => as(`cd ${running.root} && find ${path} -type f -exec cat {} +`);

    expect(as(`cat ${running.root}/README.md ${running.root}/ralph.config.json`)).toContain("baseline");
    const ofTheRun = processesIn(join(running.root, "..")).map(({ pid }) => `/proc/${pid}/cmdline`);
    expect(ofTheRun.length).toBeGreaterThan(1);
    const seen = [
      as(`cat /proc/${ui}/environ ${ofTheRun.join(" ")}; ls -l /proc/${ui}/fd`),
      as(`curl --silent --show-error --include --max-time 10 ${address.origin}/`),
      reads(".git/ralph/control"),
      reads("scripts/ralph/runs"),
    ].join("\n");
    expect(seen).not.toContain(token);
    expect(seen).not.toContain("US-001");
    expect(seen).toContain("Permission denied");
    expect(seen).toContain("401 Unauthorized");
  },
);
