import type { Check } from "../../backlog/types.ts";
import type { Config } from "../../config/types.ts";
import { commandCheck, commandsOf } from "../stories.ts";
import type { Story } from "./types.ts";

/** The checks of a story: those that hold for every one, then its own. Pure. */
export function storyChecks(story: Story, config: Pick<Config, "verify">): readonly Check[] {
  return commandsOf(story, config).map((command) => commandCheck(command, story, config.verify.default));
}
