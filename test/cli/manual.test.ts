import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Command } from "../../lib/cli/command.ts";
import { COMMANDS } from "../../lib/program/commands.ts";
import { flagsOf, manualPage, variables } from "../../lib/program/commands/manual.ts";
import { ROOT } from "../../tools/runtimes.mjs";
import { needs } from "../needs.ts";

describe("manualPage()", () => {
  test("is read by groff without a warning, and shows every command and flag", needs("groff"), () => {
    const { stdout, stderr } = spawnSync("groff", ["-ww", "-man", "-Tascii", "-P-cbou"], {
      input: manualPage(COMMANDS),
      encoding: "utf8",
    });
    const words = new Set(stdout.split(/\s+/));
    const flags = COMMANDS.flatMap((command) => Object.keys(command.flags).map((name) => `--${name}`));

    expect(stderr).toBe("");
    expect([...COMMANDS.map(({ name }) => name), ...flags].filter((word) => !words.has(word))).toEqual([]);
  });

  test("keeps roff's own characters and requests in texts from being read as such", () => {
    const odd: Command = {
      name: "odd",
      summary: "a\\b",
      usage: '"<goal>"',
      arity: [0, 0],
      flags: { x: { type: "boolean", summary: ".SH no heading" } },
      details: ["'so is this", "", "a  row  of columns"],
      load: () => Promise.reject(new Error("not loaded")),
    };
    const page = manualPage([odd]);

    expect(page).toContain("A\\eb.");
    expect(page).toContain("\\&.SH no heading");
    expect(page).toContain("\\(aqso is this");
    expect(page).toContain(".nf\na  row  of columns\n.fi");
    expect(page).toContain('.SS "ralph odd ""<goal>"" [flags]"');
  });
});

test("flagsOf() names every flag of a command once, by itself or in a group", () => {
  for (const command of COMMANDS) {
    const { own, groups } = flagsOf(command);
    const named = [...Object.keys(own), ...groups.flatMap(({ flags }) => Object.keys(flags))];

    expect(named.toSorted(), command.name).toEqual(Object.keys(command.flags).toSorted());
  }
});

test("`ralph help environment` has every variable of Ralph's own that the code reads or sets", () => {
  const known = new Set(variables(COMMANDS).flatMap(([, rows]) => rows).map(([name]) => name));
  const internal = ["RALPH_TREE", "RALPH_GIT", "RALPH_PROMPT", "RALPH_VERSION", "RALPH_TURN"];
  const used = readdirSync(join(ROOT, "lib"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && !path.startsWith("generated"))
    .flatMap((path) => readFileSync(join(ROOT, "lib", path), "utf8").match(/(?<=["{ ])RALPH_[A-Z_]+(?=["?:,])/g) ?? [])
    .filter((name) => !/^RALPH_(?:PART|INVALID|MISSING|COMPLETE|WORKFLOW$)/.test(name));

  expect([...new Set(used)].filter((name) => !known.has(name) && !internal.includes(name))).toEqual([]);
});
