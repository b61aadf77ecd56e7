import { withFlags } from "./with_flags.ts";
import { relative, resolve } from "node:path";
import type { UsageTotal } from "../backlog/usage.ts";
import type { Config } from "../config/load.ts";
import type { LoopDefaults, OpenElsewhere, Prompter, RalphContext } from "../context/context.ts";
import { RalphError } from "../errors/ralph_error.ts";
import { EMPTY_TALLY, nextTally } from "../events/tally.ts";
import type { EventSink } from "../events/types.ts";
import { requireRepository } from "../git/repository.ts";
import type { Host } from "../host/types.ts";
import type { Engine } from "../machines/engine.ts";
import type { DeepPartial } from "../recipe/create_ralph.ts";
import { announcedPrompter, type AnswerLookup, createPrompter, type PrompterOptions } from "../ui/create_prompter.ts";
import { createHumanReporter, createJsonReporter } from "../ui/create_reporter.ts";
import { findAnswer } from "../ui/find_answer.ts";
import type { LiveView } from "../ui/live_view.ts";
import { oneLine } from "../ui/text.ts";
import { type AgentSetting, knownProgram, namedAgent } from "./agents.ts";
import { type Flags, type Invocation, styleFor } from "./command.ts";
import { refuseEmptyConfig, refuseEmptyFlags } from "./validated_file.ts";
import { ownStateOf } from "./own_state.ts";
import { findPlace, type Place } from "./workspace.ts";
import { configOverlay, GATES, optional, parseApprovals, parseWorkers } from "./settings.ts";

/** Jobs in a queue at once, where nothing else is said: landings are made one after another. */
const JOBS_AT_ONCE = 16;

/** A command needs this of its session. */
export interface SessionOptions {
  /** The command asks questions: without a person to ask and without answers given beforehand, it does not start. */
  readonly asks: boolean;
  /** The gates that `--approve` may name; `null` where a recipe may have its own. */
  readonly gates: readonly string[] | null;
  /** No one is asked anything, also in a terminal. @default false */
  readonly silent?: boolean;
  /** `--json` is the command's own data, not the events. @default false */
  readonly data?: boolean;
  /** The recipe file that is run. @default a built-in one */
  readonly recipe?: string;
  /** The name of what is at work. @default the workflow, and why it was chosen */
  readonly title?: string;
  /** The place in which it works, if that is known. @default found */
  readonly place?: Place;
  /** Laid over the configuration where no flag says another. */
  readonly settings?: DeepPartial<Config>;
}

/** A command at work: the context of its steps, disposed with it. */
export interface Session extends AsyncDisposable {
  readonly place: Place;
  readonly ralph: RalphContext;
  /** The usage of all turns of this session so far. */
  used(): UsageTotal;
}

/** Joins flags, configuration and terminal to a context. @throws {RalphError} whatever is wrong with one of them */
export async function openSession(invocation: Invocation, options: SessionOptions): Promise<Session> {
  const { flags, host, signal } = invocation;
  const approvals = parseApprovals(flags.all("approve"), options.gates === null ? null : [...GATES, ...options.gates]);
  const settings = settingsOf(invocation, options);
  const found = options.place ?? await findPlace(invocation);
  refuseEmptyChecks(invocation, found);
  const json = flags.has("json");
  const ui = json && options.data !== true ? "json" : (flags.text("ui") ?? found.config.ui) as Config["ui"];
  const mode = options.silent === true ? "unattended" : promptMode(flags, host, ui);
  if (mode === null && (options.asks || flags.has("interactive"))) {
    throw new RalphError("terminal-missing", { details: { command: invocation.command.name } });
  }
  const onPage = mode === "page";
  const prompter = await prompterOf(invocation, mode ?? "unattended", approvals);
  // Before there is a run, the page has nothing to show.
  const first = onPage ? await prompterOf(invocation, "unattended", approvals) : prompter;
  const { agreedSandbox } = await import("./agreed_config.ts");
  const config = { ...settings, sandbox: { ...await agreedSandbox(invocation, found, first), ...settings.sandbox } };
  const place = await setUpPlace(invocation, found, first);

  let opened: RalphContext | null = null;
  const quiet = flags.has("quiet") || (json && options.data === true);
  const live = await liveViewFor(invocation, { ui, quiet });
  const sink = reporterFor(invocation, { ui, quiet, live }, () => opened?.run.id ?? null);
  if (ui !== "json" && !quiet) {
    invocation.say(options.title ?? `workflow ${place.workflow.name} (${place.workflow.why})`);
  }
  const agent = "agent-cmd" in invocation.command.flags ? namedAgent(flags) ?? {} : {};
  if (ui !== "json" && !quiet) announceAgent(invocation, place, agent);
  const { createRalph } = await import("../recipe/create_ralph.ts");
  const ralph = await createRalph({
    root: place.root,
    ...optional("configFile", place.file ?? undefined),
    config,
    ...agent,
    ...optional("record", "record" in invocation.command.flags ? flags.text("record") : undefined),
    approve: approvals,
    ...optional("recipe", options.recipe),
    prompter: announcedPrompter(prompter, () => opened?.events ?? sink, async () => {
      if (onPage && opened !== null) await showOnPage(invocation, opened, place);
      return opened?.steering ?? null;
    }),
    sinks: [sink],
    loop: loopDefaults(invocation, place),
    again: (command) => withFlags(invocation, command),
    signal,
    host,
  });
  const used = countTurns(ralph);
  opened = ralph;
  if (onPage) requireRepository(ralph);
  return {
    place,
    ralph,
    used,
    async [Symbol.asyncDispose]() {
      live?.[Symbol.dispose]();
      await ralph[Symbol.asyncDispose]();
    },
  };
}

