/** A full disk under a feature: a small tmpfs that the agent or a check fills to the last byte. Needs root for the mount. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { ralphCli } from "../e2e/cli.ts";
import { ACCEPT, feature, PRD_FILE, steps, storiesOf, story } from "../e2e/feature_project.ts";

const CAN_MOUNT = process.platform === "linux" && process.getuid?.() === 0 &&
  spawnSync("unshare", ["-m", "true"]).status === 0;
const FILL =
  "mkdir -p junk; dd if=/dev/zero of=junk/filler bs=4k 2> /dev/null; dd if=/dev/zero of=junk/rest bs=1 count=4096 2> /dev/null";

function onSmallDisk(root: string): void {
  const saved = mkdtempSync(join(realpathSync(tmpdir()), "ralph-full-"));
  cpSync(root, saved, { recursive: true });
  spawnSync("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", root]);
  onTestFinished(() => void spawnSync("umount", ["-l", root]));
  cpSync(saved, root, { recursive: true });
  rmSync(saved, { recursive: true });
}

const PLACES: readonly (readonly [where: string, agent: string, check: string])[] = [
  [
    "in the agent's turn",
    `${ACCEPT} *) echo good > US-001.txt; [ -f ../once ] || { touch ../once; ${FILL}; }; done_;;`,
    "true || x",
  ],
  [
    "in the check",
    `${ACCEPT} *) echo good > US-001.txt; done_;;`,
    `[ -f ../once ] || { touch ../once; ${FILL}; }; true`,
  ],
  [
    "in the final verification",
    `*"Final Verification"*) [ -f ../once ] || { touch ../once; ${FILL}; }; echo "<ralph>VERIFIED</ralph>";; *) echo good > US-001.txt; done_;;`,
    "true || x",
  ],
];

describe.runIf(CAN_MOUNT)("a full disk", { timeout: 60_000 }, () => {
  test.each(PLACES)(
    "%s: a clear error, the PRD as it was, and the next run continues",
    async (_where, agent, check) => {
      const looked = await feature(agent, [story("US-001")], { verify: { default: [check] } }).files({
        ".gitignore": "junk\n",
      }).args("status", "auth").expectExit(0);
      onSmallDisk(looked.root);
      const first = ralphCli(looked.root).args("run", "auth").start();
      const { exitCode, stderr } = await first.ended();

      expect(exitCode, stderr).not.toBe(0);
      expect(exitCode).not.toBe(70);
      expect(stderr).toMatch(/ENOSPC|no space left|No space left/i);
      expect(JSON.parse(readFileSync(join(looked.root, PRD_FILE), "utf8")).userStories).toHaveLength(1);

      rmSync(join(looked.root, "junk"), { recursive: true, force: true });
      const again = await ralphCli(looked.root).args("run", "auth").expectExit(0);
      expect(storiesOf(again)[0]).toMatchObject({ passes: true, retries: 0 });
      expect(steps(again).filter((step) => step === "US-001 passed")).toHaveLength(1);
    },
  );
});
