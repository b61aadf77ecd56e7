import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import deno from "./deno.json" with { type: "json" };
import { probedEnvironment } from "./test/needs.ts";

function path(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}

/** A version manager's `python3` is a script that looks for the program each time: what it finds is put before it. */
function withPython(folders: readonly string[]): readonly string[] {
  const shim = folders.findIndex((folder) => existsSync(join(folder, "python3")));
  const { stdout } = spawnSync("python3", ["-c", "import sys; print(sys.executable)"], { encoding: "utf8" });
  const found = dirname((stdout ?? "").trim());
  return shim === -1 || folders.includes(found) || !existsSync(join(found, "python3"))
    ? folders
    : folders.toSpliced(shim, 0, found);
}

const PROBED = probedEnvironment();
const { PATH = "", NODE_EXTRA_CA_CERTS = "", RALPH_TEST_RUNTIME = "node" } = process.env;

export default defineConfig({
  // How long each file took, by which the longest begin first: the runtimes' parts are written at the same time.
  cacheDir: path(`node_modules/.vite/${RALPH_TEST_RUNTIME}`),
  resolve: {
    alias: Object.entries(deno.exports).map(([name, file]) => ({
      find: new RegExp(`^${name.replace(/^\./, "ralph")}$`),
      replacement: path(file),
    })),
  },
  test: {
    include: ["test/**/*.test.ts"],
    env: {
      // Checkouts that are kept between runs are not the person's here.
      XDG_CACHE_HOME: join(tmpdir(), "ralph-test-cache"),
      // Tests start thousands of programs, and each Node would read these first, for longer than all else takes.
      NODE_EXTRA_CA_CERTS: "",
      GIT_CONFIG_NOSYSTEM: "1", // a machine may have filters there
      CERTIFICATES_OF_NPM: NODE_EXTRA_CA_CERTS,
      ...PROBED,
      PATH: withPython(PATH.split(delimiter)).join(delimiter),
    },
    globalSetup: "tools/generate.mjs",
    setupFiles: "test/setup.ts",
    // Packages are imported as the runtimes import them; vitest's own wrapper loses `zod`'s `z` under Bun.
    deps: { interopDefault: false },
    pool: "forks",
    // A worker keeps from file to file what it has loaded and compiled.
    isolate: false,
    // Much of the time goes by in waiting for processes, most in Node's part, which is the longest.
    maxWorkers: RALPH_TEST_RUNTIME === "node" ? 6 : 4,
    testTimeout: 180_000, // ends what hangs, and nothing else: a busy machine needs minutes for a test of seconds
    hookTimeout: 180_000,
    expect: { poll: { timeout: 150_000 } }, // a wait for what must come ends with the test
  },
});
