import { join } from "node:path";
import { EXIT } from "../../errors/exit_codes.ts";
import type { SuggestedCheck } from "../../backlogs/suggest_checks.ts";
import { pathExists, writeAtomic } from "../../host/files.ts";
import { createPrompter } from "../../ui/create_prompter.ts";
import type { Invocation } from "../command.ts";
import { findPlace, type Place } from "../place.ts";
import { styleFor } from "../show.ts";

/** `ralph init`: makes what is missing, lists it, overwrites nothing. */
export async function run(invocation: Invocation): Promise<number> {
  const { say } = invocation;
  const { symbols, good, dim } = styleFor(invocation, "stderr");
  const place = await findPlace(invocation);
  if (place.workflow.name === "feature") {
    const { initFeature } = await import("../feature/init.ts");
    return await initFeature(invocation, place);
  }
  if (place.workflow.name === "gsd") return await (await import("../gsd_planning.ts")).planWithGsd(invocation, "init");
  const isSpec = place.workflow.name === "spec";
  const made = [...await scaffold(place), ...await writeConfig(place, invocation)];

  say(`workflow ${place.workflow.name} (${place.workflow.why}) in ${place.root}`);
  for (const path of made) say(`  ${good(symbols.passed)} ${path}`);
  if (made.length === 0) say(dim("  everything is there already: nothing was written"));
  if (place.config.provider.command === undefined && place.config.provider.preset === undefined) {
    say('next: name the agent in ralph.config.json (`"provider": { "command": "…" }`) or by `--agent-cmd`');
  }
  say(isSpec ? "next: write a spec into ralph/specs, then `ralph plan SPEC.md`" : 'next: `ralph exec "<goal>"`');
  return EXIT.done;
}

async function scaffold({ root, workflow }: Place): Promise<readonly string[]> {
  if (workflow.name !== "spec") return await (await import("../../backlogs/exec/scaffold.ts")).scaffoldExec(root);
  const path = "ralph/specs/.gitkeep"; // git keeps no empty folder
  if (await pathExists(join(root, "ralph/specs"))) return [];
  await writeAtomic(join(root, path), "");
  return [path];
}

/** A configuration to start from. What the project's own files suggest as a check is written only when a person agrees. */
async function writeConfig({ root, file, workflow }: Place, invocation: Invocation): Promise<readonly string[]> {
  const { CONFIG_FILE } = await import("../../config/load.ts");
  const path = join(root, CONFIG_FILE);
  if (file !== null || await pathExists(path)) return [];
  const { suggestChecks } = await import("../../backlogs/suggest_checks.ts");
  const [suggested] = await suggestChecks(root);
  const named = workflow.name === "spec" ? { workflow: "spec" } : {};
  const agreed = suggested !== undefined && await agree(suggested, invocation);
  await writeAtomic(
    path,
    `${JSON.stringify({ ...named, verify: { default: agreed ? [suggested.command] : [] } }, null, 2)}\n`,
  );
  return [CONFIG_FILE];
}

async function agree({ command, from }: SuggestedCheck, { host, say, signal }: Invocation): Promise<boolean> {
  if (!host.terminal.interactive) {
    say(`found in ${from}: \`${command}\`; put it into verify.default if every story must pass it`);
    return false;
  }
  const prompter = createPrompter({ mode: "rich", terminal: host.terminal, approvals: new Set(), signal });
  const message = `Must every story pass \`${command}\` (found in ${from})?`;
  return (await prompter.ask({ id: "init.check", kind: "confirm", message, initial: true })).value === "yes";
}
