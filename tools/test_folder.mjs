/** The one folder that a suite writes to: how much it may hold, and what a suite may not leave behind. */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { ROOT } from "./runtimes.mjs";

const MOST_BYTES = 4 * 2 ** 30;
const MEMORY = "/dev/shm";

/** In memory if there is room, since a commit waits for the disk. */
export function makeTestFolder() {
  const given = process.env.TMPDIR !== undefined || process.platform !== "linux" || !existsSync(MEMORY);
  if (!given && freeBytes(MEMORY) >= MOST_BYTES) {
    const folder = mkdtempSync(join(MEMORY, "tests-"));
    chmodSync(folder, 0o755); // a database of a test is another user's
    if (startsPrograms(folder)) return folder;
    rmSync(folder, { recursive: true, force: true });
  }
  const folder = mkdtempSync(join(realpathSync(tmpdir()), "tests-"));
  chmodSync(folder, 0o755);
  return folder;
}

function freeBytes(folder) {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

function startsPrograms(folder) {
  const program = join(folder, "runs");
  writeFileSync(program, "#!/bin/sh\nexit 7\n");
  chmodSync(program, 0o755);
  return spawnSync(program).status === 7;
}

/** Kilobytes in each folder of a worker, the largest first. */
function sizes(folder) {
  const { stdout } = spawnSync("du", ["-k", "-d", "1", folder], { encoding: "utf8" });
  return stdout.trim().split("\n").map((line) => line.split("\t")).map(([size, path]) => ({
    path,
    bytes: Number(size) * 1024,
  })).sort((left, right) => right.bytes - left.bytes);
}

/** Calls `stop` with the test's name when the folder holds more than 4 GB. The file system is asked often, each file seldom. */
export function watchFolder(folder, stop) {
  if (process.platform === "win32") return () => {};
  const atStart = freeBytes(folder);
  let looks = 0;
  const timer = setInterval(() => {
    looks += 1;
    if (atStart - freeBytes(folder) < MOST_BYTES && looks % 60 !== 0) return;
    const [all, largest] = sizes(folder);
    if (all === undefined || all.bytes < MOST_BYTES) return;
    clearInterval(timer);
    const note = `${largest?.path ?? folder}.test`;
    stop(existsSync(note) ? readFileSync(note, "utf8").trim() : "an unknown test");
  }, 500);
  return () => clearInterval(timer);
}

/** The files before the suite: its temporary folders, and the checkout as git sees it. */
export function surroundings() {
  const { stdout } = spawnSync("git", ["status", "--porcelain"], { cwd: ROOT, encoding: "utf8" });
  const temporary = realpathSync(tmpdir());
  const entries = readdirSync(temporary).filter((name) => name.startsWith("ralph-")).map((name) =>
    join(temporary, name)
  );
  return new Set([...entries, ...(stdout ?? "").split("\n").filter((line) => line !== "")]);
}

/** Processes that were started in the suite or work in its folder. */
function processesOf(folder) {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid).flatMap((pid) => {
    try {
      const started = readFileSync(`/proc/${pid}/environ`, "latin1").includes(`RALPH_TEST_FOLDER=${folder}`);
      const inside = started || readlinkSync(`/proc/${pid}/cwd`).startsWith(`${folder}/`);
      const command = readFileSync(`/proc/${pid}/cmdline`, "latin1").replaceAll("\0", " ").trim();
      return inside && command !== "" ? [{ pid: Number(pid), command }] : [];
    } catch {
      return []; // it has ended, or is somebody else's
    }
  });
}

/** The files that are there now and were not before. */
export function leftFiles(before) {
  return [...surroundings()].filter((entry) => !before.has(entry) && !entry.includes("/tests-"));
}

/** Ends and undoes what a suite left. @returns one line for each process and mount */
export async function takeAway(folder) {
  for (const end = Date.now() + 10_000; processesOf(folder).length > 0 && Date.now() < end;) await wait(100);
  const processes = processesOf(folder);
  for (const { pid } of processes) spawnSync("kill", ["-9", String(pid)]);
  const table = process.platform === "linux" ? readFileSync("/proc/self/mountinfo", "utf8") : "";
  const mounts = table.split("\n").map((line) => line.split(" ")[4] ?? "").filter((at) => at.startsWith(`${folder}/`));
  for (const mount of mounts) spawnSync("umount", ["-l", mount]);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  return [
    ...processes.map(({ pid, command }) => `process ${pid}: ${command.slice(0, 160)}`),
    ...mounts.map((mount) => `mount: ${mount}`),
  ];
}
