import { defineConfig } from "vitest/config";

/** Real agent programs: never part of `npm test`, which must not download them. */
export default defineConfig({
  test: {
    include: ["test/agents-real/*.real.ts"],
    globalSetup: ["test/agents-real/programs.ts"],
    pool: "forks",
    maxWorkers: 1,
    testTimeout: process.env["RALPH_AGENTS_SLOW"] === "1" ? 1_600_000 : 400_000,
    hookTimeout: 900_000,
  },
});
