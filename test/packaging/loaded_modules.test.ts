import { chmod } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { expect, test } from "vitest";
import { readText, temporaryDirectory, writeAtomic } from "../../lib/host/files.ts";
import { temporaryRepository } from "../../lib/testing/temporary_repository.ts";
import { ROOT } from "../../tools/runtimes.mjs";
import { finish, type Launch } from "./runtimes.ts";

/** Writes the address of every module that Node loads into a file. */
const HOOKS = `import { appendFileSync } from "node:fs";
export async function load(url, context, next) {
  appendFileSync(process.env.LOADED_MODULES, url + "\\n");
  return next(url, context);
}`;

/** The modules that a command line loads: those of dist/lib as paths. */
async function loadedBy(
  words: readonly string[],
  files: Readonly<Record<string, string>>,
  project: Readonly<Record<string, string>> = { "README.md": "" },
): Promise<readonly string[]> {
  await using repository = await temporaryRepository({ files: project });
  await using folder = await temporaryDirectory("ralph-loaded-");
  for (const [name, text] of Object.entries(files)) {
    await writeAtomic(join(folder.path, name), text);
    await chmod(join(folder.path, name), 0o755);
  }
  const list = join(folder.path, "loaded.txt");
  const register = `import { register } from "node:module"; register(${
    JSON.stringify(`data:text/javascript,${encodeURIComponent(HOOKS)}`)
  });`;
  const launch: Launch = [process.execPath, "--import", `data:text/javascript,${encodeURIComponent(register)}`];
  await finish([...launch, join(ROOT, "dist", "bin", "ralph.js")], words, repository.path, {
    LOADED_MODULES: list,
    PATH: `${folder.path}:${process.env["PATH"]}`,
  });
  return (await readText(list) ?? "").split("\n").flatMap((url) =>
    url.startsWith("node:") ? url : url.split("/dist/lib/")[1] ?? []
  );
}

test("`ralph exec` loads no other workflow, only its own adapter, and few modules", async () => {
  const loaded = await loadedBy(["exec", "a goal", "--agent", "codex", "--non-interactive"], {
    "codex": "#!/bin/sh\ncat > /dev/null\n",
  });
  const own = loaded.filter((path) => !path.startsWith("node:"));
  const others = loaded.filter((path) => /^workflows\/(?!exec\/)[^/]+\/.+/.test(path));
  const drivers = loaded.filter((path) => path.startsWith("agents/adapters/"));

  // the rows of the table of workflows are there with their constants, and nothing behind them
  expect(others.filter((path) => !/\/(?:row|paths|types)\.js$/.test(path))).toEqual([]);
  expect(drivers).toEqual(["agents/adapters/codex.js"]);
  expect(loaded.filter((path) => /^(?:agents\/(?:scripted|replay)|report|services|testing)\//.test(path))).toEqual([]);
  expect(own.length).toBeGreaterThan(100);
  expect(own.length).toBeLessThan(325);
});

test.each([["next"], ["status"], ["query"]])(
  "`ralph %s` without colours loads no heavy module of the runtime",
  async (command) => {
    const loaded = await loadedBy([command], { "ralph.config.json": "{}" });

    expect(loaded).toContain("node:fs");
    expect(loaded.filter((path) => ["node:util", "node:url", "node:stream", "node:child_process"].includes(path)))
      .toEqual([]);
  },
);

test(
  "commands that only look load no journal before the first run, no agents, no checks and nothing of the loop",
  async () => {
    const story = { id: "US-1", title: "One", acceptanceCriteria: [], priority: 1, passes: false, notes: "" };
    const project = {
      "scripts/ralph/prd.json": JSON.stringify({ branchName: "main", userStories: [story] }),
      "ralph.config.json": JSON.stringify({ provider: { command: "true" } }),
    };

    for (const command of ["status", "next", "validate"]) {
      const loaded = await loadedBy([command], {}, project);

      expect(loaded.filter((path) => /^(?:agents|checks|loop|services)\//.test(path)), command).toEqual([]);
      expect(loaded.length, command).toBeGreaterThan(50);
    }
  },
);
