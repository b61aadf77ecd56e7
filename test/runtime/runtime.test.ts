import process from "node:process";
import { expect, test } from "vitest";

function runtime(): string {
  if ("Bun" in globalThis) return "bun";
  return "Deno" in globalThis ? "deno" : "node";
}

test("the tests run in the runtime that the test command names, workers included", () => {
  const named = process.env["RALPH_TEST_RUNTIME"] ?? runtime();

  expect(runtime()).toBe(named);
});

test("`ralph` is one module, whichever way it is imported", async () => {
  const named = await import("ralph");
  const relative = await import("../../lib/mod.ts");

  expect(named.RalphError).toBe(relative.RalphError);
});
