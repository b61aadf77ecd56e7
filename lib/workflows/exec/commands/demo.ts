import { scriptedAgent } from "../../../agents/scripted/scripted_agent.ts";
import { localDate } from "../../../host/local_date.ts";
import { createRalph } from "../../../recipe/create_ralph.ts";
import { findExecutable } from "../../../host/shell.ts";
import { RalphError } from "../../../errors/ralph_error.ts";
import type { RalphEvent } from "../../../events/types.ts";
import { createPrompter } from "../../../ui/create_prompter.ts";
import { liveViewFor, reporterFor } from "../../../cli/session.ts";
import type { Repository } from "../../../git/repository.ts";
import type { Config } from "../../../config/load.ts";
import type { Prompter } from "../../../context/context.ts";
import type { Style } from "../../../ui/text.ts";
import { shippedRecipe } from "../../../recipe/loader.ts";
import { type AgentSetting, namedAgent } from "../../../cli/agents.ts";
import { type Invocation, styleFor } from "../../../cli/command.ts";
import { demoScript, GOAL, makeProject, QUESTIONS } from "../demo/project.ts";
import { endWith } from "../../../cli/end_with.ts";
import { configOverlay, GATES, parseApprovals } from "../../../cli/settings.ts";

const NOTHING_DONE =
  "Without a yes no code is written, so no check ran; `ralph demo` starts afresh, `ralph demo --approve all` says yes itself";

/** Seconds that a turn takes when a person watches. */
const PAUSE = 0.7;

type Mode = "rich" | "plain" | "unattended";

/** `ralph demo`: the exec recipe on a small real project, with a scripted agent in the place of a model. */
export async function run(invocation: Invocation): Promise<number> {
  const { flags, host, signal } = invocation;
  const approvals = parseApprovals(flags.all("approve"), GATES);
  const mode = modeOf(invocation);
  const ui = flags.has("json") ? "json" : (flags.text("ui") ?? "auto") as Config["ui"];
  const say = ui === "json" || flags.has("quiet") ? () => {} : invocation.say;
  const style = styleFor(invocation, "stderr");
  const quiet = flags.has("quiet");
  using live = await liveViewFor(invocation, { ui, quiet });
  const today = localDate(host.clock.now());
  const root = await makeProject(host, today);
  const real = namedAgent(flags)?.agent ?? null; // without one a script is played
  const own = (kind: string): string | null => real !== null && kind === "text" ? "decide yourself" : null;

  say(style.bold(
    real === null
      ? "A small project, a goal, and an agent that says it is done before it is"
      : "A small project, a goal, and your agent",
  ));
  for (const line of opening(root, mode, real)) say(style.dim(`  ${line}`));
  const prompter = createPrompter({
    mode,
    terminal: host.terminal,
    clock: host.clock,
    approvals: new Set(approvals),
    lookUp: (question) => question.fromAgent === true ? suggestionFor(question.message) ?? own(question.kind) : null,
    signal,
  });
  const checks = recordChecks();
  let id: string | null = null;
  await using ralph = await createRalph({
    root,
    agent: real ?? scriptedAgent(demoScript(today, live === undefined ? 0 : PAUSE), { host }),
    config: configOverlay(flags),
    approve: approvals,
    prompter: mode === "unattended" ? shown(prompter, say, style) : suggesting(prompter),
    sinks: [reporterFor(invocation, { ui, quiet, live }, () => id), checks],
    signal,
    host,
  });
  id = ralph.run.id;
  const recipe = await shippedRecipe(invocation.program.recipes, "exec");
  const exitCode = endWith(invocation, ralph, await recipe.run(ralph, { goal: GOAL }), "ralph run");
  const log = await ralph.repository!.log(20);
  const isInstalled = await findExecutable("ralph", host.environment, root) !== null;
  for (const line of closingLines({ root, log, checks: checks.lines, isInstalled }, style)) say(line);
  return exitCode;
}

function opening(root: string, mode: Mode, real: AgentSetting["agent"] | null): readonly string[] {
  return [
    root,
    "A to-do list in shell; the tests of three of its commands fail",
    ...(real !== null ? [] : ["The agent plays a script; all else is real: git, the checks, Ralph"]),
    ...(mode === "unattended" ? [] : ["Say yes (y) at the gates to see it all: Enter alone is no"]),
  ];
}

