import type { Verification } from "../../../backlog/types.ts";
import { verify } from "../../../checks/verify.ts";
import type { RalphContext } from "../../../context/context.ts";
import { RalphError } from "../../../errors/ralph_error.ts";
import { openServices } from "../../../services/create_services.ts";
import { featureInterface } from "../feature_interface.ts";
import { parseFeaturePrd } from "../format.ts";
import { openFeature } from "../open_feature.ts";
import { checksOf, isUi } from "../story_checks.ts";

/** Every check of every story, services and pages included. */
export async function featureVerify(ralph: RalphContext, name: string): Promise<Verification> {
  const feature = await openFeature(ralph, name);
  const text = await ralph.state.read(feature.prdFile);
  if (text === null) {
    throw new RalphError("state-missing", {
      details: { path: feature.prdFile },
      hint: `\`ralph prd ${feature.name}\` makes it`,
    });
  }
  const { userStories } = parseFeaturePrd(text, feature.prdFile);
  await using services = openServices(ralph);
  const { ui, prepare } = featureInterface(ralph, feature, services);
  if (userStories.some(isUi)) await prepare(userStories.filter(isUi));
  return await verify(ralph, checksOf(userStories, ralph.config, ui));
}
