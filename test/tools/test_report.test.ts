import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../lib/host/files.ts";
import { environment, packageScript, ROOT } from "../../tools/runtimes.mjs";
import { writeFiles } from "../repository.ts";

const FILES = {
  "fails.test.js": 'test("two is three", () => expect({ a: 2 }).toEqual({ a: 3 }));\ntest("fine", () => {});\n',
  "hook.test.js":
    'describe("a group", () => {\n  afterAll(() => { throw new Error("broke"); });\n  test("runs", () => {});\n});\n',
  "load.test.js": 'import "./nowhere.js";\n',
  "later.test.js":
    'test("ends", async () => {\n  setTimeout(() => { throw new Error("later"); });\n  await new Promise((done) => setTimeout(done, 50));\n});\n',
};

test("the suite's report names each failure: of a test, a hook, a file that cannot be loaded, and of no test", async () => {
  await using folder = await temporaryDirectory("report-");
  writeFiles(folder.path, FILES);
  const report = join(folder.path, "report.json");
  const reporter = join(ROOT, "tools", "test_report.mjs");
  const words = [packageScript("vitest"), "run", "--root", folder.path, "--globals", "--reporter", reporter];

  spawnSync(process.execPath, words, { cwd: ROOT, env: environment({ RALPH_TEST_REPORT: report }) });

  const { passed, failures } = JSON.parse(readFileSync(report, "utf8"));
  expect(passed).toBe(3);
  expect(failures).toEqual([
    {
      name: "fails.test.js: two is three",
      text: expect.stringMatching(/^AssertionError: .*\nat .*fails.test.js:1\n- Exp/),
    },
    { name: "hook.test.js: a group", text: expect.stringMatching(/^Error: broke\nat .*hook.test.js:2$/) },
    { name: "load.test.js", text: expect.stringContaining("nowhere.js") },
    { name: expect.stringMatching(/^Uncaught Exception in .*later.test.js$/), text: expect.stringContaining("later") },
  ]);
});
