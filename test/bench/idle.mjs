import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { AGENT, cpuOfThreads, ENVIRONMENT, makeWorld } from "./world.mjs";

/** Seconds after the start between which the CPU is counted: Bun collects garbage once a second until 30 of them found none. */
const WINDOWS = [{ from: 2, to: 17 }, { from: 40, to: 55 }];

/** CPU of Ralph alone while its agent sleeps. */
export async function measureIdle({ ralph }) {
  const world = makeWorld({ stories: 1 });
  const last = WINDOWS.at(-1).to;
  try {
    const argv = ["run", "--agent-cmd", `sleep ${last + 2}; ${AGENT}`, "--quiet"];
    const child = spawn(ralph, argv, { cwd: world.root, env: ENVIRONMENT, stdio: "ignore" });
    const ended = new Promise((resolve) => child.on("exit", resolve));
    const started = performance.now();
    const at = (seconds) => sleep(seconds * 1000 - (performance.now() - started));
    const rows = [];
    for (const { from, to } of WINDOWS) {
      await at(from);
      const before = cpuOfThreads(child.pid);
      await at(to);
      const used = [...cpuOfThreads(child.pid)].reduce((sum, [task, ms]) => sum + ms - (before.get(task) ?? 0), 0);
      const perSecond = used / (to - from);
      rows.push({
        what: `idle, CPU a second (${from} to ${to} s in)`,
        measured: `${perSecond.toFixed(2)} ms`,
        floor: "-",
        ratio: "-",
        budget: "<= 1 ms",
        met: perSecond <= 1,
      });
    }
    await ended;
    return rows;
  } finally {
    world.drop();
  }
}
