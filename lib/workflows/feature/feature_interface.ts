import { note, type RalphContext } from "../../context/context.ts";
import type { FeatureBacklogOptions } from "./backlog.ts";
import type { FeatureDirectory } from "./directories.ts";
import { storyPages } from "./checks.ts";
import { browserCheck } from "../../checks/browser/check.ts";
import type { Services } from "../../services/create_services.ts";

/**
 * Services of the run and the machine's browser, with which a feature's `ui` stories are looked at.
 *
 * @throws {RalphError} service-foreign, service-down, browser-missing, browser-failed from `prepare()`
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
  { config, events, host, root, signal }: Pick<RalphContext, "config" | "events" | "host" | "root" | "signal">,
  feature: FeatureDirectory,
  services: Services,
): Required<Pick<FeatureBacklogOptions, "prepare" | "ui">> {
  return {
    ui: {
      base: services.base,
      services: () => services.checks(),
      running: () => services.running(signal),
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
      await services.prepare(signal);
      if (!config.browser.enabled) return;
      const unseen = stories.filter((story) => storyPages(story, services.base).length === 0).map(({ id }) => id);
      if (unseen.length > 0) {
        const why = "there is no service in ralph.config.json, and no criterion names a URL";
        note({ events }, "warn", `no page is opened for ${unseen.join(", ")}: ${why}`);
      }
      if (unseen.length === stories.length) return;
      const { findBrowser } = await import("../../checks/browser/find_browser.ts");
      const { launchBrowser } = await import("../../checks/browser/launch.ts");
      const executable = await findBrowser(config.browser.executablePath, host.environment, root);
      await using _tried = await launchBrowser({ executable, headless: config.browser.headless, host, signal });
    },
  };
}
