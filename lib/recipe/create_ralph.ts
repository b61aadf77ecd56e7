import { join, relative, resolve } from "node:path";
import type { $Type } from "dax";
import { isObject } from "../host/data.ts";
import {
  type Agent,
  type LoopDefaults,
  ownFiles,
  type Prompter,
  type Question,
  type RalphContext,
  type RoutedAgents,
} from "../context/context.ts";
import { createStateFiles } from "../backlog/state_files.ts";
import { promptWarnings } from "../prompts/render.ts";
import { type Config, loadConfig } from "../config/load.ts";
import { isWholly, strictConfig } from "../config/strict.ts";
import { optionInvalid, RalphError } from "../errors/ralph_error.ts";
import { createEventBus } from "../events/bus.ts";
import { ensureRunsIgnored, noteRun, pruneRuns } from "../events/known_runs.ts";
import { createEventLog, type EventLog } from "../events/event_log.ts";
import { cacheOf } from "../git/config_cache.ts";
import { createGit } from "../git/run_git.ts";
import { pruneRefs } from "../git/kept.ts";
import type { Repository } from "../git/repository.ts";
import { redactorFor } from "../events/redact.ts";
import type { EventBus, EventSink } from "../events/types.ts";
import { openRepository } from "../git/open_repository.ts";
import { createHost } from "../host/create_host.ts";
import { guardedHost } from "../host/git_guard.ts";
import { ensurePrivateDirectory, pathExists, resolveInside } from "../host/files.ts";
import { isoNow } from "../host/local_date.ts";
import type { Host } from "../host/types.ts";
import type { SandboxOptions } from "../sandbox/create_sandbox.ts";
import { OWN_RECIPE } from "./loader.ts";
import type { NotifierOptions } from "../notify/notifier.ts";
import { openJournal } from "../loop/journal/journal.ts";
import { createRunLock } from "../loop/run/run_lock.ts";
import { tidied } from "../loop/run/tidied.ts";
import { SteeredRun } from "../steer/steering.ts";
import { type Answers, findAnswer } from "../ui/find_answer.ts";
import { createPrompter } from "../ui/create_prompter.ts";

/** Some of a value's fields, at any depth. */
export type DeepPartial<Value> = Value extends readonly (infer Item)[] ? readonly DeepPartial<Item>[]
  : Value extends object ? { readonly [Key in keyof Value]?: DeepPartial<Value[Key]> }
  : Value;

/** The parts of a context. Everything may be left out. */
export interface RalphOptions {
  /** The project. @default the current folder */
  readonly root?: string;
  /** @default `ralph.config.json` at the root, when there is one */
  readonly configFile?: string;
  /** Laid over the file. */
  readonly config?: DeepPartial<Config>;
  /** A known agent's name, a command for the shell, or an agent of your own. @default the configuration's provider */
  readonly agent?: string | { readonly command: string } | Agent;
  /** The file that the replay agent plays. */
  readonly cassette?: string;
  /** A file that every agent turn is recorded in, for the replay agent. */
  readonly record?: string;
  /** Takes over while the agent waits for a rate limit. @default the configuration's `provider.fallback` */
  readonly fallback?: Agent;
  /** The file of the scripted agent. */
  readonly script?: string;
  /** Consents given by a person beforehand: `prd`, `understand`, `run`, a gate of your own, or `all`. */
  readonly approve?: readonly string[];
  /** Ralph takes these answers if no one can be asked. */
  readonly answers?: Partial<Answers>;
  /** Who answers questions. @default no one: answers and defaults */
  readonly prompter?: Prompter;
  /** The events go here; `consoleSink()` prints them. @default nothing is printed */
  readonly sinks?: readonly EventSink[];
  /** The recipe file that is run: it and what it imports may not change while the run lasts. @default none */
  readonly recipe?: string;
  /** Writes a command that is shown to a person, `ralph run`, with what it needs to continue. @default as it is */
  readonly again?: (command: string) => string;
  /** Choices for every loop of this context. */
  readonly loop?: Partial<LoopDefaults>;
  /** Ends whatever is at work. */
  readonly signal?: AbortSignal;
  /** @default the real machine; a host that is given is not disposed of */
  readonly host?: Host;
}

