import { commandWord } from "../agents/program.ts";
import { missingTool } from "../checks/missing_tool.ts";
import { suggestChecks } from "../backlog/suggest_checks.ts";
import { checksNothing } from "../backlog/verify_commands.ts";
import { isWholly } from "../config/strict.ts";
import { CONFIG_FILE } from "../config/load.ts";
import type { Prompter } from "../context/context.ts";
import { RalphError } from "../errors/ralph_error.ts";
import { openRepository } from "../git/open_repository.ts";
import { findExecutable, shellInvocation } from "../host/shell.ts";
import { trackerHere } from "../trackers/open_tracker.ts";
import { confinementText, formatDuration, oneLine } from "../ui/text.ts";
import { excerptLines } from "../ui/event_lines.ts";

import { type Invocation, styleFor } from "./command.ts";
import { table } from "./help.ts";
import { askedText, findAgents, OWN, ownServers, pickAgent, proofText } from "./agents.ts";
import { configOverlay, optional } from "./settings.ts";
import { refuseEmptyFlags } from "./validated_file.ts";
import type { Place } from "./workspace.ts";
import { type Additions, addToConfig } from "./write_config.ts";

/** A new configuration gets this beside the workflow's own part. */
export interface Setup {
  readonly config: Additions;
  /** The settings that nobody has given, in words: the agent, the checks. */
  readonly open: readonly string[];
}

type SetupPlace = Pick<Place, "config" | "file" | "root">;

/** A person is asked about this. */
interface Asking {
  readonly place: SetupPlace;
  readonly prompter: Prompter;
  /** A yes begins this; `null`: it only writes the configuration. */
  readonly begins: "planning" | "the work" | null;
  readonly found: readonly Candidate[];
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
}

/**
 * `ralph init` writes this: the values of the flags and, in a terminal, what a person said to one screen. Nothing of the
 * project runs before the yes; then each check is tried once. Without a person, the checks that were found are taken,
 * and no agent.
 *
 * @returns `null` where the person said no
 * @throws {RalphError} option-invalid for a check that checks nothing, interrupted
 */
export async function setUp(
  invocation: Invocation,
  place: SetupPlace,
  prompter: Prompter | null,
): Promise<Setup | null> {
  const named = additionsOf(invocation);
  const given = named.verify.default;
  const found = given.length > 0 ? [] : await candidatesIn(place.root, invocation);
  const start = { provider: named.provider ?? {}, checks: given.length > 0 ? given : usableOf(found) };
  if (prompter !== null) {
    const said = await asked(invocation, { place, prompter, begins: null, found }, start);
    return said === null ? null : { config: { ...named, ...configOf(said) }, open: [] };
  }
  const lines = found.map(({ command, from, state }) =>
    `found in ${from}: \`${command}\`${state === null ? "" : `: ${state}`}`
  );
  const open = [
    ...isNamed(start.provider) ? [] : [`no agent was named; ${await agentsHere(invocation)}`],
    ...given.length > 0 || lines.length > 0
      ? lines
      : ["no command that checks the project was found: `ralph init --verify CMD` names one"],
  ];
  return { config: { ...named, ...configOf(start) }, open };
}

/**
 * The first command of a project that needs an agent sets it up: where none is named, or where there is no
 * configuration and the project names checks that no flag does. Flags hold for this command alone.
 *
 * @returns true if the configuration was written; `null` where the person said no
 */
export async function setUpFirst(invocation: Invocation, place: Place, prompter: Prompter): Promise<boolean | null> {
  const { command, flags, host } = invocation;
  const { config, file, root } = place;
  if (!("agent-cmd" in command.flags) || flags.has("queue") || command.name === "job") return false;
  const begins = "goal-file" in command.flags ? "planning" : "the work";
  const flagged = namedProvider(invocation);
  const isReady = isNamed({ ...config.provider, ...flagged }) || flags.has("script") || flags.has("cassette");
  const areNamed = file !== null || flags.has("verify") || flags.has("approve");
  const found = areNamed ? [] : await candidatesIn(root, invocation);
  if (isReady && (areNamed || found.length === 0 || begins !== "planning")) return false;
  if (await openRepository(host, root) === null) return false; // the command says so itself
  const start = {
    provider: isNamed(flagged) ? flagged : {},
    checks: areNamed ? config.verify.default : usableOf(found),
  };
  const said = await asked(invocation, { place, prompter, begins, found }, start);
  if (said === null) return null;
  const written = await addToConfig(host, root, file, configOf(isNamed(flagged) ? { ...said, provider: {} } : said));
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
  const { sandbox = {} } = configOverlay(invocation.flags);
  return {
    ...configOf({ provider: namedProvider(invocation), checks }),
    ...Object.keys(sandbox).length === 0 ? {} : { sandbox },
  };
}