function modeOf({ flags, host }: Invocation): Mode {
  if (flags.has("approve") || flags.has("non-interactive")) return "unattended";
  if (flags.text("ui") === "plain") return "plain";
  if (host.terminal.interactive) return "rich";
  const hint = "run it in a terminal, or let it run by itself: `ralph demo --approve all`";
  throw new RalphError("terminal-missing", { details: { command: "demo" }, hint });
}

/** An empty answer to the agent's question takes the suggestion. */
function suggesting(prompter: Prompter): Prompter {
  return {
    interactive: prompter.interactive,
    ask(question) {
      const initial = question.fromAgent === true && question.kind === "text" ? suggestionFor(question.message) : null;
      return prompter.ask(initial === null || question.kind !== "text" ? question : { ...question, initial });
    },
  };
}

const SOURCES: Readonly<Record<string, string>> = { approve: "--approve", answers: "the demo's own answer" };

/** Shows each question and its answer: they are worth reading even if no one is asked. */
function shown(prompter: Prompter, say: (line: string) => void, { accent, dim }: Style): Prompter {
  return {
    interactive: prompter.interactive,
    async ask(question) {
      for (const line of question.details ?? []) say(`  ${dim(line)}`);
      const answer = await prompter.ask(question);
      const from = SOURCES[answer.source] ?? answer.source;
      say(`  ${accent("?")} ${question.message} ${answer.value} ${dim(`(${from})`)}`);
      return answer;
    },
  };
}

function suggestionFor(message: string): string | null {
  return QUESTIONS.find(({ question }) => question === message)?.answer ?? null;
}

/** A sink that keeps what the closing lines show. */
function recordChecks() {
  const lines: { readonly item: string; readonly attempt: number; readonly name: string; readonly ok: boolean }[] = [];
  let at = { item: "", attempt: 1 };
  return {
    lines,
    emit(event: RalphEvent): void {
      if (event.type === "iteration-start") at = { item: event.item.id, attempt: event.attempt };
      if (event.type === "step-start" && event.step === "final-check") at = { ...at, item: "at the end" };
      if (event.type === "check-end" && event.beforeWork !== true) {
        lines.push({ ...at, name: event.name, ok: event.ok });
      }
    },
  };
}

/** The log, what each check said, and where to look. */
function closingLines(
  { root, log, checks, isInstalled }: {
    readonly root: string;
    /** Newest first. */
    readonly log: Awaited<ReturnType<Repository["log"]>>;
    readonly checks: ReturnType<typeof recordChecks>["lines"];
    /** `ralph` is on PATH. */
    readonly isInstalled: boolean;
  },
  style: Style,
): readonly string[] {
  const { bold, dim, good, bad, accent, symbols } = style;
  const width = Math.max(0, ...checks.map(({ item }) => item.length));
  return [
    "",
    ...(checks.length === 0 ? [NOTHING_DONE] : [bold("What each check said")]),
    ...checks.map(({ item, attempt, name, ok }) => {
      const [mark, end] = ok ? [good(symbols.passed), ""] : [bad(symbols.failed), bad("  failed")];
      return `  ${mark} ${item.padEnd(width)}  ${dim(`attempt ${attempt}`)}  ${name}${end}`;
    }),
    "",
    bold("The log"),
    ...log.map(({ commit, subject }) => `  ${accent(commit.slice(0, 7))} ${subject}`),
    "",
    bold("Where to look"),
    `  cd ${root}`,
    `  ${dim("the PRD, with what passed")}            scripts/ralph/prd.json`,
    `  ${dim("questions, answers and decisions")}     scripts/ralph/plan_transcript.md`,
    `  ${dim("what was learned of the code")}         scripts/ralph/codebase_map.md`,
    `  ${dim("every turn and event")}                 scripts/ralph/runs/`,
    "",
    "The folder stays there until you take it away. Your own project is next:",
    '  cd your-project && ralph exec "<goal>"',
    ...(isInstalled ? [] : [`  ${dim("`ralph` is not on your PATH: install it first, or name this program's path")}`]),
  ];
}
