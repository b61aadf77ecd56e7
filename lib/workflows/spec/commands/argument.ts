import { findSpec } from "../find_spec.ts";
import type { Invocation } from "../../../cli/command.ts";
import { findPlace } from "../../../cli/workspace.ts";

/**
 * The spec that `ralph plan` is given: a single word that ends in .md and names a file, here or in a folder of specs.
 * `--workflow` and the configuration may say that it is meant otherwise.
 */
export async function specArgument(invocation: Invocation): Promise<string | null> {
  const given = invocation.arguments[0]?.trim() ?? "";
  if (!/^\S+\.md$/i.test(given)) return null;
  const { root, config } = await findPlace(invocation);
  const workflow = invocation.flags.text("workflow") ?? config.workflow ?? "spec";
  return workflow === "spec" && await findSpec(root, given, invocation.host.environment.cwd) !== null ? given : null;
}
