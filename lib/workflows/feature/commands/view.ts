import { featureBacklog, type FeatureItemData } from "../backlog.ts";
import type { FeatureDirectory } from "../directories.ts";
import type { FeatureFindings } from "../findings.ts";
import { parseFeaturePrd } from "../format.ts";
import { checksOf, type UserInterface } from "../story_checks.ts";
import type { FeaturePrd, FeatureStory } from "../types.ts";
import type { Config } from "../../../config/types.ts";
import type { Backlog, CheckOutcome } from "../../../backlog/types.ts";
import { RalphError } from "../../../errors/ralph_error.ts";
import { findFeature } from "../open_feature.ts";
import type { Look } from "../../../cli/look.ts";

/** A feature for commands that only look. */
export interface FeatureView {
  readonly feature: FeatureDirectory;
  readonly backlog: Backlog<FeatureItemData, FeatureFindings>;
  /** `null` where only prd.md is there. @throws {RalphError} state-invalid */
  readonly prd: () => Promise<FeaturePrd | null>;
}

/** Opens a feature for reading. @throws {RalphError} feature-missing, usage */
export async function viewFeature(look: Look, name: string): Promise<FeatureView> {
  const { root, config, repository, state, host, say } = look;
  const { feature, said } = await findFeature(root, name, repository);
  if (said !== null) say(said);
  return {
    feature,
    backlog: featureBacklog({ root, config, state, repository, host }, { feature, ui: namedOnly(config) }),
    async prd() {
      const text = await state.read(feature.prdFile);
      return text === null ? null : parseFeaturePrd(text, feature.prdFile);
    },
  };
}

/** The names of a story's checks, in the order in which they run. */
export function checkNames(story: FeatureStory, config: Config): readonly string[] {
  return checksOf([story], config, namedOnly(config)).map(({ name }) => name);
}

/** Services and pages by name: nothing is started. */
function namedOnly({ services: [first], services }: Config): UserInterface {
  return {
    base: first === undefined ? null : new URL(first.ready).origin,
    services: () => services.map(({ name }) => ({ name: `service ${name}`, scope: "service", run: notRun })),
    browser: (story, pages) => ({
      name: `browser ${pages.map(({ written }) => written).join(", ")}`,
      scope: story.id,
      run: notRun,
    }),
  };
}

/** A view only names its checks. */
function notRun(): Promise<CheckOutcome> {
  return Promise.reject(new RalphError("internal", { details: { problem: "a check of a view was run" } }));
}
