/**
 * A disk that is full at each of Ralph's writes in turn: a tmpfs of a few MB, filled to the last byte by a program on PATH
 * that Ralph starts (the agent, a check, a hook of git). Needs root for the mount.
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { ralphCli } from "../e2e/cli.ts";
import { needs } from "../needs.ts";
import { expectNothingLeft, faultProject, passedIn, prdText, stories, WORK } from "./world.ts";

/** More than the small disk holds, and no more: in a clean checkout the same check writes to another disk. */
const FILL =
  "dd if=/dev/zero of=ignored/filler bs=4k count=2000 2> /dev/null; dd if=/dev/zero of=ignored/filler2 bs=1 count=4096 2> /dev/null";

/** `dist/ralph` is not on the small disk: only the project is. */
function onSmallDisk(root: string): void {
  const saved = mkdtempSync(join(realpathSync(tmpdir()), "ralph-full-"));
  cpSync(root, saved, { recursive: true });
  if (spawnSync("mount", ["-t", "tmpfs", "-o", "size=6m", "tmpfs", root]).status !== 0) {
    throw new Error("tmpfs could not be mounted");
  }
  onTestFinished(() => void spawnSync("umount", ["-l", root]));
  cpSync(saved, root, { recursive: true });
  rmSync(saved, { recursive: true });
}

/** The disk fills up at these places, so that each of Ralph's writes after them is the first to fail. */
const PLACES: readonly (readonly [where: string, agent: string, criterion: string])[] = [
  [
    "during the agent's turn (transcript, events, journal)",
    `${WORK}; mkdir -p ignored; [ -f ignored/once ] || { touch ignored/once; ${FILL}; }; echo '<promise>COMPLETE</promise>'`,
    "grep -qx done work/1.txt",
  ],
  [
    "during the agent's turn, with much still to print",
    `${WORK}; mkdir -p ignored; [ -f ignored/once ] || { touch ignored/once; ${FILL}; head -c 3000000 /dev/zero | tr '\\0' x; }; echo '<promise>COMPLETE</promise>'`,
    "grep -qx done work/1.txt",
  ],
  [
    "during the check (check log, journal, shadow copy, state)",
    WORK,
    `mkdir -p ignored; grep -qx done work/1.txt && { [ -f ignored/once ] || { touch ignored/once; ${FILL}; true; }; }`,
  ],
  [
    "with a few KB left during the check (state, progress, commit)",
    WORK,
    `mkdir -p ignored; grep -qx done work/1.txt && { [ -f ignored/once ] || { touch ignored/once; ${FILL}; truncate -s -12K ignored/filler; true; }; }`,
  ],
  [
    "with more KB left during the check (commit)",
    WORK,
    `mkdir -p ignored; grep -qx done work/1.txt && { [ -f ignored/once ] || { touch ignored/once; ${FILL}; truncate -s -40K ignored/filler; true; }; }`,
  ],
];

describe("a disk that fills up", needs("root", "a mounted tmpfs"), () => {
  test.each(PLACES)(
    "%s: state intact, an error that says so, and the next run continues",
    async (_where, agent, criterion) => {
      const prd = prdText([{ ...stories(1)[0]!, acceptanceCriteria: [`Verify: \`${criterion}\``] }, stories(2)[1]!]);
      const project = faultProject(agent, { prd });
      const { root } = await project.cli.args("status").expectExit(0);
      onSmallDisk(root);

      const first = await ralphCli(root).agent("worker", agent).env({ FAULT: project.mark.slice(6) }).args("run")
        .start().ended();

      expect(first.stderr).not.toMatch(/internal/);
      if (first.exitCode !== 0) {
        expect(first.exitCode, first.stderr).toBe(1);
        expect(first.stderr).toMatch(/\nerror: .*(no space|diskspace|unable to write).*\nhint: .+\n$/i);
      }
      passedIn(root);
      for (const line of readFileSync(join(root, ".git/ralph/journal.jsonl"), "utf8").split("\n").slice(0, -1)) {
        JSON.parse(line);
      }

      for (const name of ["filler", "filler2"]) rmSync(join(root, "ignored", name), { force: true });
      const again = await ralphCli(root).agent("worker", agent).env({ FAULT: project.mark.slice(6) }).args("run")
        .expectExit(0);
      expect(passedIn(root)).toEqual(["US-001", "US-002"]);
      expect(again.git("log", "--format=%s").match(/^feat: /gm)).toHaveLength(2);
      expect(again.git("status", "--porcelain")).toBe("");
      await expectNothingLeft(project, root);
    },
  );

  test("before the start: nothing is begun", async () => {
    const project = faultProject(WORK);
    const { root } = await project.cli.args("status").expectExit(0);
    onSmallDisk(root);
    mkdirSync(join(root, "ignored"));
    spawnSync("sh", ["-c", FILL], { cwd: root });

    const { stderr } = await ralphCli(root).args("run").expectExit(1);

    expect(stderr).toMatch(/\nerror: could not write \[ROOT\]\/.+: .+\nhint: .+\n$/);
    expect(readFileSync(join(root, "scripts/ralph/prd.json"), "utf8")).toBe(prdText(stories(1)));
  });
});
