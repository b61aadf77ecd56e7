import { commandWord } from "../agents/program.ts";
import { missingTool } from "../checks/missing_tool.ts";
import { suggestChecks } from "../backlog/suggest_checks.ts";
import { checksNothing } from "../backlog/verify_commands.ts";
import { CONFIG_FILE } from "../config/load.ts";
import type { Choice, Prompter } from "../context/context.ts";
import { RalphError } from "../errors/ralph_error.ts";
import { openRepository } from "../git/open_repository.ts";
import { findExecutable, shellInvocation } from "../host/shell.ts";
import { formatDuration, oneLine } from "../ui/printable.ts";
import { excerptLines } from "../ui/failing_part.ts";

import { askedText, pickAgent } from "./agent_choice.ts";
import type { Invocation } from "./command.ts";
import { table } from "./help.ts";
import { findAgents, OWN, ownServers, proofText } from "./known_agents.ts";
import { configOverlay, optional } from "./settings.ts";
import { styleFor } from "./show.ts";
import { refuseEmptyFlags } from "./validated_file.ts";
import type { Place } from "./workspace.ts";
import { type Additions, addToConfig } from "./write_config.ts";

/** A new configuration gets this beside the workflow's own part. */
export interface Setup {
  readonly config: Additions;
  /** The settings that nobody has given, in words: the agent, the checks. */
  readonly open: readonly string[];
}

/** A set-up is for this. */
export interface SetupOptions {
  readonly place: Pick<Place, "config" | "file" | "root">;
  /** `null`: no one can be asked. */
  readonly prompter: Prompter | null;
  /** A yes begins this; `null`: it only writes the configuration. */
  readonly begins: "planning" | "the work" | null;
}

/** Longest time for one check of the setup, in milliseconds: it only shows whether it passes now. */
const TRIAL_MS = 300_000;
const PASSES = "passes now";

/** One command that may check the project. */
interface Candidate {
  readonly command: string;
  /** The file that names it, or the person. */
  readonly from: string;
  /** How it ended when it was tried; why it cannot be; `null`: not tried yet. */
  readonly state: string | null;
}

/** The answers so far. */
interface Answers {
  /** `provider` of the configuration, as far as flags and answers name it. */
  readonly provider: object;
  readonly checks: readonly string[];
  /** The parts that a person has said in so many words. */
  readonly said: ReadonlySet<"agent" | "checks">;
}

/**
 * `ralph init` writes this, and the first command of a project: one screen with what was found, which a key changes.
 * Nothing of the project runs before the yes; then each check is tried once. Without a person, the checks that were
 * found are taken, and no agent.
 *
 * @returns `null` where the person said no
 * @throws {RalphError} option-invalid for a check that checks nothing, interrupted
 */
export async function setUp(invocation: Invocation, options: SetupOptions): Promise<Setup | null> {
  const { flags } = invocation;
  const { place: { config, file, root }, prompter } = options;
  refuseEmptyFlags(flags.all("verify"));
  const provider = namedProvider(invocation);
  const given = [...flags.all("verify"), ...file === null ? [] : config.verify.default];
  const found = given.length > 0 ? [] : await candidatesIn(root, invocation);
  const usable = found.filter(({ state }) => state === null).map(({ command }) => command);
  const start: Answers = { provider, checks: given.length > 0 ? given : usable, said: new Set() };
  if (prompter !== null) return await asked(invocation, { ...options, prompter }, start, found);
  const lines = [
    ...isNamed({ ...config.provider, ...provider }) ? [] : await openAgent(invocation),
    ...given.length > 0
      ? []
      : found.length === 0
      ? ["no command that checks the project was found: `ralph init --verify CMD` names one"]
      : found.map(({ command, from, state }) =>
        `found in ${from}: \`${command}\`${state === null ? "" : `: ${state}`}`
      ),
  ];
  return { config: additions(start, invocation), open: lines };
}

/**
 * The first command of a project that needs an agent sets it up: where none is named, or where there is no
 * configuration and the project names checks that no flag does.
 *
 * @returns true if the configuration was written; `null` where the person said no
 */
