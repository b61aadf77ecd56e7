import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { featurePrd } from "../fixtures/feature_prd.ts";
import { Clones } from "./clones.ts";
import { Postgres } from "./postgres.ts";
import { needs } from "../needs.ts";

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
const ITEMS = [1, 2] as const;

/** Each workflow's project: two items that do not wait for each other, and how its agent says that one is done. */
const PROJECTS = {
  feature: {
    command: ["run", "calc"],
    files: {
      ".ralph/2026-01-01-calc/prd.md": "# Calc\n",
      ".ralph/2026-01-01-calc/prd.json": featurePrd(ITEMS.map((number) => ({
        id: `US-00${number}`,
        title: `Write ${number}`,
        acceptanceCriteria: [`Verify: \`test -f src/${number}.txt\``],
        priority: 1,
      }))),
      "ralph.config.json": json({ workflow: "feature", verify: { default: ["git --version"] } }),
    },
    claim: 'if [ "$review" = yes ]; then echo "<ralph>VERIFIED</ralph>"; else echo "<ralph>DONE</ralph>"; fi',
    done: (root: string) =>
      !readFileSync(join(root, ".ralph/2026-01-01-calc/prd.json"), "utf8").includes('"passes": false'),
  },
  spec: {
    command: ["build", "--non-interactive"],
    files: {
      "ralph/specs/calc.md": "# Calc\n\nTwo files.\n",
      "ralph/plan.jsonl": [
        { t: "spec", spec: "calc.md" },
        ...ITEMS.map((number) => ({
          t: "task",
          id: `t-000${number}`,
          spec: "calc.md",
          name: `Write ${number}`,
          s: "p",
          accept: `Verify: \`test -f src/${number}.txt\``,
          priority: "high",
        })),
      ].map((line) => `${JSON.stringify(line)}\n`).join(""),
      "ralph.config.json": json({ workflow: "spec" }),
    },
    claim: 'if [ "$review" = yes ]; then ralph task accept >/dev/null; else ralph task done "t-000$n" >/dev/null; fi',
    done: (root: string) => !readFileSync(join(root, "ralph/plan.jsonl"), "utf8").includes('"s":"p"'),
  },
} as const;

const agentOf = (claim: string): string =>
  `#!/bin/sh
prompt=$(cat)
review=no
case "$prompt" in *"Final Verification"*) review=yes;; esac
[ "\${RALPH_STAGE:-}" != VERIFY ] || review=yes
n=$(printf %s "\${RALPH_ITEM:-}" | sed 's/.*\\([0-9]\\)$/\\1/')
echo "$review $n $(pwd)" >> "$TURNS"
[ "$review" = yes ] || { mkdir -p src; echo done > "src/$n.txt"; }
${claim}
`;

describe("workflows beside exec, over a queue", needs("postgresql"), () => {
  let postgres: Postgres;
  beforeAll(async () => {
    postgres = await Postgres.start();
  });
  afterAll(() => postgres[Symbol.dispose]());

  test.each(["feature", "spec"] as const)(
    "%s: a worker makes the items, the coordinator what reviews them",
    async (name) => {
      const { command, files, claim, done } = PROJECTS[name];
      using clones = new Clones(0, files);
      writeFileSync(clones.agent, agentOf(claim));
      chmodSync(clones.agent, 0o755);
      const more = { RALPH_QUEUE: postgres.url };
      const root = clones.clone();
      const place = join(clones.folder, "worker/project");
      const ours = ["--name", name, "--directory", place, "--parallel", "2", "--agent-cmd", clones.agent];
      const worker = ["worker", "--repository", `file://${clones.remote}`, ...ours];
      const stop = new AbortController();
      const serving = clones.ralph(clones.folder, worker, more, stop.signal);
      const run = await clones.ralph(root, [...command, "--ui", "plain", "--agent-cmd", clones.agent], more);
      stop.abort();
      const served = await serving;

      expect(run.exitCode, `${run.stderr}\n${served.stdout}\n${served.stderr}`).toBe(0);
      expect(done(root)).toBe(true);
      const turns = clones.turnLines();
      const made = turns.filter((line) => line.startsWith("no "));
      expect(made.map((line) => line.split(" ")[1]).toSorted()).toEqual(["1", "2"]);
      expect(made.every((line) => line.includes("/worker/"))).toBe(true);
      expect(turns.filter((line) => line.startsWith("yes ")).every((line) => line.includes(root))).toBe(true);
      expect(clones.refs().filter((ref) => ref.startsWith("refs/ralph/jobs/") || ref.includes("/attempts/"))).toEqual(
        [],
      );
    },
  );
});
