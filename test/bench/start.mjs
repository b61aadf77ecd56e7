import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bunPath, ROOT } from "../../tools/runtimes.mjs";
import { cpuOfStarts, makeWorld, median } from "./world.mjs";

const STARTS = 20;

/** CPU of a start against an empty binary compiled the same way. */
export async function measureStart({ ralph, rounds }) {
  const folder = mkdtempSync(join(tmpdir(), "ralph-empty-"));
  const world = makeWorld({ stories: 10 });
  try {
    const empty = join(folder, "empty");
    writeFileSync(join(folder, "empty.ts"), "export {};\n");
    execFileSync(bunPath(), [join(ROOT, "tools", "compile.mjs"), join(folder, "empty.ts"), empty], { stdio: "ignore" });
    const cases = [["--version", 1.5], ["--help", 1.5], ["status", 2], ["next", 2], ["validate", 2]]
      .map(([name, budget]) => [name, [ralph, name], budget]);
    const found = { floor: [], ...Object.fromEntries(cases.map(([name]) => [name, []])) };
    for (let round = 0; round < rounds; round++) {
      found.floor.push(cpuOfStarts([empty], STARTS, world.root));
      for (const [name, argv] of cases) found[name].push(cpuOfStarts(argv, STARTS, world.root));
    }
    return cases.map(([name, , budget]) => {
      const ratio = median(found[name].map((value, round) => value / found.floor[round]));
      return {
        what: `start ${name}, CPU`,
        measured: `${median(found[name]).toFixed(1)} ms`,
        floor: `${median(found.floor).toFixed(1)} ms (empty binary)`,
        ratio: ratio.toFixed(2),
        budget: `<= ${budget} x`,
        met: ratio <= budget,
      };
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
    world.drop();
  }
}
