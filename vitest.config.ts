import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

function path(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}

export default defineConfig({
  resolve: {
    alias: [
      { find: /^ralph$/, replacement: path("./lib/mod.ts") },
      { find: /^ralph\/testing$/, replacement: path("./lib/testing/mod.ts") },
    ],
  },
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: "tools/generate.mjs",
    // Packages are imported as the runtimes import them; vitest's own wrapper loses `zod`'s `z` under Bun.
    deps: { interopDefault: false },
    pool: "forks",
    maxWorkers: 3, // much of the time goes by in waiting for processes
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