function settingsOf({ command, flags }: Invocation, { settings }: SessionOptions): DeepPartial<Config> {
  const flagged = configOverlay(flags, "agent" in command.flags ? "turn" : "check");
  return {
    ...settings,
    ...flagged,
    sandbox: { ...settings?.sandbox, ...flagged.sandbox },
    limits: { ...settings?.limits, ...flagged.limits },
  };
}

/** The place, once a project that nobody has set up is. @throws {RalphError} interrupted for a no */
async function setUpPlace(invocation: Invocation, place: Place, prompter: Prompter): Promise<Place> {
  if (!prompter.interactive) return place;
  const { setUpFirst } = await import("./setup.ts");
  const isWritten = await setUpFirst(invocation, place, prompter);
  if (isWritten === null) throw new RalphError("interrupted", { hint: "nothing was written or started" });
  return isWritten ? { ...await findPlace(invocation), workflow: place.workflow } : place;
}

function refuseEmptyChecks({ command, flags }: Invocation, place: Place): void {
  // These two take the checks of an earlier commit, not those that they judge.
  if (!("verify" in command.flags) || ["finish", "gate"].includes(command.name)) return;
  refuseEmptyFlags(flags.all("verify"));
  refuseEmptyConfig(place.config, place.file);
}

async function prompterOf(
  { flags, host: { clock, environment, terminal }, signal }: Invocation,
  mode: PrompterOptions["mode"],
  approvals: readonly string[],
): Promise<Prompter> {
  const file = flags.text("answers");
  let lookUp: AnswerLookup = () => null;
  if (file !== undefined) {
    const { loadAnswers } = await import("../ui/answers.ts");
    const answers = await loadAnswers(resolve(environment.cwd, file));
    lookUp = (question) => findAnswer(answers, question);
  }
  return createPrompter({ mode, terminal, clock, approvals: new Set(approvals), lookUp, signal });
}

/** A run is on the page from its folder on: a question may be the first thing that it has. */
async function showOnPage({ program }: Invocation, ralph: RalphContext, { workflow, root }: Place): Promise<void> {
  const known = await program.workflows.find(({ name }) => name === workflow.name)?.runs?.(root) ?? [];
  await ralph.run.folder(known.length === 1 ? known[0]! : ".ralph/runs");
  ralph.events.emit({ type: "note", level: "info", message: "waits for an answer on the page: `ralph ui`" });
}

/** @returns what all turns used so far */
function countTurns({ events }: RalphContext): () => UsageTotal {
  let tally = EMPTY_TALLY;
  events.attach({ emit: (event) => void (tally = nextTally(tally, event, 0)) });
  return () => tally.usage;
}

