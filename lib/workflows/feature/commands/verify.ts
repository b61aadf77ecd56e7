import { parseFeaturePrd } from "../format.ts";
import { checksOf, isUi } from "../story_checks.ts";
import { RalphError } from "../../../errors/ralph_error.ts";
import type { Verification } from "../../../backlog/types.ts";
import { openServices } from "../../../services/create_services.ts";
import { featureInterface } from "../feature_interface.ts";
import { openFeature } from "../open_feature.ts";
import { exitCodeOf } from "../../../recipe/outcome.ts";
import { verify } from "../../../checks/verify.ts";
import type { Invocation } from "../../../cli/command.ts";
import { openSession } from "../../../cli/session.ts";
import { toJson } from "../../../cli/show.ts";
import type { FeatureArgument } from "./argument.ts";

/** `ralph verify FEATURE`: every check of every story, services and pages included; no agent, nothing is marked. */
export async function featureVerify(
  invocation: Invocation,
  { name, place }: FeatureArgument,
  summary: (checked: Verification, invocation: Invocation) => readonly string[],
): Promise<number> {
  await using session = await openSession(invocation, { asks: false, gates: [], data: true, workflow: place.workflow });
  const { ralph } = session;
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
  const checked = await verify(ralph, checksOf(userStories, ralph.config, ui));
  if (invocation.flags.has("json")) invocation.out(toJson(checked));
  else for (const line of summary(checked, invocation)) invocation.say(line);
  return exitCodeOf({ ...checked, allowed: ralph.config.verify.allowUnverified });
}
