import { parseJson } from "../../../errors/json_syntax.ts";
import { type FileFindings, type ValidatedFile, validateFile } from "../../../cli/validated_file.ts";
import { storyFindings } from "../../stories.ts";
import type { Validated } from "../../workflow.ts";
import { listFeatures, matchFeature } from "../directories.ts";
import { loadFeaturePrd, withDefaults } from "../format.ts";
import { checksOf, isUi, storyCommandsOf } from "../checks.ts";
import type { FeaturePrd } from "../types.ts";
import { validateFeaturePrd } from "../validate.ts";
import type { Verification } from "../../../backlog/types.ts";
import type { RalphContext } from "../../../context/context.ts";
import { openServices } from "../../../services/create_services.ts";
import { featureInterface } from "../feature_interface.ts";
import { featureMissing, openFeature } from "../open_feature.ts";

/** The PRD of a feature, or of all features where none is named. @throws {RalphError} feature-missing */
export async function validateFeature(validated: Validated): Promise<readonly ValidatedFile[]> {
  const { root, scope } = validated;
  const features = await listFeatures(root);
  const match = scope === "" ? null : matchFeature(features, scope);
  if (scope !== "" && match === null) throw await featureMissing(scope, features, null);
  return await Promise.all(
    (match === null ? features : [match]).map(({ name, prdFile }) =>
      validateFile(root, prdFile, {
        missing: [`not finalized yet: \`ralph prd ${name}\``],
        check: (text) => prdFindings(text, prdFile, validated),
      })
    ),
  );
}

async function prdFindings(text: string, path: string, validated: Validated): Promise<FileFindings> {
  const { config } = validated;
  const data = parseJson(text, path);
  const problems = validateFeaturePrd(data);
  if (problems.length > 0) return { problems, warnings: [] };
  const { branchName, userStories } = withDefaults(data as Partial<FeaturePrd>);
  const stories = userStories.map((story) => {
    if (config === null) return { story, own: [], unchecked: false };
    const { first, ui } = storyCommandsOf(story, config);
    const shared = [...config.verify.default, ...config.verify.ui];
    const own = [...first, ...ui].filter((command) => !shared.includes(command));
    return { story, own, unchecked: first.length + ui.length === 0 };
  });
  return await storyFindings(validated, branchName, stories);
}

/** Every check of every story, services and pages included; before the first feature those of `verify.default`. */
export async function featureVerify(ralph: RalphContext, name: string): Promise<Verification> {
  const { verify } = await import("../../../checks/verify.ts"); // `ralph validate` runs no check
  const common = ralph.config.verify.default;
  if (name === "" && common.length > 0 && (await listFeatures(ralph.root)).length === 0) {
    return await verify(ralph, common);
  }
  const feature = await openFeature(ralph, name);
  const { userStories } = await loadFeaturePrd(ralph.state, feature);
  await using services = openServices(ralph);
  const { ui, prepare } = featureInterface(ralph, feature, services);
  if (userStories.some(isUi)) await prepare(userStories.filter(isUi));
  return await verify(ralph, checksOf(userStories, ralph.config, ui));
}
