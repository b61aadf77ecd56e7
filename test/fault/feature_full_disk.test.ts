/** A full disk under a feature: a small tmpfs that the agent or a check fills to the last byte. Needs root for the mount. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { ralphCli } from "../e2e/cli.ts";
import { needs } from "../needs.ts";
import { ACCEPT, feature, PRD_FILE, steps, storiesOf, story } from "../e2e/feature_project.ts";

/** More than the small disk holds, and no more: a check may run on another one. */
const FILL =
  "mkdir -p junk; dd if=/dev/zero of=junk/filler bs=4k count=2000 2> /dev/null; dd if=/dev/zero of=junk/rest bs=1 count=4096 2> /dev/null";

/** The project and the checkouts of its checks. @returns where these are kept */
function onSmallDisk(root: string): Readonly<Record<string, string>> {
  const saved = mkdtempSync(join(realpathSync(tmpdir()), "ralph-full-"));
  cpSync(root, saved, { recursive: true });
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", root]);
  if (status !== 0) throw new Error("tmpfs could not be mounted");
  onTestFinished(() => void spawnSync("umount", ["-l", root]));
  cpSync(saved, root, { recursive: true });
  rmSync(saved, { recursive: true });
  return { XDG_CACHE_HOME: join(root, ".git/cache") };
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
    `[ -f $HOME/once ] || { touch $HOME/once; ${FILL}; }; true`,
  ],
  [
    "in the final verification",
    `*"Final Verification"*) [ -f ../once ] || { touch ../once; ${FILL}; }; echo "<ralph>VERIFIED</ralph>";; *) echo good > US-001.txt; done_;;`,
    "true || x",
  ],
];

describe("a full disk", needs("root", "a mounted tmpfs"), () => {
  test.each(PLACES)(
    "%s: a clear error, the PRD as it was, and the next run continues",
    async (_where, agent, check) => {
      const looked = await feature(agent, [story("US-001")], { verify: { default: [check] } }).files({
        ".gitignore": "junk\n",
      }).args("status", "auth").expectExit(0);
      const cache = onSmallDisk(looked.root);
      const first = ralphCli(looked.root).env(cache).args("run", "auth").start();
      const { exitCode, stderr } = await first.ended();

      expect(exitCode, stderr).not.toBe(0);
      expect(exitCode).not.toBe(70);
      expect(stderr).toMatch(/ENOSPC|no space left|No space left/i);
      expect(JSON.parse(readFileSync(join(looked.root, PRD_FILE), "utf8")).userStories).toHaveLength(1);

      rmSync(join(looked.root, "junk"), { recursive: true, force: true });
      const again = await ralphCli(looked.root).env(cache).args("run", "auth").expectExit(0);
      expect(storiesOf(again)[0]).toMatchObject({ passes: true, retries: 0 });
      expect(steps(again).filter((step) => step === "US-001 passed")).toHaveLength(1);
    },
  );
});
