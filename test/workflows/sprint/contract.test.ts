import { afterEach, describe, test } from "vitest";
import { changeYaml } from "../../../lib/workflows/sprint/document.ts";
import { claimExit } from "../../../lib/workflows/sprint/changes.ts";
import { backlogContract } from "../../../lib/testing/backlog_contract.ts";
import { PROGRESS, type SprintWorld, sprintWorld } from "./sprint_world.ts";

const worlds: AsyncDisposable[] = [];

afterEach(async () => {
  for (const world of worlds.splice(0)) await world[Symbol.asyncDispose]();
});

const STATES: Readonly<Record<string, (world: SprintWorld) => Promise<unknown>>> = {
  planning: async () => {},
  executing: (world) => world.add("a", "b"),
  completion: (world) =>
    world.ralph.state.update(
      PROGRESS,
      (text) =>
        changeYaml(text!, PROGRESS, (document) => claimExit(document, { iteration: 0, summary: "s", now: "n" })),
    ),
};

describe.each(Object.entries(STATES))("sprintBacklog() at %s keeps the backlog contract", (name, prepare) => {
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
  // completion commits nothing, so that no commit of it can be refused: failed, it opens the goal again
  const owed = cases.filter((one) => name !== "completion" || !one.name.includes("commit was refused"));
  test.each(owed)("$name", (one) => one.run());
});
