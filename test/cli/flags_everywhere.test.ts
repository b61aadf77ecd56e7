import { expect, test } from "vitest";
import { COMMANDS } from "../../lib/program/commands.ts";

test("every command that starts an agent takes the flags of consent, time, view and place", () => {
  // a worker works in a clone of its own, the demo in a project of its own: neither asks for what it knows
  const apart = new Set(["worker", "demo"]);
  const starting = COMMANDS.filter(({ name, flags }) => "agent" in flags && !apart.has(name));

  expect(starting.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["init", "exec", "plan", "run", "understand", "prd", "build", "sprint", "run-recipe"]),
  );
  for (const { name, flags } of starting) {
    for (const flag of ["non-interactive", "answers", "approve", "timeout", "ui", "root", "config"]) {
      expect(Object.keys(flags), name).toContain(flag);
    }
  }
});
