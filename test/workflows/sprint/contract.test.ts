import { keepsContract } from "../../testing/keeps_contract.ts";
import { DIRECTORY, PROGRESS, type SprintWorld, sprintWorld } from "./sprint_world.ts";

const STATES: Readonly<Record<string, (world: SprintWorld) => Promise<unknown>>> = {
  planning: async () => {},
  executing: (world) => world.add("a", "b"),
};

const PHASES = `phases:
  - { id: prepare, prompt: prepare }
  - { id: each, for-each: step }
`;

for (const [name, prepare] of Object.entries(STATES)) {
  keepsContract(`sprintBacklog() at ${name}`, async () => {
    const world = await sprintWorld(async () => {}, "", { config: { verify: { default: ["true"] } } });
    await prepare(world);
    return {
      backlog: world.backlog(),
      reopen: async () => world.backlog(),
      snapshot: async () =>
        (await world.ralph.state.read(PROGRESS) ?? "").replaceAll(/(?:started|completed)-at: .*/g, ""),
      root: world.root,
      async turn({ data: { step } }) {
        if (step === null) return { lines: ["RALPH_COMPLETE: reached"] };
        return { claims: [{ v: 1, command: "step done", id: step.id, at: 0 }] };
      },
      [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
    };
  });
}

keepsContract("sprintBacklog() in standard mode", async () => {
  const world = await sprintWorld(async () => {}, "", {
    config: { verify: { default: ["true"] } },
    files: {
      ".claude/workflows/phases.yaml": PHASES,
      [`${DIRECTORY}/SPRINT.yaml`]: "workflow: phases\nsteps: [one, two]\n",
    },
  });
  return {
    backlog: world.backlog(),
    reopen: async () => world.backlog(),
    snapshot: async () =>
      (await world.ralph.state.read(PROGRESS) ?? "").replaceAll(/(?:started|completed)-at: .*/g, ""),
    root: world.root,
    turn: async ({ data: { step } }) => ({ claims: [{ v: 1, command: "step done", id: step?.id ?? "", at: 0 }] }),
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
});
