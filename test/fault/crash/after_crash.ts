/** Starts Ralph again on what a crash left, and says what fell short. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type CrashProject, ITEMS, wrongAtTheEnd } from "./projects.ts";
import { runProgram } from "./run_program.ts";

/** Runs to the end. @returns what fell short, with the last lines of the output where anything did */
export async function wrongAfterCrash(project: CrashProject): Promise<readonly string[]> {
  rmSync(join(project.folder, "log/turns"), { force: true });
  rmSync(join(project.folder, "home/.cache"), { recursive: true, force: true });
  const finished = [...new Set([...committed(project), ...settling(project)])];
  const { exitCode, output } = await runProgram(project.command, {
    cwd: project.root,
    environment: project.environment,
  });
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
