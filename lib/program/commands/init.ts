import { join } from "node:path";
import { EXIT } from "../../errors/exit_codes.ts";
import type { SuggestedCheck } from "../../backlog/suggest_checks.ts";
import { pathExists, writeAtomic } from "../../host/files.ts";
import { createPrompter } from "../../ui/create_prompter.ts";
import type { Prompter } from "../../context/prompter.ts";
import type { Invocation } from "../../cli/command.ts";
import { findPlace, type Place } from "../../cli/workspace.ts";
import { styleFor } from "../../cli/show.ts";

/** What comes after `ralph init`, by workflow. */
const NEXT: Readonly<Record<string, string>> = {
  exec: '`ralph exec "<goal>"`',
  spec: "write a spec into ralph/specs, then `ralph plan SPEC.md`",
  sprint: "write the goal into SPRINT.yaml, then `ralph sprint run DIR`",
};

/** `ralph init`: makes what is missing, lists it, overwrites nothing. */
export async function run(invocation: Invocation): Promise<number> {
  const { say } = invocation;
  const { symbols, good, dim } = styleFor(invocation, "stderr");
  const place = await askedPlace(invocation, await findPlace(invocation));
  if (place.workflow.name === "feature") {
    const { initFeature } = await import("../../workflows/feature/commands/init.ts");
    return await initFeature(invocation, place);
  }
  if (place.workflow.name === "gsd") {
    return await (await import("../../workflows/gsd/commands/planning.ts")).planWithGsd(invocation, "init");
  }
  const made = [...await scaffold(place), ...await writeConfig(place, invocation)];

  say(`workflow ${place.workflow.name} (${place.workflow.why}) in ${place.root}`);
  for (const path of made) say(`  ${good(symbols.passed)} ${path}`);
  if (made.length === 0) say(dim("  everything is there already: nothing was written"));
  if (place.config.provider.command === undefined && place.config.provider.preset === undefined) {
    say('next: name the agent in ralph.config.json (`"provider": { "command": "…" }`) or by `--agent-cmd`');
  }
  say(`next: ${NEXT[place.workflow.name]}`);
  return EXIT.done;
}

/** Where nothing says which workflow, a person at a terminal does. */
async function askedPlace(invocation: Invocation, place: Place): Promise<Place> {
  if (!place.workflow.byDefault || !invocation.host.terminal.interactive) return place;
  const answer = await prompterOf(invocation).ask({
    id: "init.workflow",
    kind: "select",
    message: "Which workflow?",
    initial: place.workflow.name,
    choices: [
      { value: "exec", label: "exec", hint: "a goal becomes stories, each verified and committed" },
      { value: "feature", label: "feature", hint: "a PRD for each feature, services and browser checks" },
      { value: "spec", label: "spec", hint: "a specification becomes tasks with a history in git" },
      { value: "sprint", label: "sprint", hint: "a goal, free steps, hooks around each iteration" },
      { value: "gsd", label: "gsd", hint: "plans of .planning, as GSD writes them" },
    ],
  });
  return { ...place, workflow: { name: answer.value, why: "your answer" } };
}

async function scaffold({ root, workflow }: Place): Promise<readonly string[]> {
  if (workflow.name === "sprint") {
    return await (await import("../../workflows/sprint/scaffold.ts")).scaffoldSprint(root);
  }
  if (workflow.name !== "spec") return await (await import("../../workflows/exec/scaffold.ts")).scaffoldExec(root);
  const path = "ralph/specs/.gitkeep"; // git keeps no empty folder
  if (await pathExists(join(root, "ralph/specs"))) return [];
  await writeAtomic(join(root, path), "");
  return [path];
}

/** A configuration to start from. What the project's own files suggest as a check is written only when a person agrees. */
async function writeConfig({ root, file, workflow }: Place, invocation: Invocation): Promise<readonly string[]> {
  const { CONFIG_FILE } = await import("../../config/load.ts");
  if (file !== null || await pathExists(join(root, CONFIG_FILE))) return [];
  const { suggestChecks } = await import("../../backlog/suggest_checks.ts");
  const { writeNewConfig } = await import("../../cli/write_config.ts");
  const [suggested] = await suggestChecks(root);
  const named = workflow.name === "exec" ? {} : { workflow: workflow.name };
  const agreed = suggested !== undefined && await agree(suggested, invocation);
  return await writeNewConfig(root, { ...named, verify: { default: agreed ? [suggested.command] : [] } });
}

async function agree({ command, from }: SuggestedCheck, invocation: Invocation): Promise<boolean> {
  const { host, say } = invocation;
  if (!host.terminal.interactive) {
    say(`found in ${from}: \`${command}\`; put it into verify.default if every story must pass it`);
    return false;
  }
  const message = `Must every story pass \`${command}\` (found in ${from})?`;
  return (await prompterOf(invocation).ask({ id: "init.check", kind: "confirm", message, initial: true })).value ===
    "yes";
}

function prompterOf({ host, signal }: Invocation): Prompter {
  return createPrompter({ mode: "rich", terminal: host.terminal, approvals: new Set(), signal });
}
