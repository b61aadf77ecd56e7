import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readCommand } from "../../lib/cli/look.ts";
import { COMMANDS } from "../../lib/program/commands.ts";

const LIB = join(import.meta.dirname, "../../lib");
/** Not printed by Ralph: what an agent is told to write, and another program's words. */
const NOT_COMMANDS = [/^ralph \[/, /^ralph NONCE/];

interface Printed {
  readonly file: string;
  readonly line: string;
}

/** Each command that a string of the sources holds between backticks; what is filled in is a word. */
function printedCommands(): readonly Printed[] {
  const files = readdirSync(LIB, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.startsWith("generated"));
  return files.flatMap((file) =>
    readFileSync(join(LIB, file), "utf8").split("\n").filter((text) => !/^\s*(?:\*|\/\/|\/\*)/.test(text)).flatMap((
      text,
    ) =>
      [...text.matchAll(/\\`(ralph [a-z](?:[^`\\]|\\(?!`))*)\\`|(?<=["'][^`]*)`(ralph [a-z][^`$]*)`/g)].map((
        [, escaped, plain],
      ) => ({ file, line: filledIn(escaped ?? plain ?? "") }))
    )
  ).filter(({ line }) => !NOT_COMMANDS.some((other) => other.test(line)));
}

function filledIn(line: string): string {
  const [command = ""] = line.split(/ [|>]/); // what the shell does with its output
  return command.replaceAll("\\", "").replaceAll(/\$\{[^}]*\}/g, "1").trim();
}

test("every command that Ralph prints parses by its own table", () => {
  const environment = { variables: {} } as Parameters<typeof readCommand>[2]["environment"];
  const printed = printedCommands();
  const isNamed = (line: string): boolean => COMMANDS.some(({ name }) => line === `ralph ${name}`);
  const wrong = printed.filter(({ line }) =>
    !isNamed(line) && readCommand(line, { commands: COMMANDS }, { environment }) === null
  );

  expect(printed.length).toBeGreaterThan(150);
  expect(wrong).toEqual([]);
});
