import { AGENT, commitsOf, countGit, cpuOfRun, makeWorld, median } from "./world.mjs";
import { addWorkflow, BASH_WORK, commandOf, WORKFLOWS } from "./workflows.mjs";

const GOALS = { exec: { ratio: 1.4, git: 4 } };
const OTHERS = { ratio: 2, git: 5 };
const FEW = 5;

/**
 * An iteration of each workflow with all safety on, against a shell loop that does the same work: CPU, and processes. It is
 * the difference of two runs; what a run costs once, its clean checkouts and final check among that, is a row of its own.
 */
export async function measureIteration({ ralph, rounds, items }) {
  const names = Object.keys(WORKFLOWS);
  const found = Object.fromEntries(["bash", ...names].map((name) => [name, []]));
  const once = [];
  for (let round = 0; round < rounds; round++) {
    for (const name of ["bash", ...names]) {
      const few = oneRun({ ralph, name, items: FEW });
      found[name].push((oneRun({ ralph, name, items: FEW + items }) - few) / items);
      if (name === "exec") once.push(few - FEW * found[name].at(-1));
    }
  }
  const start = {
    what: "exec: start, final check and end of a run, CPU",
    measured: `${median(once).toFixed(0)} ms`,
    floor: "-",
    ratio: "-",
    budget: "<= 500 ms",
    met: median(once) <= 500,
  };
  return [
    start,
    ...names.map((name) => {
      const goal = GOALS[name] ?? OTHERS;
      const ratio = median(found[name].map((value, round) => value / found.bash[round]));
      const git = (gitOf(ralph, name, 3 * FEW) - gitOf(ralph, name, FEW)) / (2 * FEW);
      return {
        what: `${name}: an iteration of ${items} items, CPU`,
        measured: `${median(found[name]).toFixed(1)} ms, ${git.toFixed(1)} git`,
        floor: `${median(found.bash).toFixed(1)} ms (bash-work)`,
        ratio: ratio.toFixed(2),
        budget: `<= ${goal.ratio} x, <= ${goal.git} git`,
        met: ratio <= goal.ratio && git <= goal.git,
      };
    }),
  ];
}

function oneRun({ ralph, name, items }) {
  const world = makeWorld({ stories: items });
  try {
    const environment = { AGENT, ITEMS: String(items) };
    if (name !== "bash") addWorkflow(world, name, items);
    const before = commitsOf(world.root);
    const cpu = cpuOfRun(name === "bash" ? [BASH_WORK] : commandOf(ralph, name), { cwd: world.root, environment });
    const commits = commitsOf(world.root) - before;
    if (commits < items - 1) throw new Error(`${name}: ${commits} commits for ${items} items`);
    return cpu;
  } finally {
    world.drop();
  }
}

/** Git processes of a whole run; of the one after it, where `run` says 2. */
export function gitOf(ralph, name, items, run = 1) {
  const world = makeWorld({ stories: items });
  try {
    addWorkflow(world, name, items);
    const counts = Array.from(
      { length: run },
      () => countGit(commandOf(ralph, name), { cwd: world.root, environment: { ITEMS: String(items) } }),
    );
    return Math.max(...counts.slice(-1));
  } finally {
    world.drop();
  }
}
