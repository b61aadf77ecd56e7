import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { environmentIn, makeWorld } from "./world.mjs";
import { addWorkflow, BASH_WORK, commandOf, PROJECTS } from "./workflows.mjs";

const EVERY_MS = 10;
/** The tick of the clock that the kernel counts a process's CPU with. */
const TICK_MS = 10;

/**
 * One run of a workflow, or of the shell loop (`ralph` null), looked at while it lasts: how many turns were begun, the
 * program's resident memory, and the CPU of it and of all that it has started and that has ended. Every agent's turn adds
 * one character to a file beside the repository.
 */
export async function followedRun(ralph, name, iterations, { plan = iterations + 1, ...size } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "ralph-followed-"));
  const world = makeWorld({ stories: iterations + 1, ...size }); // exec has its stories from it
  try {
    const turns = join(folder, "turns");
    writeFileSync(turns, "");
    const agent = `printf . >> '${turns}'; ${PROJECTS[name].agent}`;
    const [program, ...args] = ralph === null ? [BASH_WORK] : commandOf(ralph, name, iterations, agent);
    if (ralph !== null) addWorkflow(world, name, plan);
    const env = environmentIn(world.root, { ITEMS: String(plan), AGENT: agent, MAX: String(iterations) });
    const child = spawn(program, args, { cwd: world.root, env, stdio: "ignore" });
    const samples = [];
    const sampler = setInterval(() => {
      const seen = look(child.pid);
      if (seen !== null) samples.push({ turns: statSync(turns).size, ...seen });
    }, EVERY_MS);
    await new Promise((resolve) => child.on("exit", resolve));
    clearInterval(sampler);
    const last = samples.at(-1)?.turns ?? 0;
    if (last < iterations) throw new Error(`${name}: the run ended after ${last} of ${iterations} turns`);
    return samples;
  } finally {
    world.drop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** CPU milliseconds of a turn between two of them. */
export function cpuOfTurns(samples, from, to) {
  const at = (turn) => samples.find(({ turns }) => turns >= turn).cpuMs;
  return (at(to) - at(from)) / (to - from);
}

function look(pid) {
  try {
    const bytes = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) * 1024;
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ").map(Number);
    const cpuMs = fields.slice(11, 15).reduce((sum, ticks) => sum + ticks * TICK_MS, 0);
    return { bytes, cpuMs };
  } catch {
    return null; // it has ended
  }
}
