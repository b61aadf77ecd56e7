import type { Check } from "../../backlog/types.ts";
import { storyCommands } from "../../backlog/verify_commands.ts";
import type { Config } from "../../config/types.ts";
import type { Story } from "./types.ts";

/** The checks of a story: those that hold for every one, then its own. Pure. */
export function storyChecks(story: Story, { verify }: Pick<Config, "verify">): readonly Check[] {
  const shared = new Set(verify.default);
  const own = storyCommands(story).filter((command) => !shared.has(command));
  return [
    ...[...shared].map((command) => ({ name: command, command, scope: story.id })),
    ...own.map((command) => ({ name: command, command, scope: story.id, own: true })),
  ];
}