export async function setUpFirst(invocation: Invocation, place: Place, prompter: Prompter): Promise<boolean | null> {
  const { command, flags, host } = invocation;
  const { config, file, root } = place;
  if (!prompter.interactive || !("agent-cmd" in command.flags) || flags.has("queue") || command.name === "job") {
    return false;
  }
  const isReady = isNamed({ ...config.provider, ...namedProvider(invocation) }) || flags.has("script") ||
    flags.has("cassette");
  const hasChecks = file !== null || flags.has("verify") || flags.has("approve") || !("goal-file" in command.flags);
  if (isReady && (hasChecks || (await candidatesIn(root, invocation)).length === 0)) return false;
  if (await openRepository(host, root) === null) return false; // the command says so itself
  const begins = "goal-file" in command.flags ? "planning" : "the work";
  const setup = await setUp(invocation, { place, prompter, begins });
  if (setup === null) return null;
  // Flags hold for this command alone.
  const isFlagged = isNamed(namedProvider(invocation));
  const { provider: _, ...checks } = setup.config;
  const written = await addToConfig(root, file, isFlagged ? checks : setup.config);
  for (const path of written) invocation.say(`wrote ${path}: commit it with your project`);
  return written.length > 0;
}

/** The agent that the flags name, as the configuration has it. */
function namedProvider({ flags }: Invocation): object {
  return {
    ...optional("preset", flags.text("agent")),
    ...optional("command", flags.text("agent-cmd")),
    ...configOverlay(flags).provider,
  };
}

function isNamed(provider: object): boolean {
  const { preset, command } = provider as { readonly preset?: unknown; readonly command?: unknown };
  return preset !== undefined || command !== undefined;
}

/**
 * Reads the flags' additions to a configuration that is there.
 *
 * @throws {RalphError} option-invalid for a check that checks nothing
 */
export function additionsOf(invocation: Invocation): Additions {
  const checks = invocation.flags.all("verify");
  refuseEmptyFlags(checks);
  return additions({ provider: namedProvider(invocation), checks }, invocation);
}

function additions(
  { provider, checks }: Pick<Answers, "checks" | "provider">,
  { flags }: Invocation,
): Additions {
  const { sandbox = {} } = configOverlay(flags);
  return {
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
    return [
      `no agent was named, and none is on PATH; ${name} (${why}): \`ralph init --agent ${OWN} --endpoint ${name}\``,
    ];
  }
  return found.length === 0
    ? ["no agent was named, and none is on PATH: `ralph help agents` says how to get one"]
    : [`no agent was named; on PATH: ${found.join(", ")}: \`ralph init --agent ${found[0]}\``];
}

/** The commands that the project's files name; whether each could run is told by its program alone. */
async function candidatesIn(root: string, { host }: Invocation): Promise<readonly Candidate[]> {
  return await Promise.all((await suggestChecks(root)).map(async (found) => {
    const word = commandWord(found.command);
    const isThere = word === null || await findExecutable(word, host.environment, root) !== null;
    return { ...found, state: isThere ? null : `${word} was not found` };
  }));
}