function configOf({ provider, checks }: Answers): Additions {
  return { ...Object.keys(provider).length === 0 ? {} : { provider: { ...provider } }, verify: { default: checks } };
}

/** The agents that a person may name, in words. */
async function agentsHere({ host }: Invocation): Promise<string> {
  const found = (await findAgents(host)).map(({ name }) => name);
  if (found.length > 0) return `on PATH: ${found.join(", ")}: \`ralph init --agent ${found[0]}\``;
  const [server] = await ownServers(host.environment.variables);
  return server === undefined
    ? "none is on PATH: `ralph help agents` says how to get one"
    : `none is on PATH; ${server.name} (${server.why}): \`ralph init --agent ${OWN} --endpoint ${server.name}\``;
}

function usableOf(found: readonly Candidate[]): readonly string[] {
  return found.filter(({ state }) => state === null).map(({ command }) => command);
}

/** The commands that the project's files name; whether each could run is told by its program alone. */
async function candidatesIn(root: string, { host }: Invocation): Promise<readonly Candidate[]> {
  return await Promise.all((await suggestChecks(root)).map(async (found) => {
    const word = commandWord(found.command);
    const isThere = word === null || await findExecutable(word, host.environment, root) !== null;
    return { ...found, state: isThere ? null : `${word} was not found` };
  }));
}

/** The question again and again, until a person has decided; Ctrl-C keeps what was answered. */
async function asked(invocation: Invocation, options: Asking, start: Answers): Promise<Answers | null> {
  const { host, flags } = invocation;
  const { place: { config, file, root }, prompter, begins, found } = options;
  const known = new Map(found.map((candidate) => [candidate.command, candidate]));
  const isOpen = (provider: object): boolean => !isNamed({ ...config.provider, ...provider });
  const [first] = isOpen(start.provider) ? await findAgents(host) : [];
  let answers = { ...start, provider: { ...start.provider, ...optional("preset", first?.name) } };
  let said: Answers = { provider: {}, checks: [] };
  try {
    for (;;) {
      const value = await ask(invocation, options, answers, [...known.values()]);
      if (value === "no") return null;
      if (value === "agent" || (value === "yes" && isOpen(answers.provider))) {
        const picked = await pickAgent(host, prompter, "Which agent is to do the work?");
        if (picked !== null) said = { ...said, provider: picked };
        answers = { ...answers, provider: { ...start.provider, ...said.provider } };
        if (value === "agent" || (begins !== null && picked === null)) continue;
      }
      if (value === "checks") {
        const message = "Which command must pass for every item? (nothing: each story names its own)";
        const command = await askedText(prompter, "init.checks", message);
        said = { ...said, checks: command === "" || checksNothing(command) ? [] : [command] };
        for (const one of said.checks) known.set(one, known.get(one) ?? { command: one, from: "you", state: null });
        answers = { ...answers, checks: said.checks };
        continue;
      }
      const checks = flags.has("dry-run") ? answers.checks : await tried(invocation, root, answers.checks, known);
      if (checks !== null) return { ...answers, checks };
      // A person decides about checks that fail, all of them.
      const stays = (command: string): boolean => known.get(command)?.state?.startsWith("fails") === true;
      answers = { ...answers, checks: answers.checks.filter(stays) };
    }
  } catch (error) {
    if (!RalphError.isInstance(error) || error.code !== "interrupted") throw error;
    const kept = flags.has("dry-run") || !isNamed(said.provider) && said.checks.length === 0
      ? []
      : await addToConfig(host, root, file, configOf(said));
    const hint = kept.length === 0 ? "nothing was written" : `${CONFIG_FILE} keeps your answers`;
    throw new RalphError("interrupted", { hint: `${hint}; the same command asks for the rest` });
  }
}

async function ask(invocation: Invocation, options: Asking, answers: Answers, known: readonly Candidate[]) {
  const { begins, prompter } = options;
  const isRed = known.some(({ command, state }) => answers.checks.includes(command) && state?.startsWith("fails"));
  const { value } = await prompter.ask({
    id: "init.setup",
    kind: "select",
    keys: true,
    initial: isRed ? "checks" : "yes",
    message: "Set this project up like this?",
    details: await screen(invocation, options, answers, known),
    choices: [
      { value: "yes", label: begins === null ? `write ${CONFIG_FILE}` : `begin ${begins}` },
      ...isNamed(namedProvider(invocation)) ? [] : [{ value: "agent", label: "another agent" }],
      { value: "checks", label: "other checks" },
      { value: "no", label: "not now" },
    ],
  });
  return value;
}

