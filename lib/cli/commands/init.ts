import { join } from "node:path";
import { EXIT } from "../../errors/exit_codes.ts";
import { pathExists, writeAtomic } from "../../host/files.ts";
import type { Invocation } from "../command.ts";
import { findPlace, type Place } from "../place.ts";
import { styleFor } from "../show.ts";

/** `ralph init`: makes what is missing, lists it, overwrites nothing. */
export async function run(invocation: Invocation): Promise<number> {
  const { say } = invocation;
  const { symbols, good, dim } = styleFor(invocation, "stderr");
  const place = await findPlace(invocation);
  const { scaffoldExec } = await import("../../backlogs/exec/scaffold.ts");
  const made = [...await scaffoldExec(place.root), ...await writeConfig(place)];

  say(`workflow ${place.workflow.name} (${place.workflow.why}) in ${place.root}`);
  for (const path of made) say(`  ${good(symbols.passed)} ${path}`);
  if (made.length === 0) say(dim("  everything is there already: nothing was written"));
  if (place.config.provider.command === undefined && place.config.provider.preset === undefined) {
    say('next: name the agent in ralph.config.json (`"provider": { "command": "…" }`) or by `--agent-cmd`');
  }
  say('next: `ralph exec "<goal>"`');
  return EXIT.done;
}

/** A configuration to start from, with the checks that the project's own files suggest. */
async function writeConfig({ root, file }: Place): Promise<readonly string[]> {
  const { CONFIG_FILE } = await import("../../config/load.ts");
  const path = join(root, CONFIG_FILE);
  if (file !== null || await pathExists(path)) return [];
  const { suggestChecks } = await import("../../backlogs/suggest_checks.ts");
  const suggested = (await suggestChecks(root)).slice(0, 1).map((check) => check.command);
  const config = { verify: { default: suggested } };
  await writeAtomic(path, `${JSON.stringify(config, null, 2)}\n`);
  return [CONFIG_FILE];
}
