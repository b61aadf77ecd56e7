import { finalChecks } from "../../workflows/exec/final_checks.ts";
import { parsePrd } from "../../workflows/exec/format.ts";
import { PRD_FILE } from "../../workflows/exec/paths.ts";
import { storyCommands } from "../../backlog/verify_commands.ts";
import type { Config } from "../../config/types.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import type { Check, Verification } from "../../backlog/types.ts";
import { exitCodeOf } from "../../recipe/outcome.ts";
import { verify } from "../../checks/verify.ts";
import type { Invocation } from "../../cli/command.ts";
import { featureArgument } from "../../workflows/feature/commands/argument.ts";
import { usage } from "../../cli/parse.ts";
import { openSession } from "../../cli/session.ts";
import { styleFor, toJson } from "../../cli/show.ts";

/** `ralph verify`: every story's checks, each command once; no agent, no lock, nothing is marked. */
export async function run(invocation: Invocation): Promise<number> {
  const { place: { workflow }, feature } = await featureArgument(invocation);
  if (feature !== null) {
    return await (await import("../../workflows/feature/commands/verify.ts")).featureVerify(
      invocation,
      feature,
      summary,
    );
  }
  const { flags, out } = invocation;
  if (workflow.name === "gsd") {
    throw usage(
      "`ralph verify` runs the checks of stories: a plan of GSD has none outside its run",
      "`ralph next` shows what the next plan has to pass; `ralph run` runs it; `--workflow exec` checks stories",
    );
  }
  await using session = await openSession(invocation, { asks: false, gates: [], data: true });
  const { ralph } = session;
  const text = await ralph.state.read(PRD_FILE);
  if (text === null && ralph.config.verify.default.length === 0) {
    throw new RalphError("state-missing", {
      details: { path: PRD_FILE },
      hint: '`ralph plan "<goal>"` writes it; or name commands: `--verify CMD`',
    });
  }
  const checks = text === null ? namedChecks(ralph.config) : storyChecks(text, ralph.config);
  const checked = await verify(ralph, checks);
  if (flags.has("json")) out(toJson(checked));
  else for (const line of summary(checked, invocation)) invocation.say(line);
  return exitCodeOf({ ...checked, allowed: ralph.config.verify.allowUnverified });
}

function namedChecks(config: Config): readonly Check[] {
  return config.verify.default.map((command) => ({ name: command, command }));
}

function storyChecks(text: string, config: Config): readonly Check[] {
  return finalChecks(
    parsePrd(text, PRD_FILE).userStories,
    (story) =>
      [...new Set([...config.verify.default, ...storyCommands(story)])].map((command) => ({
        name: command,
        command,
        scope: story.id,
      })),
  );
}

function summary(checked: Verification, invocation: Invocation): readonly string[] {
  const { good, bad, warn } = styleFor(invocation, "stderr");
  const { length } = checked.results;
  switch (checked.status) {
    case "passed":
      return [good(`${length} of ${length} checks passed`)];
    case "failed":
      return [
        bad(`${checked.failures.length} of ${length} checks failed`),
        ...checked.failures.map(({ name, scope }) => `  ${name}${scope === "" ? "" : ` (${scope})`}`),
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