/**
 * Joins the real world to what the steps need. Dispose it: that ends every process that is left.
 *
 * @throws {RalphError} root-missing, config-invalid, agent-unknown, script-invalid
 * @example Use a step from a build script
 * ```ts
 * import { consoleSink, createRalph, exitCodeOf, verify } from "ralph";
 *
 * await using ralph = await createRalph({ sinks: [consoleSink()] });
 * const checked = await verify(ralph, ["test 1 = 1"]);
 * console.log(exitCodeOf(checked)); // 0
 * ```
 *
 * @example JavaScript on Node.js 20 and 22, which do not know `await using`
 * ```js ignore
 * import { createRalph, verify } from "ralph";
 *
 * const ralph = await createRalph();
 * try {
 *   await verify(ralph, ["test 1 = 1"]);
 * } finally {
 *   await ralph[Symbol.asyncDispose]();
 * }
 * ```
 */
export async function createRalph(options: RalphOptions = {}): Promise<RalphContext & AsyncDisposable> {
  const bare = options.host ?? createHost();
  const redactor = redactorFor(bare.environment.variables);
  const events = createEventBus(options.sinks ?? [], redactor);
  const machine = guardedHost(bare, (message) => events.emit({ type: "note", level: "warn", message }));
  const root = await existingRoot(options.root ?? machine.environment.cwd, machine);
  const { config: fromFile, warnings } = await loadConfig(root, options.configFile, await cacheOf(root, machine));
  const asked = strictConfig(await withOverrides(fromFile, options.config));
  const outside = await outsideOf(machine, root, asked);
  const repository = await openRepository(outside, root);
  const config = await withCommandFiles(asked, repository, root);
  const confined = await confinedHost({ host: outside, root, repository, config }, events);
  const own = ownFiles(repository, root);
  const id = runId(machine);
  const directory = repository === null ? null : own.directory;
  const steering = new SteeredRun({ run: id, root, directory, host: machine, events });
  const host = { ...confined, environment: machine.environment, processes: steering.counted(confined.processes) };
  const signal = AbortSignal.any([...(options.signal === undefined ? [] : [options.signal]), steering.now]);
  const prompter = options.prompter ?? unattended(options, host, signal);
  const [logs, later]: [EventLog[], (() => Promise<void>)[]] = [[], []];
  const notifier = await notifierFor(config.notify, { host: outside, root, run: id, signal, events });
  const lock = createRunLock({ host, repository, root });
  const { agent, router } = await agentsOf(options, config, host, root);
  const fallback = await fallbackOf(options, config, host, root);
  const ofConfig = warnings.map((text) => ({ path: "ralph.config.json", text }));
  for (const { path, text } of [...ofConfig, ...await promptWarnings(root)]) {
    events.emit({ type: "note", level: "warn", message: `${path}: ${text}` });
  }

  return {
    root,
    config,
    $: await shellFor(root),
    agent,
    router,
    fallback,
    prompter,
    decides: await decidingFiles(options, root),
    approvals: new Set(options.approve),
    events,
    steering,
    journal: await openJournal(repository === null ? null : own.journal),
    state: createStateFiles({ root, directory: own.directory, host }),
    signal,
    host,
    repository,
    run: runInfo({ id, root, host, repository, events, logs, later, keep: config.logs.keep, steering }),
    again: options.again ?? ((command) => command),
    loop: { interactive: false, retryBlocked: false, acceptChanges: false, ...options.loop },
    lock,
    async [Symbol.asyncDispose]() {
      await notifier?.finish();
      for (const work of later.splice(0)) await tidied({ events }, work);
      if (options.host === undefined) await host.processes[Symbol.asyncDispose]();
      await host.sandbox?.[Symbol.asyncDispose]();
      await lock.release();
      await steering[Symbol.asyncDispose]();
      for (const log of logs) await log.close();
    },
  };
}

/** Loaded only where someone is to be told. */
async function notifierFor(targets: Config["notify"], place: Omit<NotifierOptions, "targets">) {
  if (targets.length === 0) return null;
  const notifier = (await import("../notify/notifier.ts")).createNotifier({ ...place, targets });
  place.events.attach(notifier);
  return notifier;
}

