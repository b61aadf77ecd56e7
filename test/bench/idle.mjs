import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { AGENT, cpuOf, ENVIRONMENT, makeWorld } from "./world.mjs";

const SECONDS = 8;

/** CPU of Ralph alone while its agent sleeps. */
export async function measureIdle({ ralph }) {
  const world = makeWorld({ stories: 1 });
  try {
    const argv = ["run", "--agent-cmd", `sleep ${SECONDS + 4}; ${AGENT}`, "--quiet"];
    const child = spawn(ralph, argv, { cwd: world.root, env: ENVIRONMENT, stdio: "ignore" });
    const ended = new Promise((resolve) => child.on("exit", resolve));
    await sleep(2000);
    const before = cpuOf(child.pid);
    await sleep(SECONDS * 1000);
    const perSecond = (cpuOf(child.pid) - before) / SECONDS;
    await ended;
    return [{
      what: "idle, CPU a second",
      measured: `${perSecond.toFixed(2)} ms`,
      floor: "-",
      ratio: "-",
      budget: "<= 1 ms",
      met: perSecond <= 1,
    }];
  } finally {
    world.drop();
  }
}
