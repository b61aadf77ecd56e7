import type { Invocation } from "../../../cli/command.ts";
import { endWith } from "../../../cli/end_with.ts";
import { openSession } from "../../../cli/session.ts";
import type { Place } from "../../../cli/workspace.ts";
import { findSpec } from "../find_spec.ts";
import { planSpec } from "../plan_spec.ts";

/** `ralph plan SPEC.md`: a single word that ends in .md and names a file, here or in a folder of specs. */
export async function planFile(invocation: Invocation, place: Place): Promise<number | null> {
  const { arguments: [given = ""], host, say } = invocation;
  const spec = given.trim();
  if (!/^\S+\.md$/i.test(spec) || await findSpec(place.root, spec, host.environment.cwd) === null) return null;
  const workflow = { name: "spec", why: `${spec} is a spec` };
  await using session = await openSession(invocation, { asks: false, gates: [], place: { ...place, workflow } });
  const outcome = await planSpec(session.ralph, { spec });
  if (outcome.status === "approved") {
    say(`${outcome.tasks} task${outcome.tasks === 1 ? "" : "s"} pending for ${outcome.spec}; next: \`ralph build\``);
  }
  if (outcome.status === "declined" && "next" in outcome) {
    say(`kept as it is; next: ${outcome.next.map((command) => `\`${command}\``).join(", ")}`);
  }
  return endWith(invocation, session.ralph, outcome, null);
}
