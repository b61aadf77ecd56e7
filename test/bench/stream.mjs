import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { AGENT, ENVIRONMENT, makeWorld, run } from "./world.mjs";

const BLOCK = 10_000_000;
const TEXT = "x".repeat(900);

/** Speed and memory while an agent prints a lot, as plain text and as claude's JSON. */
export async function measureStream({ ralph, megabytes }) {
  const message = { type: "assistant", message: { role: "assistant", content: [{ type: "text", text: TEXT }] } };
  const result = { type: "result", subtype: "success", result: "done\n<promise>COMPLETE</promise>" };
  return [
    ...await flooded({ ralph, megabytes, what: "plain text", line: TEXT, last: AGENT, preset: null }),
    ...await flooded({
      ralph,
      megabytes,
      what: "JSON",
      line: JSON.stringify(message),
      last: `mkdir -p work; echo done > work/1.txt; printf '%s\\n' '${JSON.stringify(result)}'`,
      preset: "claude",
    }),
  ];
}

async function flooded({ ralph, megabytes, what, line, last, preset }) {
  const folder = mkdtempSync(join(tmpdir(), "ralph-stream-"));
  const world = makeWorld({ stories: 1 });
  const path = ENVIRONMENT.PATH;
  try {
    const block = join(folder, "block");
    writeFileSync(block, `${line}\n`.repeat(Math.floor(BLOCK / (line.length + 1))));
    const times = Math.max(1, Math.round(megabytes * 1e6 / BLOCK));
    const flood = `cat ${Array.from({ length: times }, () => `'${block}'`).join(" ")}`;
    const agent = join(folder, "claude");
    writeFileSync(agent, `#!/bin/sh\ncat > /dev/null\n${flood}\n${last}\n`, { mode: 0o755 });
    const floor = await run(["sh", "-c", `'${agent}' < /dev/null | tee '${join(folder, "out")}' > /dev/null`], {
      cwd: folder,
    });
    ENVIRONMENT.PATH = `${folder}${delimiter}${path}`;
    const named = preset === null ? ["--agent-cmd", agent] : ["--agent", preset];
    const found = await run([ralph, "run", ...named, "--quiet"], { cwd: world.root, sampleMs: 20 });
    if (found.exitCode !== 0) throw new Error(`stream ended with ${found.exitCode}\n${found.errors}`);
    const speed = megabytes / found.wallMs * 1000;
    const floorSpeed = megabytes / floor.wallMs * 1000;
    const least = preset === null ? 0.8 * floorSpeed : 75;
    const most = preset === null ? 100 : 120;
    const peak = found.peak / 1e6;
    const events = eventsOf(world.root) / 1e6;
    const row = (name, measured, budget, met, rest = {}) => ({
      what: `${megabytes} MB of ${what}, ${name}`,
      measured,
      floor: "-",
      ratio: "-",
      budget,
      met,
      ...rest,
    });
    return [
      row("speed", `${speed.toFixed(0)} MB/s`, preset === null ? ">= 0.8 x" : ">= 75 MB/s", speed >= least, {
        floor: `${floorSpeed.toFixed(0)} MB/s (tee)`,
        ratio: (speed / floorSpeed).toFixed(2),
      }),
      row("peak memory", `${peak.toFixed(0)} MB`, `<= ${most} MB`, peak <= most),
      row("events.ndjson", `${events.toFixed(2)} MB`, "<= 2 MB", events <= 2),
    ];
  } finally {
    ENVIRONMENT.PATH = path;
    rmSync(folder, { recursive: true, force: true });
    world.drop();
  }
}

function eventsOf(root) {
  const runs = join(root, "scripts/ralph/runs");
  const names = readdirSync(runs).filter((name) => /^\d/.test(name));
  return names.reduce((sum, name) => sum + statSync(join(runs, name, "events.ndjson")).size, 0);
}
