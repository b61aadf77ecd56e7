import { isFeatureName } from "../directories.ts";
import type { Invocation } from "../../../cli/command.ts";
import { usage } from "../../../cli/parse.ts";
import { findPlace, type Place } from "../../../cli/workspace.ts";

/** A command that is about a feature. */
export interface FeatureArgument {
  /** As it was typed; "" where none was. */
  readonly name: string;
  readonly place: Place;
}

/** Where a command works, and on which feature; `null` in another workflow. */
export interface FoundFeature {
  readonly place: Place;
  readonly feature: FeatureArgument | null;
}

/**
 * Where a command works, and whether it is about a feature: by flag or configuration, by its argument, or because only
 * features are here.
 *
 * @throws {RalphError} usage for an argument that the chosen workflow does not take
 */
export async function featureArgument(
  invocation: Pick<Invocation, "arguments" | "command" | "flags" | "host">,
): Promise<FoundFeature> {
  const { arguments: [name], command, flags } = invocation;
  const place = await findPlace(invocation);
  const { workflow, config } = place;
  if (name === undefined) return { place, feature: workflow.name === "feature" ? { name: "", place } : null };
  if (!isFeatureName(name)) {
    const hint = /^\d+$/.test(name) && command.name === "run"
      ? `\`ralph run --max-iterations ${name}\`, or \`ralph run --loop ${name}\` for that many plans`
      : `\`ralph ${command.name} auth\``;
    throw usage(`\`${name}\` is no name for a feature`, hint);
  }
  const asked = flags.text("workflow") ?? config.workflow;
  if (asked !== undefined && asked !== "feature") {
    throw usage(
      `\`ralph ${command.name}\` of the workflow ${asked} takes no argument`,
      `\`ralph ${command.name} ${name} --workflow feature\``,
    );
  }
  const why = asked === undefined ? `\`${command.name} ${name}\` names a feature` : workflow.why;
  const there = { ...place, workflow: { name: "feature", why } };
  return { place: there, feature: { name, place: there } };
}
