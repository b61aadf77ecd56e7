import { join } from "node:path";
import { type GsdAction, installedCommands, slashCommand } from "../slash_commands.ts";
import { isNumber, sameNumber } from "../numbers.ts";
import { GSD_RUNS, type Planning, PLANNING_DIRECTORY, STATE_FILE } from "../types.ts";
import { readPlanning, scanPlanning } from "../read_planning.ts";
import { EXIT, RalphError } from "../../../errors/ralph_error.ts";
import { pathExists } from "../../../host/files.ts";
import { findExecutable } from "../../../host/shell.ts";
import { type CommandModule, type Flags, type Invocation, usage } from "../../../cli/command.ts";
import { endWith } from "../../../cli/end_with.ts";
import { findPlace, type Place } from "../../../cli/workspace.ts";
import { openSession } from "../../../cli/session.ts";
import { turnEnvironment } from "../../../agents/environment.ts";
import type { RalphContext } from "../../../context/context.ts";
import type { Outcome } from "../../../recipe/outcome.ts";
import { gsdBacklog, type GsdBacklogOptions, SESSION_MS } from "../backlog.ts";
import { findPlan, positionOf } from "../position.ts";
import { runLoop } from "../../../loop/run/run_loop.ts";
import { parseCount, parseWorkers } from "../../../cli/settings.ts";

/** A session ends when the person ends it. */

/** The agent that GSD's commands are made for, where no other is named. */
const DEFAULT_AGENT = "claude";

/** `ralph roadmap`. */
export const ROADMAP: CommandModule = { run: (invocation) => planWithGsd(invocation, "roadmap") };

/** `ralph discover [PHASE]`: GSD's research of a phase. */
export const DISCOVER: CommandModule = { run: (invocation) => planWithGsd(invocation, "discover") };

/** GSD's own planning: the terminal is handed to the agent with the slash command. */
export async function planWithGsd(invocation: Invocation, action: GsdAction): Promise<number> {
  const { arguments: [phase], host, say } = invocation;
  const place = await findPlace(invocation);
  const { command: { name }, flags } = invocation;
  const { workflow } = place;
  if (workflow.name !== "gsd") {
    const problem = `\`ralph ${name}\` belongs to the workflow gsd, not ${workflow.name} (${workflow.why})`;
    throw usage(problem, `\`ralph ${name} --workflow gsd\``);
  }
  if (phase !== undefined && !isNumber(phase)) {
    const goal = action === "plan" ? "; a goal is planned in another workflow: `ralph help workflows`" : "";
    throw usage(`${phase} is no phase`, `a phase is a number: \`ralph ${name} 1\`, \`02.1\`${goal}`);
  }
  if (action === "init") {
    const isBegun = await pathExists(join(place.root, PLANNING_DIRECTORY, "PROJECT.md"));
    const isSetUp = await setUpWith(invocation, place, isBegun);
    if (isBegun) {
      say(`${PLANNING_DIRECTORY}/PROJECT.md is there already: nothing was started`);
      if (!isSetUp) say("next: `ralph status`");
    }
    if (isBegun || flags.has("dry-run")) return EXIT.done;
  }
  if (action === "discover" || action === "plan") await lookAtPhase(place.root, invocation, action);
  const chosen = await withAgent(invocation, place);
  const installed = await installedCommands(place.root, host.environment);
  const command = slashCommand(action, { phase, configured: place.config.gsd.commands[action], installed });

  await using session = await openSession(chosen, { asks: false, gates: [] });
  say(`handing the terminal to ${session.ralph.agent.name}: ${command}`);
  const ended = await handOver(session.ralph, command, action);
  const lacking = ended.status === "passed" ? await lackingAfter(place.root, action, phase) : null;
  const outcome: HandOver = lacking === null ? ended : { status: "failed", reason: "stopped", message: lacking };
  const exitCode = endWith(invocation, session.ralph, outcome, null);
  if (outcome.status === "passed") say(`next: ${nextCommand(action, phase)}`);
  return exitCode;
}

