import { AGENT, cpuOfRun, makeWorld, median } from "./world.mjs";
import { cpuOfTurns, followedRun } from "./followed_run.mjs";
import { BASH_WORK, commandOf } from "./workflows.mjs";

/** Between the beginnings of these turns an iteration is measured. */
const TURNS = [2, 22];
const MANY = "mkdir -p many; i=0; while [ $i -lt 20000 ]; do i=$((i+1)); echo $i > many/$i.txt; done";

/**
 * Measures how much more an iteration costs in a large plan or tree, and how much more it costs the shell loop, whose
 * git has the same to do. Start and end of a run are in neither.
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
        byName[name][who].push(await turnOf(program, "exec", TURNS, size));
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
  const spec = await turnOf(ralph, "spec", [1, 3], { plan: 20_000 });
  const gsd = await turnOf(ralph, "gsd", [1, 3], { plan: 1000 });
  const sprint = await followedRun(ralph, "sprint", 320);
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
    againstBash(
      "an iteration in 100,000 files, CPU",
      await turnOf(ralph, "exec", TURNS, { files: 100_000 }),
      await turnOf(null, "exec", TURNS, { files: 100_000 }),
    ),
    againstBash(
      "20,000 new files in one turn, CPU of the run",
      wholeRun(ralph, `${MANY}; ${AGENT}`),
      wholeRun(null, `${MANY}; ${AGENT}`),
    ),
  ];
}

/** CPU of an iteration between two turns of one run; `ralph` null: of the shell loop. */
async function turnOf(ralph, workflow, [from, to], size) {
  return cpuOfTurns(await followedRun(ralph, workflow, to, size), from, to);
}

/** CPU of a whole run of one iteration. */
function wholeRun(ralph, agent) {
  const world = makeWorld({ stories: 1 });
  try {
    const argv = ralph === null ? [BASH_WORK] : commandOf(ralph, "exec", 1, agent);
    return cpuOfRun(argv, { cwd: world.root, environment: { AGENT: agent, MAX: "1" } });
  } finally {
    world.drop();
  }
}

function againstBash(what, measured, floor) {
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
