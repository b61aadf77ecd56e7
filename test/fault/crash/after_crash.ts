/** Starts Ralph again on what a crash left, and says what fell short. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type CrashProject, ITEMS, wrongAtTheEnd } from "./projects.ts";

const LONGEST_MS = 120_000;

/** Runs to the end. @returns what fell short, with the last lines of the output where anything did */
export async function wrongAfterCrash(project: CrashProject): Promise<readonly string[]> {
  rmSync(join(project.folder, "log/turns"), { force: true });
  rmSync(join(project.folder, "home/.cache"), { recursive: true, force: true });
  const finished = [...new Set([...committed(project), ...settling(project)])];
  const { exitCode, output } = await run(project);
  const again = project.turns().filter((turn) => finished.some((number) => turn === `no ${number}`));
  const wrong = again.map((turn) => `a turn was paid for again: ${turn}`);
  if (exitCode !== 0) wrong.push(`the next run ended with ${exitCode}`);
  try {
    wrong.push(...wrongAtTheEnd(project));
  } catch (error) {
    wrong.push(String(error));
  }
  return wrong.length === 0 ? [] : [...wrong, output.slice(-2000)];
}

export async function run(
  project: CrashProject,
): Promise<{ readonly exitCode: number | null; readonly output: string }> {
  const [file = "", ...args] = project.command;
  const child = spawn(file, args, {
    cwd: project.root,
    env: project.environment,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: LONGEST_MS,
    killSignal: "SIGKILL",
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => output += chunk.toString("utf8"));
  child.stderr.on("data", (chunk: Buffer) => output += chunk.toString("utf8"));
  const exitCode = await new Promise<number | null>((done, fail) => {
    child.on("error", fail);
    child.on("close", done);
  });
  return { exitCode, output };
}

/** Items whose work is in the commit that the branch names. */
function committed({ git, workflow }: CrashProject): readonly number[] {
  if (workflow === "sprint") return []; // its steps follow from the tree
  return ITEMS.filter((number) => {
    try {
      git("cat-file", "-e", `HEAD:src/${number}.txt`);
      return git("log", "-1", "--format=%s", "--", `src/${number}.txt`).trim() !== `work at ${number}`;
    } catch {
      return false;
    }
  });
}

/** Items that the journal was about to settle as verified: their turns are over. */
function settling({ root, workflow }: CrashProject): readonly number[] {
  const path = join(root, ".git/ralph/journal.jsonl");
  if (workflow === "sprint" || !existsSync(path)) return [];
  return readFileSync(path, "utf8").split("\n").flatMap((line) => {
    const match = /"type":"settling".*"itemId":"[^"]*?(\d)"/.exec(line);
    return match !== null && line.endsWith("}") && line.includes('"status":"verified"') ? [Number(match[1])] : [];
  });
}