/** The question again and again, until a person has decided. */
async function asked(
  invocation: Invocation,
  options: SetupOptions & { readonly prompter: Prompter },
  start: Answers,
  found: readonly Candidate[],
): Promise<Setup | null> {
  const { host, flags } = invocation;
  const { place: { config, file, root }, prompter, begins } = options;
  const known = new Map(found.map((candidate) => [candidate.command, candidate]));
  const isOpen = (provider: object): boolean => !isNamed({ ...config.provider, ...provider });
  const [first] = isOpen(start.provider) ? await findAgents(host) : [];
  let answers: Answers = { ...start, provider: { ...start.provider, ...optional("preset", first?.name) } };
  try {
    for (;;) {
      const value = await ask(invocation, options, answers, [...known.values()]);
      if (value === "no") return null;
      if (value === "agent" || (value === "yes" && isOpen(answers.provider))) {
        const picked = await pickAgent(host, prompter, "Which agent is to do the work?");
        const said = new Set([...answers.said, "agent" as const]);
        if (picked !== null) answers = { ...answers, provider: { ...start.provider, ...picked }, said };
        if (value === "agent" || (begins !== null && picked === null)) continue;
      }
      if (value === "checks") {
        const checks = await pickChecks(prompter, [...known.values()]);
        for (const command of checks) known.set(command, known.get(command) ?? { command, from: "you", state: null });
        answers = { ...answers, checks, said: new Set([...answers.said, "checks" as const]) };
        continue;
      }
      const checks = flags.has("dry-run") ? answers.checks : await tried(invocation, root, answers.checks, known);
      if (checks !== null) return { config: additions({ ...answers, checks }, invocation), open: [] };
      // A person decides about checks that fail, all of them.
      const stays = (command: string): boolean => known.get(command)?.state?.startsWith("fails") === true;
      answers = { ...answers, checks: answers.checks.filter(stays) };
    }
  } catch (error) {
    if (!RalphError.isInstance(error) || error.code !== "interrupted") throw error;
    const { provider, checks, said } = answers;
    const kept = said.size === 0 || flags.has("dry-run") ? [] : await addToConfig(root, file, {
      ...said.has("agent") ? { provider: { ...provider } } : {},
      verify: { default: said.has("checks") ? checks : [] },
    });
    const hint = kept.length === 0 ? "nothing was written" : `${CONFIG_FILE} keeps your answers`;
    throw new RalphError("interrupted", { hint: `${hint}; the same command asks for the rest` });
  }
}

async function ask(
  invocation: Invocation,
  options: SetupOptions & { readonly prompter: Prompter },
  answers: Answers,
  known: readonly Candidate[],
): Promise<string> {
  const { begins, prompter } = options;
  const { value } = await prompter.ask({
    id: "init.setup",
    kind: "select",
    keys: true,
    initial: "yes",
    message: "Set this project up like this?",
    details: await screen(invocation, options, answers, known),
    choices: [
      { value: "yes", label: begins === null ? `write ${CONFIG_FILE}` : `begin ${begins}` },
      { value: "agent", label: "another agent" },
      { value: "checks", label: "other checks" },
      { value: "no", label: "not now" },
    ],
  });
  return value;
}

/** The checks that pass, once each that is new has been tried; all of them where none is new; `null`: none passes. */
async function tried(
  invocation: Invocation,
  root: string,
  checks: readonly string[],
  known: Map<string, Candidate>,
): Promise<readonly string[] | null> {
  const untried = checks.filter((command) => known.get(command)?.state === null);
  if (untried.length === 0) return checks;
  for (const [command, state] of await tryEach(invocation, root, untried)) {
    known.set(command, { ...known.get(command)!, state });
  }
  const green = checks.filter((command) => known.get(command)?.state === PASSES);
  if (green.length === 0) return null;
  for (const command of checks.filter((one) => !green.includes(one))) {
    invocation.say(
      `left out: ${command} (${known.get(command)?.state}); \`ralph init --verify "${command}"\` adds it`,
    );
  }
  return green;
}

