import type { FeatureBacklogOptions } from "./backlog.ts";
import type { FeatureDirectory } from "./directories.ts";
import { storyPages } from "./story_checks.ts";
import type { RalphContext } from "../../context/context.ts";
import { browserCheck } from "../../checks/browser/check.ts";
import type { Services } from "../../services/create_services.ts";

/**
 * What the `ui` stories of a feature are looked at with: the services of the run and the machine's browser.
 *
 * @throws {RalphError} service-foreign, browser-missing from `prepare()`
 *
 * @example A feature's loop with services and browser
 * ```ts
 * import { featureBacklog, featureInterface, openFeature, openServices } from "ralph/feature";
 * import { testContext } from "ralph/testing";
 *
 * await using ralph = await testContext({ files: { ".ralph/2026-01-31-hello/prd.md": "# Hello\n" } });
 * const feature = await openFeature(ralph);
 * await using services = openServices(ralph);
 * const backlog = featureBacklog(ralph, { feature, ...featureInterface(ralph, feature, services) });
 * console.log(backlog.name); // feature
 * ```
 */
export function featureInterface(
  { config, host, root }: Pick<RalphContext, "config" | "host" | "root">,
  feature: FeatureDirectory,
  services: Services,
): Required<Pick<FeatureBacklogOptions, "prepare" | "ui">> {
  return {
    ui: {
      base: services.base,
      services: () => services.checks(),
      browser: (story, pages) =>
        browserCheck({
          pages,
          config: config.browser,
          root,
          host,
          name: `${feature.name}-${story.id.replaceAll(/[^\w.-]/g, "_")}`,
          scope: story.id,
          problem: () => services.problem(),
        }),
    },
    async prepare(stories) {
      await services.prepare();
      if (!config.browser.enabled || stories.every((story) => storyPages(story, services.base).length === 0)) return;
      const { findBrowser } = await import("../../checks/browser/find_browser.ts");
      await findBrowser(config.browser.executablePath, host.environment, root);
    },
  };
}
