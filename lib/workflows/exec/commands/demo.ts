import { scriptedAgent } from "../../../agents/scripted/scripted_agent.ts";
import { localDate } from "../../../host/local_date.ts";
import type { RalphContext } from "../../../context/context.ts";
import { createRalph } from "../../../recipe/create_ralph.ts";
import { RalphError } from "../../../errors/ralph_error.ts";
import type { EventSink } from "../../../events/types.ts";
import { createPrompter } from "../../../ui/create_prompter.ts";
import { createHumanReporter, createJsonReporter } from "../../../ui/create_reporter.ts";
import type { Prompter } from "../../../context/prompter.ts";
import type { Style } from "../../../ui/style.ts";
import { shippedRecipe } from "../../../recipe/registry.ts";
import type { Invocation } from "../../../cli/command.ts";
import { closingLines, recordChecks } from "../demo/closing.ts";
import { makeProject } from "../demo/project.ts";
import { demoScript, GOAL, QUESTIONS } from "../demo/turns.ts";
import { endWith } from "../../../cli/end_with.ts";
import { GATES, parseApprovals } from "../../../cli/settings.ts";
import { styleFor } from "../../../cli/show.ts";

/** Seconds that a turn takes when a person watches. */
const PAUSE = 0.7;

type Mode = "rich" | "plain" | "unattended";

/** `ralph demo`: the exec recipe on a small real project, with a scripted agent in the place of a model. */
export async function run(invocation: Invocation): Promise<number> {
  const { flags, host, signal } = invocation;
  const approvals = parseApprovals(flags.all("approve"), GATES);
  const mode = modeOf(invocation);
  const json = flags.has("json") || flags.text("ui") === "json";
  const say = json || flags.has("quiet") ? () => {} : invocation.say;
  const style = styleFor(invocation, "stderr");
  const today = localDate(host.clock.now());
  const root = await makeProject(host, today);

  say(style.bold("A small project, a goal, and an agent that says it is done before it is"));
  for (const line of opening(root, mode)) say(style.dim(`  ${line}`));
  const prompter = createPrompter({
    mode,
    terminal: host.terminal,
    approvals: new Set(approvals),
    lookUp: (question) => question.fromAgent === true ? suggestionFor(question.message) : null,
    signal,
  });
  const checks = recordChecks();
  let id: string | null = null;
  await using ralph = await createRalph({
    root,
    agent: scriptedAgent(demoScript(today, mode === "unattended" ? 0 : PAUSE), { host }),
    approve: approvals,
    prompter: mode === "unattended" ? shown(prompter, say, style) : suggesting(prompter),
    sinks: [reporterOf(invocation, json, () => id), checks],
    signal,
    host,
  });
  id = ralph.run.id;
  const exitCode = endWith(invocation, ralph, await runExec(invocation, ralph), "ralph run");
  const log = await ralph.repository!.log(20);
  for (const line of closingLines({ root, log, checks: checks.lines }, style)) say(line);
  return exitCode;
}

function opening(root: string, mode: Mode): readonly string[] {
  return [
    root,
    "A to-do list in shell; the tests of three of its commands fail",
    "The agent plays a script; all else is real: git, the checks, Ralph",
    ...(mode === "unattended" ? [] : ["Say yes (y) at the gates to see it all: Enter alone is no"]),
  ];
}

async function runExec({ program }: Invocation, ralph: RalphContext): Promise<unknown> {
  const recipe = await shippedRecipe(program.recipes, "exec");
  return await recipe.run(ralph, { goal: GOAL });
}

function modeOf({ flags, host }: Invocation): Mode {
  if (flags.has("approve") || flags.has("non-interactive")) return "unattended";
  if (flags.text("ui") === "plain") return "plain";
  if (host.terminal.interactive) return "rich";
  throw new RalphError("terminal-missing", {
    details: { command: "demo" },
    hint: "run it in a terminal, or let it run by itself: `ralph demo --approve all`",
  });
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

/** Where no one is asked, what would have been asked is still worth reading. */
function shown(prompter: Prompter, say: (line: string) => void, { accent, dim }: Style): Prompter {
  return {
    interactive: prompter.interactive,
    async ask(question) {
      for (const line of question.details ?? []) say(`  ${dim(line)}`);
      const answer = await prompter.ask(question);
      const from = answer.source === "approve"
        ? "--approve"
        : answer.source === "answers"
        ? "the demo's own answer"
        : answer.source;
      say(`  ${accent("?")} ${question.message} ${answer.value} ${dim(`(${from})`)}`);
      return answer;
    },
  };
}

function suggestionFor(message: string): string | null {
  return QUESTIONS.find(({ question }) => question === message)?.answer ?? null;
}

function reporterOf(invocation: Invocation, json: boolean, run: () => string | null): EventSink {
  const { flags, host, out, say } = invocation;
  if (json) return createJsonReporter({ run, now: () => host.clock.now(), out });
  const named = flags.text("ui");
  const mode = named === "plain" || (named !== "rich" && !host.terminal.isTerminal("stderr")) ? "plain" : "rich";
  const detail = flags.has("quiet") ? "quiet" : flags.has("verbose") ? "verbose" : "normal";
  return createHumanReporter({ mode, detail, say, style: styleFor(invocation, "stderr") });
}
