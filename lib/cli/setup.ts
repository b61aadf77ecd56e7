import { missingTool } from "../checks/missing_tool.ts";
import { suggestChecks, type SuggestedCheck } from "../backlog/suggest_checks.ts";
import { CONFIG_FILE } from "../config/load.ts";
import type { Choice, Prompter } from "../context/context.ts";
import { RalphError } from "../errors/ralph_error.ts";
import { shellInvocation } from "../host/shell.ts";
import { formatDuration } from "../ui/printable.ts";
import { askedText, confirmed, pickAgent } from "./agent_choice.ts";
import type { Invocation } from "./command.ts";
import { findAgents, OWN, ownServers } from "./known_agents.ts";
import { configOverlay, optional } from "./settings.ts";
import { styleFor, toJson } from "./show.ts";
import type { Additions } from "./write_config.ts";
import { checksNothing } from "../backlog/verify_commands.ts";
import { refuseEmptyFlags } from "./validated_file.ts";

/** A new configuration gets this beside the workflow's own part. */
export interface Setup {
  readonly config: object;
  /** The settings that nobody has given, in words: the agent, the checks. */
  readonly open: readonly string[];
}

/** Longest time for one check of the setup, in milliseconds: it only shows whether it passes now. */
const TRIAL_MS = 300_000;

/**
 * `ralph init` writes this: the values of the flags, and the answers of a person at the terminal. Without a person
 * nothing is guessed: what was found is printed, with the flags that take it.
 *
 * @param own the workflow's part, shown with the rest before it is written
 * @returns `null` where the person said no
 * @throws {RalphError} option-invalid for a check that checks nothing, interrupted
 */
export async function setUp(
  invocation: Invocation,
  { root, own, prompter }: { readonly root: string; readonly own: object; readonly prompter: Prompter | null },
): Promise<Setup | null> {
  const { flags, host } = invocation;
  refuseEmptyFlags(flags.all("verify"));
  const provider = namedAgent(invocation);
  const asksForAgent = !("preset" in provider) && !("command" in provider);
  if (prompter === null) {
    const open = [
      ...asksForAgent ? await openAgent(invocation) : [],
      ...flags.all("verify").length > 0 ? [] : await openChecks(root),
    ].map((text) => text.replaceAll("`--", "`ralph init --"));
    return { config: configOf(own, provider, flags.all("verify"), invocation), open };
  }
  try {
    const agent = asksForAgent ? await pickAgent(host, prompter, "Which agent is to do the work?") ?? {} : {};
    const named = flags.all("verify");
    const checks = named.length > 0 ? named : await askForChecks(invocation, root, prompter);
    const config = configOf(own, { ...provider, ...agent }, checks, invocation);
    const message = `Write this to ${CONFIG_FILE}?`;
    const isWanted = flags.has("dry-run") ||
      await confirmed(prompter, "init.write", message, toJson(config).split("\n"));
    return isWanted ? { config, open: [] } : null;
  } catch (error) {
    if (!RalphError.isInstance(error) || error.code !== "interrupted") throw error;
    throw new RalphError("interrupted", { hint: "nothing was written; `ralph init` asks again" });
  }
}

/** The agent that the flags name, as the configuration has it. */
function namedAgent({ flags }: Invocation): object {
  return {
    ...optional("preset", flags.text("agent")),
    ...optional("command", flags.text("agent-cmd")),
    ...configOverlay(flags).provider,
  };
}

/**
 * Reads the flags' additions to a configuration that is there.
 *
 * @throws {RalphError} option-invalid for a check that checks nothing
 */
export function additionsOf(invocation: Invocation): Additions {
  const checks = invocation.flags.all("verify");
  refuseEmptyFlags(checks);
  return configOf({}, namedAgent(invocation), checks, invocation);
}

function configOf<Own extends object>(
  own: Own,
  provider: object,
  checks: readonly string[],
  { flags }: Invocation,
): Own & Additions {
  const { sandbox = {} } = configOverlay(flags);
  return {
    ...own,
    ...(Object.keys(provider).length === 0 ? {} : { provider: { ...provider } }),
    verify: { default: checks },
    ...(Object.keys(sandbox).length === 0 ? {} : { sandbox }),
  };
}

async function openAgent({ host }: Invocation): Promise<readonly string[]> {
  const found = (await findAgents(host)).map(({ name }) => name);
  const [server] = found.length === 0 ? await ownServers(host.environment.variables) : [];
  if (server !== undefined) {
    const { name, why } = server;
    return [`no agent was named, and none is on PATH; ${name} (${why}): \`--agent ${OWN} --endpoint ${name}\``];
  }
  return found.length === 0
    ? ["no agent was named, and none is on PATH: `ralph help agents` says how to get one"]
    : [`no agent was named; on PATH: ${found.join(", ")}: \`--agent ${found[0]}\``];
}

