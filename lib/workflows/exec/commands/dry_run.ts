import { relative } from "node:path";
import { firstOf } from "../../../host/data.ts";
import { suggestChecks } from "../../../backlog/suggest_checks.ts";
import { commandWord } from "../../../agents/program.ts";
import { type Invocation, styleFor, toJson } from "../../../cli/command.ts";
import { unnamedAgent } from "../../../cli/agents.ts";
import { ownFiles, type RalphContext } from "../../../context/context.ts";
import { EXIT, RalphError } from "../../../errors/ralph_error.ts";
import { refuseOperations, requireIdentity } from "../../../git/open_repository.ts";
import { commitAt } from "../../../git/refs.ts";
import { requireRepository, topLevelPaths } from "../../../git/repository.ts";
import { localTime } from "../../../host/local_date.ts";
import { readLockHolder } from "../../../host/lock.ts";
import { findExecutable } from "../../../host/shell.ts";
import { confinementText, formatDuration, oneLine } from "../../../ui/text.ts";
import { wrapText } from "../../../ui/wrap_text.ts";
import { EXEC_FOLDER, type ExecArgs } from "../types.ts";
import { ensureBase, stackedBranch } from "../plan/base.ts";
import { readOrError } from "../../read_or_error.ts";
import { isApprovedAs, readPrd } from "../plan/turn.ts";
import { sameGoal } from "../plan/preflight.ts";
import { readPlanState } from "../plan/state.ts";
import { prdSummaryLines } from "../format.ts";

const SHOWN_PATHS = 10;

/** Each gate asks for a yes to this. */
const QUESTIONS: Readonly<Record<string, string>> = {
  prd: "what becomes of the plan, once you have read it: one key writes it, and starts the work",
  understand: "whether to explore the code first, where there is no map of it yet (default: no)",
  run: "whether to start the work",
};

/** All that would happen, in words: a first line beside each name, the others below it. */
type Rows = Readonly<Record<string, readonly string[]>>;

/**
 * `ralph exec --dry-run`: what would happen, from what is here now. No agent and no check is started, nothing is
 * written, nothing is asked. An obstacle that would stop it at once is an error, with the exit code that it would have.
 *
 * @param recipe a recipe of one's own, whose steps are not known before it runs
 * @throws {RalphError} the first thing that would stop it
 */
export async function showDryRun(
  invocation: Invocation,
  ralph: RalphContext,
  args: ExecArgs,
  recipe: string | null,
): Promise<number> {
  const problems: RalphError[] = [];
  const tried = async <Value>(look: () => Promise<Value>): Promise<Value | null> => {
    const { value, error } = await readOrError(look);
    if (error !== null) problems.push(error);
    return value;
  };
  await tried(() => ready(ralph));
  const unnamed = await tried(() => unnamedAgent(ralph.agent));
  const sandbox = await tried(async () => await ralph.host.sandbox?.ensureUsable());
  const { repository } = ralph;
  const { base } = args;
  if (repository !== null && base !== undefined) await tried(() => ensureBase(repository, base));
  const begun = recipe === null ? await tried(() => begunWith(ralph, args)) : null;
  const { provider } = ralph.config;
  const model = provider.model === undefined ? "" : `, model ${provider.model}`;
  const rows: Rows = {
    goal: [begun?.goal ?? args.goal].filter((goal) => goal !== "").map(oneLine),
    project: [ralph.root],
    agent: [unnamed === null ? oneLine(`${ralph.agent.name}${model}`) : `none: ${unnamed}`],
    ...recipe === null ? {} : { recipe: [`${relative(ralph.root, recipe)}: what it does is known when it runs`] },
    ...begun === null ? {} : { plan: planLines(ralph, begun), branch: await branchLines(ralph, begun, base) },
    checks: await checkLines(ralph),
    sandbox: [confinementText(sandbox ?? undefined)],
    ...begun === null ? {} : { commits: commitLines(ralph, begun) },
    yours: [await yourText(ralph)],
    ...begun === null ? {} : { asks: asksLines(invocation, ralph, begun) },
    limits: [limitText(ralph)],
  };
  print(invocation, rows, problems);
  const [first, ...others] = problems;
  for (const { message } of others) invocation.say(`error: ${message}`);
  if (first !== undefined) throw first;
  return EXIT.done;
}

