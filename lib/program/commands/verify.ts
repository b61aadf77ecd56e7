import type { Verification } from "../../backlog/types.ts";
import type { Invocation } from "../../cli/command.ts";
import { openSession } from "../../cli/session.ts";
import { styleFor, toJson } from "../../cli/show.ts";
import { exitCodeOf } from "../../recipe/outcome.ts";
import { chosen } from "../chosen.ts";

/** `ralph verify`: the checks of the work, each command once; no agent, no lock, nothing is marked. */
export async function run(invocation: Invocation): Promise<number> {
  const { place, scope, workflow } = await chosen(invocation);
  await using session = await openSession(invocation, { asks: false, gates: [], data: true, place });
  const { ralph } = session;
  const verified = await workflow.verify(ralph, scope);
  if (invocation.flags.has("json")) invocation.out(toJson(verified));
  else for (const line of summary(verified, invocation)) invocation.say(line);
  return exitCodeOf({ ...verified, allowed: ralph.config.verify.allowUnverified });
}

function summary(verified: Verification, invocation: Invocation): readonly string[] {
  const { good, bad, warn } = styleFor(invocation, "stderr");
  const { length } = verified.results;
  switch (verified.status) {
    case "passed":
      return [good(`${length} of ${length} checks passed`)];
    case "failed":
      return [
        bad(`${verified.failures.length} of ${length} checks failed`),
        ...verified.failures.map(({ name, scope }) => `  ${name}${scope === "" ? "" : ` (${scope})`}`),
      ];
    case "unverified":
      return [
        warn("unverified: there is no check to run"),
        "hint: name commands in `verify.default`, by `--verify CMD`, or in a criterion: Verify: `cmd`",
      ];
    case "aborted":
      return [];
  }
}
