import { expect, test } from "vitest";
import { COMMANDS } from "../../lib/cli/commands.ts";

/** All that the design names. */
const COMMAND_NAMES = (
  "init exec plan understand run prd verify next validate " +
  "build query task issue set-spec log sprint step roadmap discover status " +
  "doctor demo report recipes eject run-recipe types completions schema help"
).split(" ");

test("the table of commands holds every command there is to be, and no other, once", () => {
  expect(COMMANDS.map(({ name }) => name).toSorted()).toEqual(COMMAND_NAMES.toSorted());
});