function print(invocation: Invocation, rows: Rows, problems: readonly RalphError[]): void {
  const { flags, host: { terminal }, out, say } = invocation;
  if (flags.has("json")) {
    return out(toJson({ ...rows, problems: problems.map(({ code, message, hint }) => ({ code, message, hint })) }));
  }
  const { dim } = styleFor(invocation, "stdout");
  const width = Math.max(...Object.keys(rows).map(({ length }) => length));
  const room = terminal.isTerminal("stdout") ? Math.max(terminal.size().columns - width - 2, 20) : Infinity;
  for (const [name, lines] of Object.entries(rows)) {
    const shown = lines.flatMap((line) => wrapText(line, room).split("\n"));
    for (const [index, line] of shown.entries()) out(`${dim((index === 0 ? name : "").padEnd(width))}  ${line}`);
  }
  if (problems.length === 0) say("nothing was started or written; the same command without `--dry-run` begins");
}

/** Checks what `plan()` and the run demand before they begin. */
async function ready({ host, repository: here, root }: RalphContext): Promise<void> {
  const repository = requireRepository({ repository: here, root });
  await refuseOperations(root, repository.gitDirectory);
  await requireIdentity(repository, host.environment);
  const holder = await readLockHolder(ownFiles(repository, root).runLock);
  if (holder === null) return;
  const { pid, purpose, since } = holder;
  throw new RalphError("run-locked", { details: { purpose, pid, startedAt: localTime(since) } });
}

/** Planning would begin with this; an approved plan is the one of this goal, and unchanged: nothing is planned any more. */
async function begunWith(ralph: RalphContext, { goal: asked }: ExecArgs) {
  const saved = await readPlanState(ralph);
  const prd = await readPrd(ralph);
  const goal = asked === "" ? saved?.goal ?? "" : asked;
  const isApproved = saved?.state === "done" && sameGoal(goal, saved.goal) && isApprovedAs(saved, prd);
  return { goal, saved, prd, isApproved };
}

type Begun = Awaited<ReturnType<typeof begunWith>>;

function planLines({ agent, config }: RalphContext, { goal, saved, prd, isApproved }: Begun): readonly string[] {
  const stories = prd?.userStories ?? [];
  if (isApproved && prd !== null) {
    const open = stories.filter(({ passes }) => !passes).length;
    return [
      `approved ${localTime(saved?.approvedPrdAt ?? "")}, ${open} of ${stories.length} stories open`,
      ...prdSummaryLines(prd, config.verify.default).slice(1).map((line) =>
        `${/^ */.exec(line)?.[0] ?? ""}${oneLine(line)}`
      ),
    ];
  }
  const has = count(stories.length, "story", "stories");
  const there = stories.length === 0
    ? []
    : [`the PRD that is there has ${has}: you are asked whether to update or overwrite it`];
  if (saved !== null && saved.state !== "done") {
    const answers = count(saved.qa.length, "answer", "answers");
    return sameGoal(goal, saved.goal)
      ? [`begun ${localTime(saved.createdAt)}, ${answers} so far: it continues there`]
      : [`another goal is being planned here: "${oneLine(saved.goal)}". You are asked which one it is to be`, ...there];
  }
  const planner = agent.name === "none" ? "the agent" : oneLine(agent.name);
  return [`none yet: ${planner} asks what it needs to know and drafts stories, which you read before a yes`, ...there];
}

