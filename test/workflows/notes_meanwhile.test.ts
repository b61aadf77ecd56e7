/** A person's program that writes into the notes of the story at work while Ralph settles it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, test } from "vitest";
import type { Attempt, Backlog } from "../../lib/backlog/types.ts";
import { failureIn, withFailure, withoutFailure } from "../../lib/backlog/attempts.ts";
import type { RalphContext } from "../../lib/context/context.ts";
import { prdBacklog } from "../../lib/workflows/exec/backlog.ts";
import { featureBacklog } from "../../lib/workflows/feature/backlog.ts";
import { parseDirectory } from "../../lib/workflows/feature/directories.ts";
import { loopWorld } from "../loop/loop_world.ts";

const FEATURE = parseDirectory("2024-01-15-auth")!;
const STORY = { id: "US-001", title: "one", acceptanceCriteria: ["Verify: `false`"], priority: 1 };
const EXEC = { branchName: "main", userStories: [{ ...STORY, passes: false, notes: "" }] };
const OF_FEATURE = { schemaVersion: 2, project: "P", branchName: "main", userStories: [STORY] };
const ROUNDS = 40;
const LINES = 3;

/**
 * Adds `line 1;`, `line 2;` … to the notes, each time in place of what it has read; `during` is told how many there are.
 *
 * @returns how many there are in the end
 */
async function whileWriting(
  file: string,
  where: "before" | "behind",
  during: (lines: () => number) => Promise<void>,
): Promise<number> {
  const code = `const fs = require("node:fs"); const file = ${JSON.stringify(file)}; let count = 0;
    const timer = setInterval(() => {
      const text = fs.readFileSync(file, "utf8"), prd = JSON.parse(text), story = prd.userStories[0];
      const line = "line " + (count + 1) + ";", notes = story.notes ?? "";
      story.notes = ${where === "before"} ? line + "\\n" + notes : notes + "\\n" + line;
      fs.writeFileSync(file + ".new", JSON.stringify(prd, null, 2));
      if (fs.readFileSync(file, "utf8") !== text) return;
      fs.renameSync(file + ".new", file);
      count += 1;
      console.log(count);
    }, 80);
    process.stdin.on("end", () => { clearInterval(timer); }).resume();`;
  const child = spawn(process.execPath, ["-e", code], { stdio: ["pipe", "pipe", "inherit"] });
  let lines = 0;
  const printed = createInterface({ input: child.stdout }).on("line", (count) => lines = Number(count));
  const closed = once(printed, "close");
  await during(() => lines).finally(() => child.stdin.end());
  await closed;
  return lines;
}

/** So many times, and until a person has added some lines. */
async function settleOften(backlog: Backlog<never, never>, lines: () => number): Promise<number> {
  const next = await backlog.next({ inFlight: [], parked: [] });
  if (next.status !== "item") throw new Error("nothing to settle");
  let number = 0;
  while (number < ROUNDS || lines() < LINES) {
    number += 1;
    const message = `no\n${number}`;
    const known = { id: `r.${number}`, number, claim: null, turn: null, verification: null } as const;
    await backlog.settle(next.item, { ...known, status: "failed", reason: "checks-failed", message } as Attempt<never>);
  }
  return number;
}

describe.each([
  ["exec", "scripts/ralph/prd.json", EXEC, (ralph: RalphContext) => prdBacklog(ralph)],
  ["feature", FEATURE.prdFile, OF_FEATURE, (ralph: RalphContext) => featureBacklog(ralph, { feature: FEATURE })],
])("settling in %s", (_name, path, prd, open) => {
  test.each(["before", "behind"] as const)("keeps each line %s Ralph's part", async (where) => {
    await using world = await loopWorld(async () => {}, { files: { [path]: JSON.stringify(prd, null, 2) } });
    const file = join(world.root, path);

    const backlog = open(world.ralph) as unknown as Backlog<never, never>;
    let rounds = 0;
    const count = await whileWriting(file, where, async (lines) => {
      rounds = await settleOften(backlog, lines);
    });

    const { notes } = JSON.parse(await readFile(file, "utf8")).userStories[0] as { readonly notes: string };
    const lines = Array.from({ length: count }, (_, index) => `line ${index + 1};`);
    expect(count).toBeGreaterThanOrEqual(LINES);
    expect(lines.filter((line) => !notes.includes(line))).toEqual([]);
    expect(failureIn(notes)).toContain(`${rounds}`);
  });
});

test("Ralph's part of the notes has several lines, and a person's lines may be on both sides of it", () => {
  const notes = `${withFailure("mine", "red:\n\n  at line 3\nend")}\nmine too`;

  expect(failureIn(notes)).toBe("red:\n\n  at line 3\nend");
  expect(withoutFailure(notes)).toBe("mine\nmine too");
  expect(withoutFailure(withFailure(notes, "again"))).toBe("mine\nmine too");
});