/** Writes what the flags of `init` say into the configuration, as in every workflow. @returns whether there were such flags */
async function setUpWith(invocation: Invocation, place: Place, isBegun: boolean): Promise<boolean> {
  const meant = ["verify", "model", "reasoning", "endpoint", "timeout", "dry-run"];
  if (isBegun) meant.push("agent", "agent-cmd");
  if (!meant.some((flag) => invocation.flags.has(flag))) return false;
  const { scaffoldWorkflow } = await import("../../../cli/scaffold.ts");
  await scaffoldWorkflow(invocation, place, {
    config: { workflow: "gsd" },
    next: isBegun ? "`ralph status`" : "answer what GSD asks about the project",
  });
  return true;
}

/** Without a flag and a configured agent: the one that GSD is made for. @throws {RalphError} agent-missing */
async function withAgent(invocation: Invocation, { config, root }: Place): Promise<Invocation> {
  const { flags, host } = invocation;
  const named = ["agent", "agent-cmd", "script"].some((name) => flags.has(name));
  if (named || config.provider.command !== undefined || config.provider.preset !== undefined) return invocation;
  if (await findExecutable(DEFAULT_AGENT, host.environment, root) === null) {
    const install = "install Claude Code (`npm install -g @anthropic-ai/claude-code`)";
    const hint = `GSD runs in an agent: ${install}, or name yours with \`--agent\` or \`--agent-cmd\``;
    throw new RalphError("agent-missing", { hint });
  }
  const own: Flags = {
    has: (name) => name === "agent-cmd" || flags.has(name),
    text: (name) => name === "agent-cmd" ? DEFAULT_AGENT : flags.text(name),
    all: (name) => name === "agent-cmd" ? [DEFAULT_AGENT] : flags.all(name),
  };
  return { ...invocation, flags: own };
}

/** Plans made without research often rest on wrong assumptions: a note, no error. */
async function lookAtPhase(root: string, { arguments: [phase], say }: Invocation, action: GsdAction): Promise<void> {
  const { phases } = await scanPlanning({ root });
  if (phase === undefined) return;
  const found = phases.find(({ number }) => sameNumber(number, phase));
  if (found === undefined && phases.length > 0) {
    throw usage(`there is no phase ${phase}`, `phases: ${phases.map(({ number }) => number).join(", ")}`);
  }
  if (action === "plan" && found?.researched !== true) {
    say(`phase ${phase} has no DISCOVERY.md or RESEARCH.md: \`ralph discover ${phase}\` looks into it first`);
  }
}

/** Names the file that the session was to leave and did not; `null` if it is there, or cannot be told. */
async function lackingAfter(root: string, action: GsdAction, phase: string | undefined): Promise<string | null> {
  const lacks = (what: string): string => `the session left no ${what}: the same command begins again`;
  if (action === "init" || action === "roadmap") {
    const file = `${PLANNING_DIRECTORY}/${action === "init" ? "PROJECT.md" : "ROADMAP.md"}`;
    return await pathExists(join(root, file)) ? null : lacks(file);
  }
  if (phase === undefined) return null;
  const found = (await scanPlanning({ root })).phases.find(({ number }) => sameNumber(number, phase));
  if (action === "plan") return (found?.plans.length ?? 0) > 0 ? null : lacks(`plan for phase ${phase}`);
  return found?.researched === true ? null : lacks(`DISCOVERY.md or RESEARCH.md for phase ${phase}`);
}

function nextCommand(action: GsdAction, phase: string | undefined): string {
  return {
    init: "`ralph roadmap`, or `ralph status` where the roadmap is made already",
    roadmap: "`ralph discover 1`, then `ralph plan 1`",
    discover: phase === undefined ? "`ralph plan` and the phase" : `\`ralph plan ${phase}\``,
    plan: "`ralph run`, or `ralph run --loop`",
  }[action];
}

/** How a session at the terminal ended. */
interface HandOver extends Outcome {
  readonly reason?: string;
  readonly message?: string;
}

/**
 * Hands the terminal to the agent with a first prompt, and waits until the person is done. Nothing is committed. If
 * there is a project already, Ralph tries its checks first: the session is paid for.
 *
 * @throws {RalphError} agent-missing, agent-not-found, run-locked
 */