/** The checks that pass, once each that is new has been tried; all of them where none is new; `null`: none passes. */
async function tried(invocation: Invocation, root: string, checks: readonly string[], known: Map<string, Candidate>) {
  const untried = checks.filter((command) => known.get(command)?.state === null);
  if (untried.length === 0) return checks;
  for (const [command, state] of await tryEach(invocation, root, untried)) {
    known.set(command, { ...known.get(command)!, state });
  }
  const green = checks.filter((command) => known.get(command)?.state === PASSES);
  if (green.length === 0) return null;
  for (const command of checks.filter((one) => !green.includes(one))) {
    invocation.say(`left out: ${command} (${known.get(command)?.state}); \`ralph init --verify "${command}"\` adds it`);
  }
  return green;
}

/** The lines above the question: what was found, and what follows a yes. */
async function screen(
  invocation: Invocation,
  { place: { config, root }, begins }: Asking,
  { provider, checks }: Answers,
  known: readonly Candidate[],
): Promise<readonly string[]> {
  const { host, flags } = invocation;
  const agents = await findAgents(host);
  const { preset, command } = { ...config.provider, ...provider };
  const name = command ?? preset;
  const here = agents.find((agent) => agent.name === name);
  const others = agents.filter((agent) => agent !== here).map((agent) => agent.name);
  const withState = (one: string, state: string | null | undefined): string =>
    (state ?? null) === null ? one : `${one} (${state})`;
  const stateOf = (one: string) => known.find((candidate) => candidate.command === one)?.state;
  const left = known.filter((one) => !checks.includes(one.command) && one.state !== PASSES && one.from !== "you");
  const repository = await openRepository(host, root);
  const branch = await repository?.currentBranch() ?? "HEAD";
  const issues = repository === null ? null : await trackerHere(config.tracker, { git: repository.git, root });
  const sandbox = { ...config.sandbox, ...configOverlay(flags).sandbox };
  const { sandboxStateOf } = await import("../sandbox/create_sandbox.ts");
  const confined = isWholly(sandbox)
    ? sandbox.mode
    : confinementText(await sandboxStateOf({ config: { ...config, sandbox }, host, root, repository }));
  const rows: readonly (readonly [string, string])[] = [
    [
      "agent",
      name === undefined ? await agentsHere(invocation) : [
        withState(oneLine(name), here && proofText(here.adapter)),
        ...others.length === 0 ? [] : [`also here: ${others.join(", ")}`],
      ].join("; "),
    ],
    [
      "checks",
      checks.map((one) => withState(oneLine(one), stateOf(one))).join("; ") || "none: each story names its own",
    ],
    ...left.length === 0
      ? []
      : [["", `left out: ${left.map((one) => withState(one.command, one.state)).join("; ")}`] as const],
    ...begins === "planning" ? [["branch", `one that the plan names, from ${branch}`] as const] : [],
    ...issues === null ? [] : [["issues", issues] as const],
    ["sandbox", confined],
  ];
  const isTried = known.some(({ state }) => /^(?:cannot run|fails)/.test(state ?? ""));
  const tries = checks.some((one) => stateOf(one) === null) ? "tries the checks once and " : "";
  return [
    isTried ? "Found here, as tried:" : "Found here; nothing of the project has run:",
    ...table(rows, host.terminal.size().columns - 3),
    ...checks.some((one) => stateOf(one)?.startsWith("fails") === true)
      ? ["No story can pass while a check fails: repair it first, or press c."]
      : [],
    "The agent runs with permission prompts off: it can edit files and run commands here without asking.",
    begins === null
      ? `A yes ${tries}writes the file.`
      : `A yes ${tries}begins ${begins}, which takes turns of the agent.${
        begins === "planning" ? " No code is written before you have read the plan." : ""
      }`,
  ];
}

/** Runs each command once, one after the other, and says how it ended. */
async function tryEach(invocation: Invocation, root: string, commands: readonly string[]) {
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
    for (const line of passes ? [] : excerptLines(end.tail, 6)) say(dim(`  ${line}`));
  }
  return states;
}