async function openChecks(root: string): Promise<readonly string[]> {
  const found = await suggestChecks(root);
  return found.length === 0
    ? ["no command that checks the project was found: `--verify CMD` names one"]
    : found.map(({ command, from }) => `found in ${from}: \`${command}\`: \`--verify ${quoted(command)}\``);
}

function quoted(text: string): string {
  return text.includes('"') ? `'${text.replaceAll("'", String.raw`'\''`)}'` : `"${text}"`;
}

const [ALL, OTHER, NONE] = ["all", "other", "none"] as const;

/** Shows what the project's files name, tries it where the person agrees, and asks what must pass. */
async function askForChecks(invocation: Invocation, root: string, prompter: Prompter): Promise<readonly string[]> {
  const found = await suggestChecks(root);
  if (found.length === 0) return await typed(prompter, "No command that checks the project was found. Which one does?");
  const many = found.length > 1;
  const message = `Run ${many ? "them" : "it"} once now, to see ${many ? "which pass" : "whether it passes"}?`;
  const details = ["Commands that check this project:", ...found.map(({ command, from }) => `  ${command}  (${from})`)];
  const isTried = await confirmed(prompter, "init.try", message, details);
  const state = isTried ? await tryEach(invocation, root, found) : new Map<string, string>();
  const green = found.filter(({ command }) => state.get(command) === PASSES).map(({ command }) => command);
  const offered = green.length > 0 ? green : found.map(({ command }) => command);
  const hintOf = (command: string): { readonly hint?: string } => optional("hint", state.get(command));
  const all: Choice = {
    value: ALL,
    label: offered.join(" and "),
    ...green.length > 0 ? { hint: "pass now" } : {},
  };
  const answer = await prompter.ask({
    id: "init.checks",
    kind: "select",
    message: "Which must pass for every item?",
    initial: offered.length > 1 && green.length > 0 ? all.value : offered[0] ?? "",
    choices: [
      ...offered.length > 1 ? [all] : [],
      ...found.map(({ command }) => ({ value: command, label: command, ...hintOf(command) })),
      { value: OTHER, label: "another command" },
      { value: NONE, label: "none", hint: "each story names its own" },
    ],
  });
  if (answer.value === NONE) return [];
  if (answer.value === ALL) return offered;
  return answer.value === OTHER ? await typed(prompter, "Which command must pass for every item?") : [answer.value];
}

async function typed(prompter: Prompter, message: string): Promise<readonly string[]> {
  for (;;) {
    const command = await askedText(prompter, "init.check", `${message} (nothing: each story names its own)`);
    if (command === "") return [];
    if (!checksNothing(command)) return [command];
  }
}

const PASSES = "passes now";

/** Runs each command once, one after the other, and says how it ended. */
async function tryEach(
  invocation: Invocation,
  root: string,
  found: readonly SuggestedCheck[],
): Promise<ReadonlyMap<string, string>> {
  const { host, say, signal } = invocation;
  const { bad, dim, good, symbols } = styleFor(invocation, "stderr");
  const states = new Map<string, string>();
  for (const [index, { command }] of found.entries()) {
    const shown = `${index + 1} of ${found.length}: ${command}`;
    host.terminal.footer([dim(`running ${shown}`.slice(0, host.terminal.size().columns - 1))]);
    const end = await host.processes.run({
      ...await shellInvocation(command, host.environment),
      cwd: root,
      timeoutMs: TRIAL_MS,
      signal,
    });
    host.terminal.footer([]);
    if (signal.aborted) throw new RalphError("interrupted");
    const took = formatDuration(end.durationMs);
    const passes = end.reason === "exited" && end.exitCode === 0;
    const why = end.reason === "timed-out"
      ? `not done after ${formatDuration(TRIAL_MS)}`
      : missingTool({ name: command, ok: passes, exitCode: end.exitCode, tail: end.tail }) !== null
      ? "cannot be run here"
      : `fails now, exit code ${end.exitCode}`;
    states.set(command, passes ? PASSES : why);
    say(
      passes
        ? `${good(symbols.passed)} ${command} ${dim(took)}`
        : `${bad(symbols.failed)} ${command}: ${why} ${dim(took)}`,
    );
    const last = (end.stderr.trim() || end.stdout.trim()).split("\n").at(-1) ?? "";
    if (!passes && last !== "") say(dim(`  ${last}`));
  }
  return states;
}
