/** Gives each worker of the suite a folder of its own, and notes which test is in it: see tools/test_folder.mjs. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { beforeEach } from "vitest";

const { RALPH_TEST_FOLDER: folder, VITEST_POOL_ID: worker = "0" } = process.env;

if (folder !== undefined) {
  process.env["TMPDIR"] = join(folder, worker);
  mkdirSync(join(folder, worker), { recursive: true, mode: 0o755 });
  beforeEach(({ task }) => {
    writeFileSync(join(folder, `${worker}.test`), `${task.file.name}: ${task.name}\n`);
  });
}
