import { expect, test } from "vitest";
import { parse } from "yaml";
import { ralphCli } from "./cli.ts";

/** `npm run test:hooks` has the long form. */
const LONG = import.meta.env["MODE"] === "long";
const ITERATIONS = LONG ? 100 : 15;
const HOOKS = ["alpha", "beta", "gamma"];
const PROGRESS = "sprint/PROGRESS.yaml";

/** Each hook of an iteration waits for the two others: all three end in the same instant. */
const BARRIER =
  'd="$RALPH_ROOT/../barrier/$RALPH_ITERATION"; mkdir -p "$d"; : > "$d/$RALPH_HOOK"; while [ "$(ls "$d" | wc -l)" -lt 3 ]; do sleep 0.01; done';

interface Progress {
  readonly "dynamic-steps": readonly { readonly id: string; readonly prompt: string; readonly status: string }[];
  readonly "hook-tasks": readonly {
    readonly iteration: number;
    readonly "hook-id": string;
    readonly status: string;
    readonly pid: number;
    readonly "exit-code": number;
  }[];
}

test(`${ITERATIONS} iterations with three parallel hooks that end in the same instant lose no update`, async () => {
  const hooks = HOOKS.map((id, index) =>
    `  - { id: ${id}, command: ${JSON.stringify(BARRIER)}, isolated: ${index === 0} }\n`
  ).join("");
  const result = await ralphCli().files({
    "sprint/SPRINT.yaml": `workflow: ralph\ngoal: many\nper-iteration-hooks:\n${hooks}`,
    "ralph.config.json": '{ "provider": { "command": "worker" } }',
  }).agent(
    "worker",
    `cat > /dev/null
n=$(($(cat ../n 2>/dev/null || echo 0) + 1)); echo $n > ../n
if [ $n -ge ${ITERATIONS} ]; then echo "RALPH_COMPLETE: after $n"; exit; fi
printf '{"status":"continue","completedStepIds":["%s"],"pendingSteps":[{"id":null,"prompt":"work %s"}]}\\n' "$RALPH_ITEM" $n`,
  )
    .args("sprint", "run", "sprint", "--quiet").expectExit(0);

  const progress = parse(result.read(PROGRESS) ?? "") as Progress;
  const tasks = progress["hook-tasks"];
  const wanted = Array.from({ length: ITERATIONS }, (_, index) => HOOKS.map((id) => `${index + 1} ${id} completed 0`))
    .flat();
  expect(tasks.map((task) => `${task.iteration} ${task["hook-id"]} ${task.status} ${task["exit-code"]}`).toSorted())
    .toEqual(wanted.toSorted());
  expect(new Set(tasks.map(({ pid }) => pid)).size).toBe(wanted.length);
  expect(progress["dynamic-steps"].map(({ id, prompt }) => `${id} ${prompt}`))
    .toEqual(Array.from({ length: ITERATIONS - 1 }, (_, index) => `step-${index + 1} work ${index + 1}`));
  expect(result.git("worktree", "list").split("\n")).toHaveLength(1);
}, LONG ? 600_000 : 120_000);
