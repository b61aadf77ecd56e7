import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Command } from "../../lib/cli/command.ts";
import { findCommand } from "../../lib/program/commands.ts";
import { parseRecipeLine } from "../../lib/cli/recipe_args.ts";

const COMMAND = { ...findCommand("run-recipe") as Command, name: "run-recipe mine.ts", helpLine: "the help line" };
const RECIPE = { name: "mine", args: z.object({ file: z.string().default("x"), quiet: z.boolean().optional() }) };

describe("parseRecipeLine()", () => {
  test("takes the recipe's flags and Ralph's after the file; a name that both have is the recipe's", async () => {
    const line = await parseRecipeLine(RECIPE, COMMAND, ["--file", "a", "--agent-cmd", "sh x", "--quiet"]);

    expect(line.values).toEqual({ file: "a", quiet: true });
    expect([line.flags.text("agent-cmd"), line.flags.has("quiet"), line.flags.has("file")]).toEqual([
      "sh x",
      false,
      false,
    ]);
  });

  test("an unknown flag names the nearest of both, or the line that shows them", async () => {
    await expect(parseRecipeLine(RECIPE, COMMAND, ["--fiel", "a"])).rejects.toMatchObject({
      message: "unknown flag `--fiel` for `ralph run-recipe mine.ts`",
      hint: "did you mean `--file`?",
    });
    await expect(parseRecipeLine(RECIPE, COMMAND, ["--zzzzzz"])).rejects.toMatchObject({
      hint: "`the help line` shows what there is",
    });
  });
});
