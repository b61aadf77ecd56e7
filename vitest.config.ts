import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import deno from "./deno.json" with { type: "json" };

function path(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}

export default defineConfig({
  resolve: {
    alias: Object.entries(deno.exports).map(([name, file]) => ({
      find: new RegExp(`^${name.replace(/^\./, "ralph")}$`),
      replacement: path(file),
    })),
  },
  test: {
    include: ["test/**/*.test.ts"],
    // Checkouts that are kept between runs are not the person's here.
    env: { XDG_CACHE_HOME: join(tmpdir(), "ralph-test-cache") },
    globalSetup: "tools/generate.mjs",
    // Packages are imported as the runtimes import them; vitest's own wrapper loses `zod`'s `z` under Bun.
    deps: { interopDefault: false },
    pool: "forks",
    maxWorkers: 3, // much of the time goes by in waiting for processes
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
