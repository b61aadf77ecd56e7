import { expect, test } from "vitest";
import { COMMANDS } from "../../lib/program/commands.ts";
import { commandHelp, generalHelp, wholeHelp } from "../../lib/cli/help.ts";
import { TOPICS } from "../../lib/program/commands/help.ts";
import { wrapText } from "../../lib/ui/wrap_text.ts";
import { WORKFLOWS } from "../../lib/workflows/table.ts";

/** All that the design names. */
const COMMAND_NAMES = (
  "init exec plan understand import run prd verify gate next validate " +
  "attest finish mcp skill worktrees watch ui pause resume stop tell build query task issue set-spec log sprint step roadmap discover status " +
  "worker queue job doctor demo report restore recipes eject run-recipe types check clean completions man schema help"
).split(" ");

test("the table of commands holds every command there is to be, and no other, once", () => {
  expect(COMMANDS.map(({ name }) => name).toSorted()).toEqual(COMMAND_NAMES.toSorted());
});

test("`ralph help` is one screen of 80 columns: twelve commands in four groups", () => {
  const lines = generalHelp(COMMANDS, 80).split("\n");

  expect(lines.length).toBeLessThan(24);
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  expect(lines.flatMap((line) => /^ {2}([a-z]+) {2}/.exec(line)?.[1] ?? [])).toEqual([
    "start",
    "work",
    "watch",
    "more",
  ]);
  expect(lines.flatMap((line) => /^ {2}.{7}([a-z]+)/.exec(line)?.[1] ?? [])).toEqual(
    "exec demo init plan run status finish watch ui report doctor help".split(" "),
  );
});

test("`ralph help --all` has every command once, under a heading", () => {
  const lines = wholeHelp(COMMANDS, 100).split("\n").slice(3);
  const listed = lines.flatMap((line) => /^ {2}([a-z-]+)/.exec(line)?.[1] ?? []);

  expect(listed.toSorted()).toEqual(COMMAND_NAMES.toSorted());
  expect(lines).toContain("The workflow gsd:");
});

test("help of a command with many flags shows those that people use, and all by `--all`", () => {
  const exec = COMMANDS.find(({ name }) => name === "exec")!;
  const flagsIn = (text: string): readonly string[] =>
    [...text.matchAll(/^ {2}--([a-z-]+)/gm)].map(([, name]) => name!);

  expect(flagsIn(commandHelp(exec, 80))).toEqual(
    ("resume dry-run max-cost verify retry-blocked parallel approve agent agent-cmd model sandbox help").split(" "),
  );
  expect(commandHelp(exec, 80)).toContain("`ralph help exec --all`");
  expect(flagsIn(commandHelp(exec, 80, true))).toEqual(Object.keys(exec.flags));
});

test("`ralph help workflows` tells every workflow that can be asked for", async () => {
  const told = (await TOPICS["workflows"]?.(COMMANDS) ?? "").split("\n").map((line) =>
    /^ {2}(\w+) {2}/.exec(line)?.[1]
  );

  expect(told.filter((name) => name !== undefined).toSorted()).toEqual(WORKFLOWS.map(({ name }) => name).toSorted());
});

test.each([["import", 80], ["finish", 60]])("the details of `ralph help %s` flow at %i columns", (name, columns) => {
  const command = COMMANDS.find((one) => one.name === name)!;
  const lines = commandHelp(command, columns).split("\nFlags:")[0]!.split("\n").slice(4).filter((line) => line !== "");

  expect(lines.filter((line) => line.length > columns)).toEqual([]);
  // a line that ends early ends a sentence
  expect(lines.filter((line) => line.length < columns / 2 && !line.endsWith("."))).toEqual([]);
});

test("help is wrapped as one text: no line is cut where its source was", async () => {
  const general = wholeHelp(COMMANDS, 60).split("\n\n").at(-1)?.split("\n") ?? [];
  const install = wrapText(await TOPICS["install"]?.(COMMANDS, 60) ?? "", 60).split("\n\n")[1]?.split("\n") ?? [];
  for (const lines of [general, install]) {
    expect(lines.length).toBeGreaterThan(1);
    for (const [index, line] of lines.slice(0, -1).entries()) {
      const [next = ""] = /^(?:`[^`]*`|\S)+/.exec(lines[index + 1] ?? "") ?? [];
      expect(`${line} ${next}`.length, `${line}|`).toBeGreaterThan(60);
    }
  }
});
