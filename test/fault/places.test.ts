/** Folders of the machine that are missing, or that cannot be written. */
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { faultProject, passedIn, prdText, stories, WORK } from "./world.ts";

const FOLDER = realpathSync(mkdtempSync(join(tmpdir(), "ralph-places-")));
const FILE = join(FOLDER, "file");
writeFileSync(FILE, "");

afterAll(() => rmSync(FOLDER, { recursive: true, force: true }));

describe("a folder for temporary files", () => {
  test.each([["is missing", join(FOLDER, "missing")], ["is a file", FILE]])(
    "that %s is named before a turn is paid",
    async (_name, TMPDIR) => {
      const project = faultProject(WORK);

      const { stderr, read } = await project.cli.env({ TMPDIR }).expectExit(1);

      expect(stderr).toContain(`error: could not write ${TMPDIR}`);
      expect(stderr).toContain("hint: set TMPDIR to a folder that can be written");
      expect(read("work/1.txt")).toBeNull();
    },
  );
});

describe("a home folder that cannot be written", () => {
  test("ends no run: the checkout is kept among the temporary files", async () => {
    const project = faultProject(WORK);

    const { root } = await project.cli.env({ HOME: FILE, XDG_CACHE_HOME: "", TMPDIR: FOLDER }).expectExit(0);

    expect(passedIn(root)).toEqual(["US-001"]);
    expect(existsSync(join(FOLDER, `ralph-cache-${process.getuid?.() ?? ""}`, "checkouts"))).toBe(true);
  });
});

test("a run with nothing to do makes no tree for its workers", async () => {
  const [story] = stories(1);
  const project = faultProject(WORK, { prd: prdText([{ ...story!, passes: true }]) });
  const trace = join(FOLDER, "trace");

  await project.cli.before("mkdir work; echo done > work/1.txt; git add -A; git commit -qm done")
    .env({ GIT_TRACE: trace }).args("run", "--parallel", "2").expectExit(0);

  expect(readFileSync(trace, "utf8")).not.toMatch(/worktree add/);
});