/** Answers given beforehand, and defaults: there is no one to ask. */
function unattended({ answers, approve }: RalphOptions, { terminal, clock }: Host, signal: AbortSignal): Prompter {
  const known: Answers = { questions: [], prompts: {}, ...answers };
  const lookUp = (question: Question): string | null => findAnswer(known, question);
  return createPrompter({ mode: "unattended", terminal, approvals: new Set(approve), lookUp, clock, signal });
}

/** The recipe of this run, or the place where one would be found, and what it imports; a configuration file that was named. */
async function decidingFiles({ recipe, configFile }: RalphOptions, root: string): Promise<readonly string[]> {
  const { localFiles } = await import("./local_files.ts");
  const own = join(root, OWN_RECIPE);
  return [
    ...await localFiles(own),
    ...(recipe === undefined || recipe === own ? [] : await localFiles(recipe)),
    ...(configFile === undefined ? [] : [resolve(root, configFile)]),
  ];
}

/** The machine for Ralph itself. */
async function outsideOf(machine: ReturnType<typeof guardedHost>, root: string, { sandbox }: Config): Promise<Host> {
  if (!isWholly(sandbox)) return machine;
  const [{ outsideHost }, { inHome }] = await Promise.all([
    import("../sandbox/outside.ts"),
    import("../sandbox/policy.ts"),
  ]);
  const guarded = { ...machine, guard: { ...machine.guard, isStrict: true } };
  return await outsideHost(guarded, root, sandbox.write.map((path) => inHome(path, machine.environment.home)));
}

/** Git's commands run outside of a sandbox: no turn in one may change the files of the tree that they name. */
async function withCommandFiles(config: Config, repository: Repository | null, root: string): Promise<Config> {
  if (!isWholly(config.sandbox) || repository === null) return config;
  const { commandFiles } = await import("../git/command_files.ts");
  const named = (await commandFiles(repository.git, repository.topLevel)).map((path) => relative(root, path));
  return { ...config, protect: [...config.protect, ...named.filter((path) => !path.startsWith(".."))] };
}

/** The machine with a sandbox where the configuration wants one; each host that it refuses is reported once. */
async function confinedHost(place: Omit<SandboxOptions, "onOutside" | "onRefused" | "onState">, events: EventBus) {
  if (place.config.sandbox.mode === "off") return place.host;
  const { sandboxedHost } = await import("../sandbox/create_sandbox.ts");
  const reported = new Set<string>();
  return sandboxedHost({
    ...place,
    onState: (state) => events.emit({ type: "sandbox", ...state }),
    onOutside: (message) => events.emit({ type: "note", level: "warn", message }),
    onRefused({ host, port, role }) {
      const name = `${role} ${host}:${port}`;
      if (reported.has(name)) return;
      reported.add(name);
      events.emit({ type: "host-refused", host, port, by: role });
    },
  });
}

async function recorded(agent: Agent, { record }: RalphOptions, host: Host, root: string): Promise<Agent> {
  if (record === undefined) return agent;
  const file = resolve(host.environment.cwd, record);
  // It grows while the agent works: in the tree it would be taken for the agent's work.
  const isInside = !relative(root, file).startsWith("..");
  if (isInside && (await createGit(host, root)(["check-ignore", "-q", "--", file])).exitCode !== 0) {
    const expected = "a file outside the project, or one that git ignores";
    throw optionInvalid("--record", expected, record, "write it beside the project: `--record ../run.jsonl`");
  }
  const { recordingAgent } = await import("../agents/replay/cassette.ts");
  return recordingAgent(agent, file, host);
}

/** The run's agent, and what chooses others: a run begins where all of them can. */
async function agentsOf(options: RalphOptions, config: Config, host: Host, root: string): Promise<RoutedAgents> {
  const wrap = (agent: Agent): Promise<Agent> => recorded(agent, options, host, root);
  const agent = await agentOf(options, config, host);
  if (config.provider.route.length === 0) return { agent: await wrap(agent), router: null };
  const { routed } = await import("../agents/route.ts");
  return await routed(agent, { config, host, root, wrap, isNamed: options.agent !== undefined });
}

async function agentOf({ agent, script, cassette }: RalphOptions, config: Config, host: Host): Promise<Agent> {
  if (typeof agent === "object" && "runTurn" in agent) return agent;
  const { resolveAgent } = await import("../agents/registry.ts");
  const named = typeof agent === "string" ? { name: agent } : agent;
  return resolveAgent({ ...named, cassette, script, config, host });
}