async function branchLines({ loop, repository }: RalphContext, { prd, isApproved }: Begun, base: string | undefined) {
  if (repository === null) return [];
  const current = await repository.currentBranch();
  const here = current ?? "the detached HEAD";
  const wanted = loop.branch ?? (isApproved ? prd?.branchName : undefined);
  if (wanted === "" || wanted === current) return [`${here}, which is checked out`];
  const stacked = isApproved || base !== undefined ? null : await stackedBranch(repository, prd);
  if (stacked !== null) {
    return [`${wanted ?? "named by the plan"}; you are asked whether it starts from ${stacked.usual} or from ${here}`];
  }
  const known = wanted !== undefined && await commitAt(repository, `refs/heads/${wanted}`) !== null;
  return [known ? `${wanted}, which is there` : `${wanted ?? "named by the plan"}, from ${base ?? here}`];
}

async function checkLines({ config: { verify }, host, root }: RalphContext): Promise<readonly string[]> {
  if (verify.default.length === 0) {
    const found = await suggestChecks(root);
    return [
      "none that every story must pass: each story names its own",
      ...found.map(({ command, from }) => `found in ${from}: ${command} (\`--verify\`, or \`ralph init\`)`),
    ];
  }
  const lines: string[] = [];
  for (const command of verify.default) {
    const word = commandWord(command);
    const isMissing = word !== null && await findExecutable(word, host.environment, root) === null;
    lines.push(`${oneLine(command)}${isMissing ? `: ${word} was not found` : ""}`);
  }
  return verify.baseline ? [...lines, "run once before the planner's first turn, and for every story"] : lines;
}

function commitLines({ config: { commits } }: RalphContext, { isApproved, prd }: Begun): readonly string[] {
  const story = prd?.userStories.find(({ passes }) => !passes);
  const named = isApproved && story !== undefined ? `${story.id} - ${oneLine(story.title)}` : "US-001 - its title";
  return [
    ...!isApproved && commits.prdChanges ? [`ralph: plan approved (${EXEC_FOLDER}/, without its runs)`] : [],
    commits.work
      ? `feat: ${named}${commits.squash === false ? "" : ", one commit a verified story"}`
      : "no work: `commits.work` is off",
    "nothing is pushed or merged",
  ];
}

async function yourText(ralph: RalphContext): Promise<string> {
  if (ralph.repository === null) return "no repository";
  const own = topLevelPaths(ralph, [EXEC_FOLDER, ".ralph"]);
  const { changed } = await ralph.repository.status();
  const paths = changed.map(({ path }) => path).filter((path) =>
    !own.some((folder) => path === folder || path.startsWith(`${folder}/`))
  );
  if (paths.length === 0) return "nothing is uncommitted";
  return `${firstOf(paths.map(oneLine), SHOWN_PATHS)}: uncommitted now, and never committed by Ralph`;
}

function asksLines({ flags, host }: Invocation, { approvals }: RalphContext, { isApproved }: Begun): readonly string[] {
  const isGiven = (gate: string): boolean => approvals.has(gate) || approvals.has("all");
  const gates = [...isApproved ? [] : ["prd"], "understand", "run"];
  const open = gates.filter((gate) => !isGiven(gate));
  const given = gates.filter(isGiven);
  const asksNoOne = flags.has("non-interactive") || !host.terminal.interactive;
  return [
    ...given.length === 0 ? [] : [`yes beforehand: ${given.join(", ")}`],
    ...open.length > 0 && asksNoOne
      ? [`no one to ask, and no yes beforehand (\`--approve\`): ${open.join(", ")}`]
      : (isApproved || !open.includes("prd") ? open : ["prd"]).map((gate) => QUESTIONS[gate] ?? gate),
  ];
}

function limitText({ config: { limits, maxRetries, provider } }: RalphContext): string {
  return [
    `${formatDuration(provider.timeout * 1000)} a turn`,
    `${count(maxRetries, "attempt", "attempts")} a story`,
    ...limits.iterations === null ? [] : [`${limits.iterations} turns`],
    ...limits.minutes === null ? [] : [`${limits.minutes} minutes`],
    ...limits.tokens === null ? [] : [`${limits.tokens} tokens`],
    limits.costUsd === null ? "no limit on cost (`--max-cost`)" : `$${limits.costUsd}`,
  ].join(", ");
}

function count(number: number, one: string, many: string): string {
  return `${number} ${number === 1 ? one : many}`;
}