/** Names a command that is the agent because the configuration says so, and the better way where its program is known. */
function announceAgent({ command: { flags }, flags: flagsGiven, say }: Invocation, place: Place, agent: AgentSetting) {
  const { command } = place.config.provider;
  const isConfigured = command !== undefined && "agent-cmd" in flags && Object.keys(agent).length === 0;
  if (isConfigured) say(oneLine(`agent ${command} (${relative(place.root, place.file ?? "")})`));
  const shell = typeof agent.agent === "object" ? agent.agent.command : isConfigured ? command : undefined;
  const idle = ["model", "reasoning", "endpoint"].filter((flag) => flagsGiven.has(flag)).map((flag) => `--${flag}`);
  if (shell !== undefined && idle.length > 0) {
    say(
      `warning: the agent is a command of your own: ${idle.join(" and ")} changed nothing; write it into the command`,
    );
  }
  const known = shell === undefined ? null : knownProgram(shell);
  if (known !== null) say(`hint: \`--agent ${known}\` drives the same program, and shows its tokens, cost and limits`);
}

function loopDefaults({ flags, host, program }: Invocation, place: Place): Partial<LoopDefaults> {
  const queue = flags.text("queue");
  const workers = parseWorkers(flags.text("parallel")) ?? (queue === undefined ? undefined : JOBS_AT_ONCE);
  return {
    ...optional("branch", flags.text("branch")),
    ...optional("workers", workers),
    ...optional("elsewhere", queue === undefined ? undefined : workersBehind(queue, place, host)),
    ...optional("anyOrder", flags.has("any-order") ? true : undefined),
    isState: ownStateOf(program.workflows),
    interactive: flags.has("interactive"),
    retryBlocked: flags.has("retry-blocked"),
    acceptChanges: flags.has("accept-changes"),
  };
}

/** Workers that a queue reaches; loaded when the loop begins. */
function workersBehind(url: string, { workflow }: Place, { clock }: Host): OpenElsewhere {
  return async (ralph, backlog) => {
    const report = (message: string): void => ralph.events.emit({ type: "note", level: "warn", message });
    const patience = { signal: ralph.signal, report };
    const { elsewhereBy } = await import("../machines/coordinator.ts");
    const { openEngine } = await import("../machines/open_engine.ts");
    const open = (queue: string): Promise<Engine> => openEngine({ url, queue, clock, patience });
    return await elsewhereBy(open, workflow.name)(ralph, backlog);
  };
}

/** Asks while a project is set up: `null` where flags or the lack of a terminal say that no one is asked. */
export async function setupPrompter(invocation: Invocation, { config }: Place): Promise<Prompter | null> {
  const { flags, host } = invocation;
  const mode = promptMode(flags, host, (flags.text("ui") ?? config.ui) as Config["ui"]);
  if (mode === null || mode === "page" || (mode === "unattended" && !flags.has("answers"))) return null;
  return await prompterOf(invocation, mode, []);
}

/** `null`: no one can be asked, and no flag says that this is meant. */
function promptMode(flags: Flags, host: Host, ui: Config["ui"]): PrompterOptions["mode"] | null {
  if (flags.text("ask") === "page") return "page";
  if (flags.has("non-interactive")) return "unattended";
  const { interactive } = host.terminal;
  if (!interactive && (flags.has("answers") || flags.has("approve"))) return "unattended";
  if (flags.text("ui") === "plain") return "plain";
  if (!interactive) return null;
  return ui === "plain" ? "plain" : "rich";
}

/** Only where lines can be drawn over: in a terminal that knows how, for a person who wants to see what is running. */
export async function liveViewFor(
  invocation: Invocation,
  { ui, quiet }: { readonly ui: Config["ui"]; readonly quiet: boolean },
): Promise<LiveView | undefined> {
  const { host } = invocation;
  const wanted = (ui === "auto" || ui === "rich") && !quiet;
  if (!wanted || !host.terminal.isTerminal("stderr") || host.environment.variables["TERM"] === "dumb") return undefined;
  const { createLiveView } = await import("../ui/live_view.ts");
  return createLiveView({ terminal: host.terminal, clock: host.clock, style: styleFor(invocation, "stderr") });
}

/** Shows the events of a run as the flags say. */
export function reporterFor(
  invocation: Invocation,
  { ui, quiet, live }: { readonly ui: Config["ui"]; readonly quiet: boolean; readonly live: LiveView | undefined },
  run: () => string | null,
): EventSink {
  const { flags, host, out, say } = invocation;
  if (ui === "json") return createJsonReporter({ run, now: () => host.clock.now(), out });
  const mode = ui === "auto" ? (host.terminal.isTerminal("stderr") ? "rich" : "plain") : ui;
  const detail = quiet ? "quiet" : flags.has("verbose") ? "verbose" : "normal";
  return createHumanReporter({ mode, detail, live, say, style: styleFor(invocation, "stderr") });
}
