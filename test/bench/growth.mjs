import { AGENT, makeWorld, median, run } from "./world.mjs";

const ITERATIONS = 10;

/** What an iteration costs more with many items, commits and files. */
export async function measureGrowth({ ralph, rounds }) {
  const sizes = {
    small: { stories: 10, commits: 100, files: 10 },
    items: { stories: 1000, commits: 100, files: 10 },
    commits: { stories: 10, commits: 5000, files: 10 },
    files: { stories: 10, commits: 100, files: 5000 },
  };
  const found = Object.fromEntries(Object.keys(sizes).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, size] of Object.entries(sizes)) {
      const world = makeWorld(size);
      const argv = [ralph, "run", "--agent-cmd", AGENT, "--quiet", "--max-iterations", String(ITERATIONS)];
      const { wallMs, errors, exitCode } = await run(argv, { cwd: world.root });
      world.drop();
      if (exitCode !== 0 && exitCode !== 1) throw new Error(`growth ${name} ended with ${exitCode}\n${errors}`);
      found[name].push(wallMs / ITERATIONS);
    }
  }
  return ["items", "commits", "files"].map((name) => {
    const more = median(found[name].map((value, round) => value - found.small[round]));
    return {
      what: `growth: ${sizes[name].stories} items, ${sizes[name].commits} commits, ${sizes[name].files} files`,
      measured: `${median(found[name]).toFixed(1)} ms`,
      floor: `${median(found.small).toFixed(1)} ms (10, 100, 10)`,
      ratio: `${more >= 0 ? "+" : ""}${more.toFixed(1)} ms`,
      budget: "<= +15 ms",
      met: more <= 15,
    };
  });
}
