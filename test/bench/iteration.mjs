import { fileURLToPath } from "node:url";
import { AGENT, ENVIRONMENT, makeWorld, median, run } from "./world.mjs";

const BASH_WORK = fileURLToPath(new URL("bash_work.sh", import.meta.url));
const GIT_ONLY =
  "i=0; while [ $i -lt $ITEMS ]; do i=$((i+1)); mkdir -p work; echo $i > work/$i.txt; git add -A; git commit -qm $i; done";

/** An iteration with all safety on, against a shell loop that does the same work and against git alone. */
export async function measureIteration({ ralph, rounds, items }) {
  ENVIRONMENT.AGENT = AGENT;
  ENVIRONMENT.ITEMS = String(items);
  const commands = {
    ralph: [ralph, "run", "--agent-cmd", AGENT, "--quiet"],
    "bash-work": [BASH_WORK],
    "git only": ["sh", "-c", GIT_ONLY],
  };
  const found = Object.fromEntries(Object.keys(commands).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, argv] of Object.entries(commands)) {
      const world = makeWorld({ stories: items });
      const { wallMs, exitCode, errors } = await run(argv, { cwd: world.root });
      world.drop();
      if (exitCode !== 0) throw new Error(`${name} ended with ${exitCode}\n${errors}`);
      found[name].push(wallMs / items);
    }
  }
  const ratio = (name) => median(found.ralph.map((value, round) => value / found[name][round]));
  const measured = `${median(found.ralph).toFixed(1)} ms`;
  const floor = (name) => `${median(found[name]).toFixed(1)} ms (${name})`;
  const what = `an iteration of ${items} items`;
  return [
    {
      what,
      measured,
      floor: floor("bash-work"),
      ratio: ratio("bash-work").toFixed(2),
      budget: "<= 1.5 x",
      met: ratio("bash-work") <= 1.5,
    },
    { what, measured, floor: floor("git only"), ratio: ratio("git only").toFixed(2), budget: "-", met: true },
  ];
}
