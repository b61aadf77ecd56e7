import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AGENT, makeWorld, run } from "./world.mjs";

const BLOCK = 10_000_000;

/** Speed and memory while an agent prints a lot. */
export async function measureStream({ ralph, megabytes }) {
  const folder = mkdtempSync(join(tmpdir(), "ralph-stream-"));
  const world = makeWorld({ stories: 1 });
  try {
    const block = join(folder, "block");
    const line = `${"x".repeat(1023)}\n`;
    writeFileSync(block, line.repeat(Math.floor(BLOCK / line.length)));
    const times = Math.max(1, Math.round(megabytes * 1e6 / BLOCK));
    const flood = `i=0; while [ $i -lt ${times} ]; do cat '${block}'; i=$((i+1)); done`;
    const floor = await run(["sh", "-c", `{ ${flood}; } | cat > '${join(folder, "out")}'`], { cwd: world.root });
    const found = await run([ralph, "run", "--agent-cmd", `${flood}; ${AGENT}`, "--quiet"], {
      cwd: world.root,
      sampleMs: 20,
    });
    if (found.exitCode !== 0) throw new Error(`stream ended with ${found.exitCode}\n${found.errors}`);
    const speed = megabytes / found.wallMs * 1000;
    const peak = found.peak / 1e6;
    const floorSpeed = `${(megabytes / floor.wallMs * 1000).toFixed(0)} MB/s (cat into a file)`;
    return [
      {
        what: `${megabytes} MB of plain text, speed`,
        measured: `${speed.toFixed(0)} MB/s`,
        floor: floorSpeed,
        ratio: "-",
        budget: ">= 300 MB/s",
        met: speed >= 300,
      },
      {
        what: `${megabytes} MB of plain text, peak memory`,
        measured: `${peak.toFixed(0)} MB`,
        floor: "-",
        ratio: "-",
        budget: "<= 100 MB",
        met: peak <= 100,
      },
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
    world.drop();
  }
}
