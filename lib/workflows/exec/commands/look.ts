import { inOrder, storyChecks, storyFindings } from "../../stories.ts";
import { headlineOf } from "../../../backlog/attempts.ts";
import * as views from "../../../cli/look.ts";
import { hintOf } from "../../../cli/next_step.ts";
import { prdBacklog } from "../backlog.ts";
import { join } from "node:path";
import { type FileFindings, ownHint, type ValidatedFile, validateFile } from "../../../cli/validated_file.ts";
import { readText } from "../../../host/files.ts";
import { oneLine } from "../../../ui/text.ts";
import { readOrError } from "../../read_or_error.ts";
import { begunPlan, parsePrd, repeatedIds } from "../format.ts";
import { findExternal, hintForPrd, importHint } from "../import/find_external.ts";
import { PLAN_STATE_FILE, type Prd, PRD_FILE, validatePrd } from "../types.ts";
import { checksOnce } from "../../checks_once.ts";
import { storyCommands } from "../../../backlog/verify_commands.ts";
import type { Validated } from "../../workflow.ts";
import type { Verification } from "../../../backlog/types.ts";
import type { RalphContext } from "../../../context/context.ts";
import { stateMissing } from "../../../errors/ralph_error.ts";
import { parseJson } from "../../../errors/json_syntax.ts";

const COMMANDS = { run: "ralph run", retry: "ralph run --retry-blocked" };

/** The story that the next iteration would take from the PRD. */
export async function readNext(look: views.Look): Promise<views.NextView> {
  const backlog = prdBacklog(look);
  const next = await backlog.next({ inFlight: [], parked: await views.parkedIn(look, backlog) });
  return await views.nextOfBacklog(look, backlog, next, {
    done: "every story passes",
    retry: COMMANDS.retry,
    dataOf: ({ criteria }) => ({ acceptanceCriteria: criteria }),
  });
}

/** The state of the plan and the stories. @throws {RalphError} state-missing */
export async function readStatus(look: views.Look): Promise<views.StatusView> {
  const { root, config, style: { dim } } = look;
  const text = await look.state.read(PRD_FILE);
  const { value: prd, error } = await readOrError(() => text === null ? null : parsePrd(text, PRD_FILE));
  const [external] = error === null && (prd?.userStories ?? []).length === 0 ? await findExternal(root) : [];
  const backlog = prdBacklog(look);
  const parked = prd === null ? [] : await views.parkedIn(look, backlog);
  const counts = prd === null ? null : await backlog.overview({ parked });
  const plan = begunPlan(await readText(join(root, PLAN_STATE_FILE)));
  const stories = (prd?.userStories ?? []).map(({ id, title, passes, ...story }) => {
    const checks = storyChecks({ id, title, passes, ...story }, config).map(({ name }) => name);
    const reason = passes ? undefined : parked.find((one) => one.id === id)?.reason;
    if (reason !== undefined) return { id, title, state: "parked" as const, reason, checks };
    return { id, title, state: passes ? "passes" as const : "open" as const, checks };
  });
  return {
    data: { plan, counts, stories },
    open: stories.filter(({ state }) => state === "open"),
    lines: [
      ...(plan === null ? [] : [`plan: ${plan.state} ${dim(`"${oneLine(plan.goal)}"`)}`]),
      ...(counts === null ? [] : [views.countLine(counts, { items: "stories" }, look.style)]),
      ...stories.map(({ id, title, state, reason, checks }) => {
        const notes = reason === undefined ? [] : [dim(`parked: ${oneLine(headlineOf(reason))}`)];
        const item = { id, title, notes, isUnchecked: checks.length === 0 };
        return `  ${views.itemLine({ ...item, state: state === "passes" ? "passed" : state }, look.style)}`;
      }),
    ],
    problem: error?.message ?? null,
    hint: (external === undefined ? ownHint(error) : importHint(external)) ?? await stepHint(),
  };

  async function stepHint(): Promise<string | null> {
    if (error !== null) return "`ralph validate`";
    if (plan !== null && plan.state !== "done") return "`ralph plan --resume`";
    if (counts === null || counts.total === 0) return '`ralph exec "<goal>"`';
    return hintOf(await backlog.next({ inFlight: [], parked }), COMMANDS);
  }
}

/** The PRD and the planner's state. */
export async function validateExec(validated: Validated): Promise<readonly ValidatedFile[]> {
  const { root } = validated;
  const external = (await findExternal(root)).map(importHint);
  return [
    await validateFile(root, PRD_FILE, {
      missing: external.length > 0 ? external : ['`ralph plan "<goal>"` writes it'],
      check: (text) => prdFindings(text, validated),
    }),
    await validateFile(root, PLAN_STATE_FILE, {
      missing: [],
      async check(text) {
        (await import("../plan/state.ts")).parsePlanState(text);
        return { problems: [], warnings: [] };
      },
    }),
  ];
}

async function prdFindings(text: string, validated: Validated): Promise<FileFindings> {
  const { config } = validated;
  const data = parseJson(text, PRD_FILE);
  const problems = validatePrd(data);
  if (problems.length > 0) {
    const hint = hintForPrd(text);
    return { problems: [...problems, ...hint === null ? [] : [hint]], warnings: [] };
  }
  const { branchName, userStories } = data as Prd;
  const isUnshared = config !== null && config.verify.default.length === 0;
  const stories = userStories.map((story) => {
    const own = storyCommands(story);
    return { story, own, unchecked: isUnshared && own.length === 0 };
  });
  const found = await storyFindings(validated, branchName, stories);
  return { ...found, problems: [...found.problems, ...repeatedIds(data as Prd)] };
}

/** Every story's checks, each command once; without a PRD those that the configuration names. */
export async function verifyStories(ralph: RalphContext): Promise<Verification> {
  const { verify } = await import("../../../checks/verify.ts"); // the views run no check
  const commands = ralph.config.verify.default;
  const text = await ralph.state.read(PRD_FILE);
  if (text === null && commands.length === 0) {
    throw stateMissing(PRD_FILE, '`ralph plan "<goal>"` writes it; or name commands: `--verify CMD`');
  }
  if (text === null) return await verify(ralph, [...new Set(commands)]);
  const stories = inOrder(parsePrd(text, PRD_FILE).userStories);
  return await verify(ralph, checksOnce(stories.flatMap((story) => storyChecks(story, ralph.config))));
}
