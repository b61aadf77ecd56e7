// Measures how much each rule of the verdict that can be switched costs an iteration of exec, and a run:
//   node test/bench/rules.mjs [RALPH] [--rounds 5] [--only TEXT]
// Each variant is a difference of two runs (5 and 25 items) in the same round as all others; CPU of all processes. A rule's
// cost is the median of its differences to the round's run with everything as it is by default.
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { AGENT, commitsOf, cpuOfRun, makeWorld, median, writeInto } from "./world.mjs";

const FEW = 5;
const ITEMS = 20;
const VERIFY = { default: ["test -d work"] };
/** By name: configuration, flags, files of the repository, files that git ignores. */
const VARIANTS = {
  "all by default": {},
  "final: tree": { verify: { final: "tree" } },
  "final: off": { verify: { final: "off" } },
  "baseline: false": { verify: { baseline: false } },
  "isolated: true": { verify: { isolated: true } },
  "challenge: 1": { verify: { challenge: 1 } },
  "integrity: off": { tests: { integrity: "off" } },
  "integrity: block": { tests: { integrity: "block" } },
  "trust: strict, --no-sandbox": { trust: "strict", flags: ["--no-sandbox"] },
  "protect: 200 files": { protect: ["guarded/**"], files: folder("guarded", 200) },
  "1,000 files in node_modules": { ignored: folder("node_modules/a", 1000) },
  "the same, workspace.copy: []": { ignored: folder("node_modules/a", 1000), workspace: { copy: [] } },
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: "string", default: "5" }, only: { type: "string", default: "" } },
});
const ralph = resolve(positionals[0] ?? "dist/ralph");
const first = Object.keys(VARIANTS)[0];
const chosen = Object.entries(VARIANTS).filter(([name]) => name === first || name.includes(values.only));
const rounds = Array.from({ length: Number(values.rounds) }, () =>
  Object.fromEntries(
    chosen.map(([name, variant]) => {
      const few = oneRun(variant, FEW);
      const iteration = (oneRun(variant, FEW + ITEMS) - few) / ITEMS;
      return [name, { iteration, run: few - FEW * iteration }];
    }),
  ));
for (const [name] of chosen) {
  const [iteration, run] = ["iteration", "run"].map((what) => ({
    is: median(rounds.map((round) => round[name][what])).toFixed(1),
    more: median(rounds.map((round) => round[name][what] - round[first][what])).toFixed(1),
  }));
  console.log(
    `${name.padEnd(30)} iteration ${iteration.is} ms (${iteration.more}), run ${run.is} ms (${run.more})`,
  );
}

function oneRun({ flags = [], files = {}, ignored = {}, verify = {}, ...config }, items) {
  const world = makeWorld({ stories: items });
  try {
    const text = JSON.stringify({ verify: { ...VERIFY, ...verify }, ...config });
    writeInto(world.root, { ...files, ".gitignore": ".loop/\nnode_modules/\n", "ralph.config.json": `${text}\n` });
    for (const [path, content] of Object.entries(ignored)) {
      mkdirSync(join(world.root, path, ".."), { recursive: true });
      writeFileSync(join(world.root, path), content);
    }
    const argv = [ralph, "run", "--agent-cmd", AGENT, "--quiet", ...flags];
    const before = commitsOf(world.root);
    const cpu = cpuOfRun(argv, { cwd: world.root });
    if (commitsOf(world.root) - before < items) throw new Error(`${text}: not all of ${items} items are committed`);
    return cpu;
  } finally {
    world.drop();
  }
}

function folder(path, count) {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`${path}/${index}.txt`, `${index}\n`]));
}
