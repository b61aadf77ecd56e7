import type { Plan } from "./types.ts";

/** Beyond this a plan is no plan of GSD's size. */
const MOST_TASKS = 5;

/** Notes on a plan for a person, before an agent gets it. Pure. */
export function planNotes({ id, phase, tasks }: Plan): readonly string[] {
  const count = tasks.filter(({ checkpoint }) => !checkpoint).length;
  if (count <= MOST_TASKS) return [];
  return [
    `${id} has ${count} tasks: GSD gives a plan 2 or 3, so that it fits into the agent's context; ` +
    `\`ralph plan ${phase}\` splits it`,
  ];
}

/** The commands of a plan that are not run, since what is expected of them is not understood. Pure. */
export function expectNotes({ id, tasks, verification }: Plan): readonly string[] {
  return [...tasks, verification].flatMap(({ notCheckable }) => notCheckable)
    .filter((text) => / \(expected: .*\)$/s.test(text))
    .map((text) => `${id}: not run, since its <expect> is not understood: ${text.split("\n")[0]}`);
}