async function handOver(ralph: RalphContext, prompt: string, action: GsdAction): Promise<HandOver> {
  const { agent } = ralph;
  await agent.ensureUsable();
  if (agent.interactive === false) {
    const message =
      `${agent.name} cannot be handed the terminal: name another agent with \`--agent\` or \`--agent-cmd\``;
    return { status: "failed", reason: "agent-unusable", message };
  }
  await using _lock = await ralph.lock.acquire(action);
  const folder = await ralph.run.folder(GSD_RUNS);
  if (action !== "init" && ralph.repository !== null) {
    const { baselineOf } = await import("../../../loop/run/baseline.ts");
    const tried = await baselineOf(ralph, [], { logs: join(folder, "baseline"), signal: ralph.signal });
    if (tried.status !== "known") return tried;
  }
  const { end } = await agent.runTurn({
    prompt,
    cwd: ralph.root,
    transcript: join(folder, `${action}.log`),
    timeoutMs: SESSION_MS,
    environment: await turnEnvironment(ralph, null),
    interactive: true,
    signal: ralph.signal,
  });
  if (end.reason === "completed") return { status: "passed" };
  if (end.reason === "aborted") return { status: "aborted" };
  const reason = end.reason === "agent-unusable" ? end.reason : "stopped";
  return { status: "failed", reason, message: end.message };
}

/** `ralph run` in the workflow gsd: the next plan, the one that is named, or with `--loop` all of them. */
export async function runGsd(invocation: Invocation, place: Place): Promise<number> {
  const { flags } = invocation;
  const loop = flags.has("loop");
  const cap = flags.text("loop") ?? "";
  const maxItems = loop && cap !== "" ? parseCount("--loop", cap, 1) : null;
  if (loop && flags.has("plan")) {
    throw usage("--loop and --plan exclude each other", "`--plan` runs one plan, `--loop` all that are left");
  }
  if (!loop && (parseWorkers(flags.text("parallel")) ?? 1) > 1) {
    throw usage("--parallel needs --loop: without it one plan is run", "`ralph run --loop --parallel 2`");
  }
  const planning = await readPlanning(place);
  const options = loop ? {} : one(planning, flags.text("plan"), invocation);
  if (!flags.has("plan") && !flags.has("quiet") && !flags.has("json")) sayWhy(planning, invocation);
  await using session = await openSession(invocation, { asks: false, gates: [], place });
  const { ralph } = session;
  // an agent that has no session at the terminal cannot do checkpoints with a person
  const alone = options.checkpoints === "interactive" && ralph.agent.interactive === false;
  const backlog = gsdBacklog(ralph, alone ? { ...options, checkpoints: "block" } : options);
  const outcome = await runLoop(ralph, backlog, { purpose: "run", ...(maxItems === null ? {} : { maxItems }) });
  return endWith(invocation, ralph, outcome, loop ? "ralph run --loop" : "ralph run");
}

/** One plan, with a person for its checkpoints where there is a terminal. @throws {RalphError} usage */
function one(planning: Planning, named: string | undefined, { flags, host }: Invocation): GsdBacklogOptions {
  const unattended = flags.has("non-interactive") || flags.has("json") || !host.terminal.interactive;
  const checkpoints = unattended ? "block" : "interactive";
  if (named === undefined) {
    const { next } = positionOf(planning);
    return next === null ? { checkpoints } : { plan: next.id, checkpoints };
  }
  const plan = findPlan(planning, named);
  const plans = planning.phases.flatMap(({ plans }) => plans);
  if (plan === null) {
    const left = plans.filter(({ summarized }) => !summarized).map(({ id }) => id);
    throw usage(`there is no plan ${named}`, `plans: ${left.join(", ") || "all are complete"}`);
  }
  if (plan.summarized) {
    throw usage(`${plan.id} is complete: ${plan.summaryFile} is there`, "move its SUMMARY away to run it again");
  }
  return { plan: plan.id, checkpoints };
}

/** Which plan comes next and why, before the agent is started. */
function sayWhy(planning: Planning, { say }: Invocation): void {
  const { next, reasons } = positionOf(planning);
  if (next !== null && reasons[0] !== undefined) say(reasons[0]);
  for (const { file, message } of planning.diagnostics.filter((one) => one.file === STATE_FILE)) {
    say(`warning: ${file}: ${message}`);
  }
}
