import { parseFeaturePrd } from "../../backlogs/feature/format.ts";
import { checksOf, isUi } from "../../backlogs/feature/story_checks.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import type { Verification } from "../../loop/types.ts";
import { openServices } from "../../services/create_services.ts";
import { featureInterface } from "../../steps/feature/feature_interface.ts";
import { openFeature } from "../../steps/feature/open_feature.ts";
import { exitCodeOf } from "../../steps/outcome.ts";
import { verify } from "../../steps/verify.ts";
import type { Invocation } from "../command.ts";
import { openSession } from "../session.ts";
import { toJson } from "../show.ts";
import type { FeatureArgument } from "./feature_argument.ts";

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
