import { featureBacklog, type FeatureItemData } from "../../backlogs/feature/backlog.ts";
import type { FeatureDirectory } from "../../backlogs/feature/directories.ts";
import type { FeatureFindings } from "../../backlogs/feature/findings.ts";
import { parseFeaturePrd } from "../../backlogs/feature/format.ts";
import { checksOf, type UserInterface } from "../../backlogs/feature/story_checks.ts";
import type { FeaturePrd, FeatureStory } from "../../backlogs/feature/types.ts";
import { createStateFiles, type StateFiles } from "../../backlogs/state_files.ts";
import type { Config } from "../../config/schema.ts";
import { openRepository } from "../../git/open_repository.ts";
import type { Repository } from "../../git/types.ts";
import { ownFiles } from "../../loop/own_files.ts";
import type { Backlog } from "../../loop/types.ts";
import { findFeature } from "../../steps/feature/open_feature.ts";
import type { Invocation } from "../command.ts";
import type { Place } from "../place.ts";
import type { FeatureArgument } from "./feature_argument.ts";

/** A feature for commands that only look: no agent, no lock, no shell. */
export interface FeatureView {
  readonly place: Place;
  readonly feature: FeatureDirectory;
  readonly repository: Repository | null;
  readonly state: StateFiles;
  readonly backlog: Backlog<FeatureItemData, FeatureFindings>;
  /** `null` where only prd.md is there. @throws {RalphError} state-invalid */
  readonly prd: () => Promise<FeaturePrd | null>;
}

/** Opens a feature for reading. @throws {RalphError} feature-missing, usage */
export async function viewFeature({ host, say }: Invocation, { name, place }: FeatureArgument): Promise<FeatureView> {
  const { root, config } = place;
  const repository = await openRepository(host, root);
  const { feature, said } = await findFeature(root, name, repository);
  if (said !== null) say(said);
  const own = ownFiles(repository, root);
  const state = createStateFiles({ root, directory: own.directory, host });
  const backlog = featureBacklog({ root, config, state, repository, host }, { feature, ui: namedOnly(config) });
  return {
    place,
    feature,
    repository,
    state,
    backlog,
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
    services: () => services.map(({ name }) => ({ name: `service ${name}`, scope: "service" })),
    browser: (story, pages) => ({ name: `browser ${pages.map(({ written }) => written).join(", ")}`, scope: story.id }),
  };
}