/** The lines above the question: what was found, and what follows a yes. */
async function screen(
  invocation: Invocation,
  { place: { config, root }, begins }: SetupOptions,
  { provider, checks }: Answers,
  known: readonly Candidate[],
): Promise<readonly string[]> {
  const { host, flags } = invocation;
  const agents = await findAgents(host);
  const { preset, command } = { ...config.provider, ...provider };
  const name = command ?? preset;
  const others = agents.filter((agent) => agent.name !== name).map((agent) => agent.name);
  const here = agents.find((agent) => agent.name === preset);
  const agentText = name === undefined
    ? `none is on PATH: a key of your choice${await serverText(host)}; \`ralph help agents\` says how to get one`
    : `${oneLine(name)}${here === undefined ? "" : ` (${proofText(here.adapter)})`}${
      others.length === 0 ? "" : `; also here: ${others.join(", ")}`
    }`;
  const left = known.filter((one) => !checks.includes(one.command) && one.state !== PASSES);
  const stateText = (one: string): string => {
    const state = known.find((candidate) => candidate.command === one)?.state ?? null;
    return state === null ? "" : ` (${state})`;
  };
  const repository = await openRepository(host, root);
  const branch = await repository?.currentBranch() ?? null;
  const mode = configOverlay(flags).sandbox?.mode ?? config.sandbox.mode;
  const rows: readonly (readonly [string, string])[] = [
    ["agent", agentText],
    ["checks", checks.map((one) => `${oneLine(one)}${stateText(one)}`).join("; ") || "none: each story names its own"],
    ...left.length === 0
      ? []
      : [["", `not: ${left.map((one) => `${one.command} (${one.state})`).join("; ")}`] as const],
    ...begins === "planning" ? [["branch", `one that the plan names, from ${branch ?? "HEAD"}`] as const] : [],
    ["sandbox", ["off", "auto"].includes(mode) ? "off; `--sandbox` confines agent and checks to this project" : mode],
  ];
  const next = begins === null
    ? "A yes tries the checks once and writes the file."
    : `A yes tries the checks once and begins ${begins}, which takes turns of the agent.`;
  return [
    "Found here; nothing of the project has run:",
    ...table(rows, host.terminal.size().columns),
    "The agent runs with permission prompts off: it can edit files and run commands here without asking.",
    `${next}${begins === "planning" ? " No code is written before you have read the plan." : ""}`,
  ];
}

async function serverText(host: Invocation["host"]): Promise<string> {
  const [server] = await ownServers(host.environment.variables);
  return server === undefined ? "" : `, or Ralph's own agent with ${server.name}`;
}

const [ALL, OTHER, NONE] = ["all", "other", "none"] as const;

/** Asks what must pass for every item. */
async function pickChecks(prompter: Prompter, known: readonly Candidate[]): Promise<readonly string[]> {
  const usable = known.filter(({ state }) => state === null || state === PASSES).map(({ command }) => command);
  const choices: readonly Choice[] = [
    ...usable.length > 1 ? [{ value: ALL, label: usable.join(" and ") }] : [],
    ...known.map(({ command, from, state }) => ({ value: command, label: command, hint: state ?? from })),
    { value: OTHER, label: "another command" },
    { value: NONE, label: "none", hint: "each story names its own" },
  ];
  const { value } = known.length === 0 ? { value: OTHER } : await prompter.ask({
    id: "init.checks",
    kind: "select",
    message: "Which must pass for every item?",
    initial: usable.length > 1 ? ALL : usable[0] ?? OTHER,
    choices,
  });
  if (value === NONE) return [];
  if (value === ALL) return usable;
  if (value !== OTHER) return [value];
  for (;;) {
    const message = "Which command must pass for every item? (nothing: each story names its own)";
    const command = await askedText(prompter, "init.check", message);
    if (command === "") return [];
    if (!checksNothing(command)) return [command];
  }
}

/** Runs each command once, one after the other, and says how it ended. */
async function tryEach(
  invocation: Invocation,
  root: string,
  commands: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const { host, say, signal } = invocation;
  const { bad, dim, good, symbols } = styleFor(invocation, "stderr");
  const states = new Map<string, string>();
  for (const [index, command] of commands.entries()) {
    const shown = `${index + 1} of ${commands.length}: ${command}`;
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
    const tool = missingTool({ name: command, ok: passes, exitCode: end.exitCode, tail: end.tail });
    const why = end.reason === "timed-out"
      ? `fails now, not done after ${formatDuration(TRIAL_MS)}`
      : tool !== null
      ? `cannot run: ${tool} was not found`
      : `fails now, exit code ${end.exitCode}`;
    states.set(command, passes ? PASSES : why);
    say(
      passes
        ? `${good(symbols.passed)} ${command} ${dim(took)}`
        : `${bad(symbols.failed)} ${command}: ${why} ${dim(took)}`,
    );
    for (const line of passes ? [] : excerptLines(end.tail, 3)) say(dim(`  ${line}`));
  }
  return states;
}
