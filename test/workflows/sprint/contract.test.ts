import { afterEach, describe, test } from "vitest";
import { backlogContract } from "../../../lib/testing/backlog_contract.ts";
import { PROGRESS, type SprintWorld, sprintWorld } from "./sprint_world.ts";

const worlds: AsyncDisposable[] = [];

afterEach(async () => {
  for (const world of worlds.splice(0)) await world[Symbol.asyncDispose]();
});

const STATES: Readonly<Record<string, (world: SprintWorld) => Promise<unknown>>> = {
  planning: async () => {},
  executing: (world) => world.add("a", "b"),
};

describe.each(Object.entries(STATES))("sprintBacklog() at %s keeps the backlog contract", (_name, prepare) => {
  const cases = backlogContract({
    async open() {
      const world = await sprintWorld(async () => {}, "", { config: { verify: { default: ["true"] } } });
      worlds.push(world);
      await prepare(world);
      return {
        backlog: world.backlog(),
        reopen: async () => world.backlog(),
        snapshot: async () =>
          (await world.ralph.state.read(PROGRESS) ?? "").replaceAll(/started-at: .*|completed-at: .*/g, ""),
      };
    },
  });
  test.each(cases)("$name", (one) => one.run());
});