async function fallbackOf({ fallback }: RalphOptions, config: Config, host: Host, root: string): Promise<Agent | null> {
  if (fallback !== undefined) return fallback;
  if (config.provider.fallback === undefined) return null;
  const { resolveFallback } = await import("../agents/registry.ts");
  return resolveFallback({ config, host, root });
}

async function existingRoot(given: string, host: Host): Promise<string> {
  const root = resolve(host.environment.cwd, given);
  if (!await pathExists(root)) throw new RalphError("root-missing", { details: { root } });
  return await resolveInside(root, ".");
}

async function withOverrides(config: Config, overrides: DeepPartial<Config> | undefined): Promise<Config> {
  if (!saysSomething(overrides)) return config;
  const { checkConfig } = await import("../config/check.ts");
  const checked = checkConfig(merge(config, overrides));
  if (checked.config !== null) return checked.config;
  throw new RalphError("config-invalid", {
    details: { path: "the options of this run", problem: checked.problems.map(({ text }) => text).join("; ") },
  });
}

function saysSomething(value: unknown): boolean {
  return isObject(value) ? Object.values(value).some(saysSomething) : value !== undefined;
}

function merge(base: unknown, over: unknown): unknown {
  if (over === undefined) return base;
  if (!isObject(base) || !isObject(over)) return over;
  const keys = new Set([...Object.keys(base), ...Object.keys(over)]);
  return Object.fromEntries([...keys].map((key) => [key, merge(base[key], over[key])]));
}

async function shellFor(root: string): Promise<$Type> {
  const { build$, CommandBuilder } = await import("dax");
  return build$({ commandBuilder: new CommandBuilder().cwd(root) });
}

function runInfo(parts: RunParts): RalphContext["run"] {
  const { id, root, repository, later } = parts;
  let iteration = 0;
  let limits: ReturnType<RalphContext["run"]["rateLimits"]> | undefined;
  const file = repository === null ? null : join(repository.ralphDirectory, "rate-limits.json");
  return {
    id,
    root,
    rateLimits: () => limits ??= import("../agents/rate_limits.ts").then(({ openRateLimits }) => openRateLimits(file)),
    folder: runFolders(parts),
    tidyLater: (work) => void later.push(work),
    nextIteration: () => iteration += 1,
  };
}

/** Date and time (UTC) to the millisecond, so that the names' order is the runs' order, and two letters by chance. */
function runId(host: Host): string {
  const now = isoNow(host).replaceAll(/[-:]/g, ""); // 20261128T170511.042Z
  const millisecond = Number(now.slice(16, 19)).toString(36).padStart(2, "0");
  return `${now.slice(0, 8)}-${now.slice(9, 15)}-${millisecond}${host.ids.random(2)}`;
}

interface RunParts extends Pick<RalphContext, "events" | "host" | "repository" | "root"> {
  readonly id: string;
  readonly logs: EventLog[];
  readonly later: (() => Promise<void>)[];
  readonly steering: SteeredRun;
  /** How many runs' folders are kept. */
  readonly keep: number;
}

/** Each runs directory is made once, with a `.gitignore` of `*`; from then on the events go there too. */
function runFolders(
  { id, root, host, repository, events, logs, keep, steering }: RunParts,
): (runsDirectory: string) => Promise<string> {
  const made = new Map<string, Promise<string>>();
  async function make(directory: string): Promise<string> {
    const folder = join(directory, id);
    await ensurePrivateDirectory(folder);
    if (repository !== null) await noteRun(repository, directory, id);
    host.guard?.keep(folder);
    const log = await createEventLog({ file: join(folder, "events.ndjson"), run: id, clock: host.clock });
    logs.push(log);
    events.attach(log);
    await steering.begin(folder);
    const old = await pruneRuns(directory, keep, id);
    if (repository !== null) await pruneRefs(repository, old);
    return folder;
  }
  return async (runsDirectory) => {
    const directory = await resolveInside(root, runsDirectory);
    const known = made.get(directory) ?? make(directory);
    made.set(directory, known);
    const folder = await known;
    await ensureRunsIgnored(directory);
    return folder;
  };
}
