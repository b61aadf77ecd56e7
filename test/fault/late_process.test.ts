/** A process that leaves its session and clears its environment, so that neither group nor mark shows whose it is. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { expectNothingLeft, faultProject, passedIn, WORK } from "./world.ts";
import { ralphProgram } from "./program.ts";
import { needs, only } from "../needs.ts";

const UNDER_BUN = /bun|ralph$/.test(ralphProgram()[0] ?? "");
const LATE =
  "i=0; while [ \\$i -lt 150 ]; do sleep 0.05; [ \\$i -lt 60 ] || echo stub > work/1.txt; echo x >> ../late.log; i=\\$((i+1)); done";

/** Each begins the late process and lets it write at least once. */
const WAYS: readonly (readonly [name: string, command: string])[] = [
  ["a session of its own", `env -i PATH="$PATH" setsid sh -c "${LATE}" > /dev/null 2>&1 < /dev/null &`],
  ["a double fork", `(env -i PATH="$PATH" setsid sh -c "(${LATE}) &" > /dev/null 2>&1 < /dev/null &);`],
  [
    "one that ignores SIGTERM",
    `env -i PATH="$PATH" setsid sh -c "trap '' TERM HUP; ${LATE}" > /dev/null 2>&1 < /dev/null &`,
  ],
];

describe(
  "a process without session and environment of the turn",
  UNDER_BUN ? needs("Linux") : only(false, "Ralph under Bun"),
  () => {
    test.each(WAYS)("%s is ended with the turn, before the checks run", async (_name, command) => {
      const project = faultProject(
        `mkdir -p work; ${command} until [ -s ../late.log ] || [ $((waits = waits + 1)) -gt 1200 ]; do sleep 0.1; done; ${WORK}`,
      );

      const { root } = await project.cli.expectExit(0);

      const log = join(root, "../late.log");
      const lines = readFileSync(log, "utf8").length;
      expect(existsSync(join(root, "work/1.txt"))).toBe(true);
      await wait(300); // what must not happen has no event
      expect(readFileSync(log, "utf8")).toHaveLength(lines);
      expect(readFileSync(join(root, "work/1.txt"), "utf8")).toBe("done\n");
      expect(passedIn(root)).toEqual(["US-001"]);
      await expectNothingLeft(project, root);
    });
  },
);
