import { checksOnce } from "../checks_once.ts";
import type { Config } from "../../config/load.ts";
import type { Check } from "../../backlog/types.ts";
import { type PageUrl, pageUrls } from "../../checks/browser/urls.ts";
import { commandCheck, commandsOf } from "../stories.ts";
import type { FeatureStory } from "./types.ts";

/** The means to bring up servers and look at pages; absent if only the commands are of interest. */
export interface UserInterface {
  /** Origin that paths belong to, or `null`. */
  readonly base: string | null;
  services(): readonly Check[];
  browser(story: FeatureStory, pages: readonly PageUrl[]): Check;
  /** Brings the servers up for a turn: a line each on where it answers, or why not. @default none */
  running?(): Promise<readonly string[]>;
}

/** True for a story that has a user interface to be looked at. */
export function isUi({ tags }: FeatureStory): boolean {
  return tags.some((tag) => tag.toLowerCase() === "ui");
}

/** The pages of a story: those that its criteria name, else the front page. */
export function storyPages(story: FeatureStory, base: string | null): readonly PageUrl[] {
  const named = pageUrls(story.acceptanceCriteria, base);
  return named.length > 0 || base === null ? named : [{ url: new URL("/", base).href, written: "/" }];
}

/** The commands of a story, in the order in which they run; those of `verify.ui` come after the browser. */
export function storyCommandsOf(
  story: FeatureStory,
  config: Config,
): { readonly first: readonly string[]; readonly ui: readonly string[] } {
  const first = commandsOf(story, config);
  return { first, ui: isUi(story) ? config.verify.ui.filter((command) => !first.includes(command)) : [] };
}

/** All checks of some stories: commands, and for the `ui` ones services, pages and `verify.ui`; each command once. */
export function checksOf(stories: readonly FeatureStory[], config: Config, ui: UserInterface | null): readonly Check[] {
  const commands = stories.map((story) => ({ story, ...storyCommandsOf(story, config) }));
  const looked = stories.filter(isUi);
  /** The scope of a command names every story that asks for it. */
  const checks = (part: "first" | "ui", shared: readonly string[]): readonly Check[] =>
    checksOnce(commands.flatMap(({ story, [part]: list }) => list.map((one) => commandCheck(one, story, shared))));
  return [
    ...checks("first", config.verify.default),
    ...(looked.length === 0 || ui === null ? [] : ui.services()),
    ...(ui === null || !config.browser.enabled ? [] : looked.flatMap((story) => {
      const pages = storyPages(story, ui.base);
      return pages.length === 0 ? [] : [ui.browser(story, pages)];
    })),
    ...checks("ui", config.verify.ui),
  ];
}
