import { join } from "node:path";
import { suggestChecks, type SuggestedCheck } from "../backlog/suggest_checks.ts";
import { CONFIG_FILE } from "../config/load.ts";
import { EXIT } from "../errors/exit_codes.ts";
import { pathExists } from "../host/files.ts";
import { createPrompter } from "../ui/create_prompter.ts";
import type { Invocation } from "./command.ts";
import { styleFor } from "./show.ts";
import type { Place } from "./workspace.ts";
import { writeNewConfig } from "./write_config.ts";

/** What a workflow starts from. */
export interface Scaffold {
  /** Makes its files that are missing. @returns their paths, relative to the root */
  readonly files: (root: string) => Promise<readonly string[]>;
  /** Its own part of a new configuration. */
  readonly config: object;
  /** What a person does then. */
  readonly next: string;
}

/** Makes a workflow's files and a configuration where they are missing, and lists them. @returns the exit code */
export async function scaffoldWorkflow(
  invocation: Invocation,
  place: Place,
  { files, config, next }: Scaffold,
): Promise<number> {
  const { say } = invocation;
  const { symbols, good, dim } = styleFor(invocation, "stderr");
  const made = [...await files(place.root), ...await newConfig(invocation, place, config)];
  say(`workflow ${place.workflow.name} (${place.workflow.why}) in ${place.root}`);
  for (const path of made) say(`  ${good(symbols.passed)} ${path}`);
  if (made.length === 0) say(dim("  everything is there already: nothing was written"));
  if (
    agentOf(invocation) === null && place.config.provider.command === undefined &&
    place.config.provider.preset === undefined
  ) {
    say('next: name the agent in ralph.config.json (`"provider": { "command": "…" }`) or by `--agent-cmd`');
  }
  say(`next: ${next}`);
  return EXIT.done;
}

/** What the project's own files suggest as a check is written only when a person agrees. */
async function newConfig(invocation: Invocation, { root, file }: Place, config: object): Promise<readonly string[]> {
  if (file !== null || await pathExists(join(root, CONFIG_FILE))) return [];
  const provider = agentOf(invocation);
  return await writeNewConfig(root, {
    ...config,
    ...(provider === null ? {} : { provider }),
    verify: { default: await checksOf(invocation, root) },
  });
}

/** The agent that the flags name, as the configuration has it; `null` without one. */
function agentOf({ flags }: Invocation): object | null {
  const [preset, command, model] = [flags.text("agent"), flags.text("agent-cmd"), flags.text("model")];
  const endpoint = flags.text("endpoint");
  if ([preset, command, model, endpoint].every((value) => value === undefined)) return null;
  return {
    ...(preset === undefined ? {} : { preset }),
    ...(command === undefined ? {} : { command }),
    ...(model === undefined ? {} : { model }),
    ...(endpoint === undefined ? {} : { endpoint }),
  };
}

/** What `--verify` names, else what is suggested and agreed to. */
async function checksOf(invocation: Invocation, root: string): Promise<readonly string[]> {
  const given = invocation.flags.all("verify");
  if (given.length > 0) return given;
  const [suggested] = await suggestChecks(root);
  return suggested !== undefined && await agree(suggested, invocation) ? [suggested.command] : [];
}

async function agree({ command, from }: SuggestedCheck, { host, say, signal }: Invocation): Promise<boolean> {
  if (!host.terminal.interactive) {
    say(`found in ${from}: \`${command}\`; put it into verify.default if every story must pass it`);
    return false;
  }
  const message = `Must every story pass \`${command}\` (found in ${from})?`;
  const prompter = createPrompter({ mode: "rich", terminal: host.terminal, approvals: new Set(), signal });
  return (await prompter.ask({ id: "init.check", kind: "confirm", message, initial: true })).value === "yes";
}
