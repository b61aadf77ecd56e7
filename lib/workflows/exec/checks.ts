import type { Check } from "../../backlog/types.ts";
import { storyCommands } from "../../backlog/verify_commands.ts";
import type { Config } from "../../config/types.ts";
import { commandCheck } from "../stories.ts";
import type { Story } from "./types.ts";

/** The checks of a story: those that hold for every one, then its own. Pure. */
export function storyChecks(story: Story, { verify }: Pick<Config, "verify">): readonly Check[] {
  const commands = new Set([...verify.default, ...storyCommands(story)]);
  return [...commands].map((command) => commandCheck(command, story, verify.default));
}
