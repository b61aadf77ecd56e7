import { AGENT, cpuOfRun, makeWorld, median } from "./world.mjs";
import { cpuOfTurns, followedRun } from "./followed_run.mjs";
import { BASH_WORK } from "./iteration.mjs";
import { addWorkflow, commandOf } from "./workflows.mjs";

const FEW = 5;
const MORE = 15;
const GROWN = 25;
const MANY = "mkdir -p many; i=0; while [ $i -lt 20000 ]; do i=$((i+1)); echo $i > many/$i.txt; done";

/**
 * What an iteration costs more in a large plan or tree, and what it costs the shell loop more, whose git has the same to do:
 * each the difference of two runs, so that the start is in neither.
 */
export async function measureGrowth({ ralph, rounds }) {
  const sizes = {
    small: { stories: 30 },
    items: { stories: 1000 },
    commits: { stories: 30, commits: 5000 },
    files: { stories: 30, files: 5000 },
  };
  const found = Object.keys(sizes).map((name) => [name, { ralph: [], bash: [] }]);
  const byName = Object.fromEntries(found);
  for (let round = 0; round < rounds; round++) {
    for (const [name, size] of Object.entries(sizes)) {
      for (const [who, program] of [["bash", null], ["ralph", ralph]]) {
        byName[name][who].push(iterationOf(program, "exec", { ...size, more: GROWN }));
      }
    }
  }
  return ["items", "commits", "files"].map((name) => {
    const more = (who) => median(byName[name][who].map((value, round) => value - byName.small[who][round]));
    const net = more("ralph") - more("bash");
    return {
      what: `growth to ${Object.entries(sizes[name]).map(([what, count]) => `${count} ${what}`).join(", ")}, CPU`,
      measured: `${signed(more("ralph"))}, from ${median(byName.small.ralph).toFixed(1)} ms`,
      floor: `${signed(more("bash"))}, from ${median(byName.small.bash).toFixed(1)} ms (bash-work)`,
      ratio: `${signed(net)} over the floor's`,
      budget: "<= +10 ms",
      met: net <= 10,
    };
  });
}

function signed(value) {
  return `${value >= 0 ? "+" : ""}${value.toFixed(1)} ms`;
}

/** Plans and trees that are far larger than usual. */
export async function measureScale({ ralph }) {
  const spec = iterationOf(ralph, "spec", { stories: 1, plan: 20_000, few: 1, more: 3 });
  const gsd = iterationOf(ralph, "gsd", { stories: 1, plan: 1000, few: 1, more: 3 });
  const sprint = await followedRun(ralph, "sprint", 320); // one run: the difference of two long ones is mostly noise
  const short = cpuOfTurns(sprint, 5, 25);
  const long = cpuOfTurns(sprint, 300, 320);
  const row = (what, measured, budget, met, floor = "-", ratio = "-") => ({
    what,
    measured,
    floor,
    ratio,
    budget,
    met,
  });
  return [
    row("spec: an iteration of 20,000 tasks, CPU", `${spec.toFixed(0)} ms`, "<= 300 ms", spec <= 300),
    row("gsd: an iteration of 1,000 plans, CPU", `${gsd.toFixed(0)} ms`, "<= 200 ms", gsd <= 200),
    row(
      "sprint: an iteration after 300 steps, CPU",
      `${long.toFixed(0)} ms`,
      "<= +10 ms",
      long - short <= 10,
      `${short.toFixed(0)} ms (after 10)`,
      `+${(long - short).toFixed(0)} ms`,
    ),
    againstBash(ralph, "an iteration in 100,000 files, CPU", { stories: 20, files: 100_000 }),
    againstBash(ralph, "20,000 new files in one turn, CPU", { stories: 1, agent: `${MANY}; ${AGENT}`, whole: true }),
  ];
}

function againstBash(ralph, what, size) {
  const measured = iterationOf(ralph, "exec", size);
  const floor = iterationOf(null, "exec", size);
  const ratio = measured / floor;
  return {
    what,
    measured: `${measured.toFixed(0)} ms`,
    floor: `${floor.toFixed(0)} ms (bash-work)`,
    ratio: ratio.toFixed(2),
    budget: "<= 1.5 x",
    met: ratio <= 1.5,
  };
}

/** CPU of one iteration, or with `whole` of a whole run. `ralph` null: of the shell loop. */
function iterationOf(ralph, workflow, { plan, few = FEW, more = MORE, agent = AGENT, whole = false, ...size }) {
  if (whole) return run(ralph, workflow, { plan, agent, size, limit: 1 });
  const base = run(ralph, workflow, { plan, agent, size, limit: few });
  return (run(ralph, workflow, { plan, agent, size, limit: more }) - base) / (more - few);
}

function run(ralph, workflow, { plan, agent, size, limit }) {
  const world = makeWorld(size);
  try {
    if (plan !== undefined) addWorkflow(world, workflow, plan);
    const environment = { AGENT: agent, ITEMS: String(plan ?? size.stories), MAX: String(limit) };
    const argv = ralph === null
      ? [BASH_WORK]
      : commandOf(ralph, workflow, limit).map((word, index, words) =>
        words[index - 1] === "--agent-cmd" && workflow === "exec" ? agent : word
      );
    return cpuOfRun(argv, { cwd: world.root, environment });
  } finally {
    world.drop();
  }
}
