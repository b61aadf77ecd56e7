import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { AGENT, cpuOfThreads, ENVIRONMENT, makeWorld } from "./world.mjs";

/** Seconds after the start between which the CPU is counted: Bun collects garbage once a second until 30 of them found none. */
const WINDOWS = [{ from: 2, to: 17 }, { from: 40, to: 55 }];

/** CPU of Ralph alone while its agent sleeps: without a terminal, and with the live view in one. Both at once. */
export async function measureIdle({ ralph }) {
  const rows = await Promise.all([idle(ralph, "plain"), idle(ralph, "live view")]);
  return rows.flat();
}

async function idle(ralph, view) {
  const world = makeWorld({ stories: 1 });
  const last = WINDOWS.at(-1).to;
  try {
    const argv = [ralph, "run", "--agent-cmd", `sleep ${last + 2}; ${AGENT}`, ...(view === "plain" ? ["--quiet"] : [])];
    const child = started(argv, view, world.root);
    const ended = new Promise((resolve) => child.on("exit", resolve));
    const start = performance.now();
    const at = (seconds) => sleep(seconds * 1000 - (performance.now() - start));
    const rows = [];
    for (const { from, to } of WINDOWS) {
      await at(from);
      const pid = view === "plain" ? child.pid : childOf(child.pid);
      const before = cpuOfThreads(pid);
      await at(to);
      const used = [...cpuOfThreads(pid)].reduce((sum, [task, ms]) => sum + ms - (before.get(task) ?? 0), 0);
      const perSecond = used / (to - from);
      rows.push({
        what: `idle, ${view}, CPU a second (${from} to ${to} s in)`,
        measured: `${perSecond.toFixed(2)} ms`,
        floor: "-",
        ratio: "-",
        budget: "<= 1 ms",
        met: before.size > 0 && perSecond <= 1,
      });
    }
    await ended;
    return rows;
  } finally {
    world.drop();
  }
}

/** `script` gives it a terminal. */
function started(argv, view, cwd) {
  if (view === "plain") return spawn(argv[0], argv.slice(1), { cwd, env: ENVIRONMENT, stdio: "ignore" });
  const line = `exec ${argv.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ")}`;
  const env = { ...ENVIRONMENT, TERM: "xterm-256color" };
  return spawn("script", ["-qfec", line, "/dev/null"], { cwd, env, stdio: ["ignore", "pipe", "ignore"] }).on(
    "spawn",
    function () {
      this.stdout.resume();
    },
  );
}

function childOf(pid) {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ")[0]);
}
