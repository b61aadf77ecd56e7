import { filesOf } from "../find_spec.ts";
import { PLAN_FILE } from "../types.ts";
import { givenUpIn, offered } from "../item.ts";
import { issueLines, isWaiting, nextAction, nextLine, planLines, taskLines, viewPlan } from "../view.ts";
import { EXIT } from "../../../errors/ralph_error.ts";
import { didYouMean, type Invocation, styleFor, toJson, usage } from "../../../cli/command.ts";
import type { Look, NextView, StatusView } from "../../../cli/look.ts";
import { hintOf } from "../../../cli/next_step.ts";
import { readOrError } from "../../read_or_error.ts";
import { offerOptions, type OpenPlan, openPlan, planAt, readPlan, tellProblems } from "./open_plan.ts";
import { checksOnce } from "../../checks_once.ts";
import { verifyCommands } from "../../../backlog/verify_commands.ts";
import { placeholderProblems, type ValidatedFile, validateFile } from "../../../cli/validated_file.ts";
import type { Validated } from "../../workflow.ts";
import { parsePlan, pendingOf, problemsOf, repeatedIn, specOf, tasksOf } from "../plan_file.ts";
import type { Check, Verification } from "../../../backlog/types.ts";
import type { RalphContext } from "../../../context/context.ts";
import { openRepository } from "../../../git/open_repository.ts";
import { unknownDependencies } from "../ids.ts";

const PARTS: readonly string[] = ["tasks", "issues", "stage", "next"];

/** `ralph query`: the plan as it is. Takes no lock and changes nothing, but for `--repair`. */
export async function query(invocation: Invocation): Promise<number> {
  const { arguments: [part = ""], flags, out } = invocation;
  if (part !== "" && !PARTS.includes(part)) {
    const parts = `parts: ${PARTS.join(", ")}; without one it prints all`;
    const hint = didYouMean(part, PARTS, parts, (near) => `ralph query ${near}`);
    throw usage(`\`ralph query\` has no part \`${part}\``, hint);
  }
  const open = await openPlan(invocation);
  if (flags.has("repair")) await repair(invocation, open);

  const plan = await readPlan(open);
  const options = await offerOptions(open);
  const view = viewPlan(plan, options);
  const { tasks, issues, next, stage } = view;
  const style = styleFor(invocation, "stdout");
  tellProblems(invocation, plan);
  const print = (data: unknown, lines: readonly string[]): void =>
    flags.has("text") ? lines.forEach((line) => out(line)) : out(toJson(data));
  if (part === "stage") out(stage);
  else if (part === "tasks") print(tasks, taskLines(tasks, style));
  else if (part === "issues") print(issues, issueLines(issues, style));
  else if (part === "next") print(next, [nextLine(next)]);
  else print(view, planLines(view, style, givenUpIn(plan, options.parked)));
  return EXIT.done;
}

async function repair({ say }: Invocation, { mode, store }: OpenPlan): Promise<void> {
  if (mode.status !== "direct") {
    throw usage("`ralph query --repair` writes the plan, and a run is at work here", "run it when the run has ended");
  }
  const warnings = await store.repair();
  if (warnings === null) say(`${PLAN_FILE} holds no conflict marker: nothing to repair`);
  else for (const warning of warnings) say(`warning: ${warning}`);
}

/** The action that the next iteration would take from the plan. */
export async function nextOfPlan(look: Look): Promise<NextView> {
  const plan = await readPlan(await planAt(look));
  tellProblems(look, plan);
  const next = nextAction(plan, await offerOptions(look));
  const isOver = next.action === "COMPLETE" || next.action === "PLAN";
  return {
    blocked: isWaiting(next),
    ...isOver ? {} : { open: nextLine(next) },
    asks: filesOf(specOf(plan)),
    data: next,
    item: [nextLine(next)],
  };
}

/** The state of the plan. */
export async function readSpecStatus(look: Look): Promise<StatusView> {
  const { value: plan, error } = await readOrError(async () => await readPlan(await planAt(look)));
  if (plan === null) {
    if (error.code !== "state-invalid") throw error;
    return { data: { plan: null }, lines: [], problem: error.message, hint: "`ralph query --repair`" };
  }
  const options = await offerOptions(look);
  const view = viewPlan(plan, options);
  return {
    data: { plan: view },
    open: pendingOf(plan).map(({ id, name }) => ({ id, title: name })),
    lines: [
      ...planLines(view, look.style, givenUpIn(plan, options.parked)).slice(0, -1), // what comes next is in the hint
      ...view.problems.map(({ line, problem }) => look.style.warn(`line ${line}: ${problem}`)),
    ],
    problem: null,
    hint: view.stage === "PLAN"
      ? "`ralph plan SPEC.md`"
      : hintOf(offered(plan, options), { run: "ralph build", retry: "ralph build --retry-blocked" }),
  };
}

/** The plan: lines that cannot be read, tasks that wait for each other or for none, commands that check nothing. */
export async function validatePlanFile({ root, host }: Validated): Promise<ValidatedFile> {
  return await validateFile(root, PLAN_FILE, {
    missing: ["`ralph plan SPEC.md` writes it"],
    async check(text) {
      const plan = parsePlan(text, PLAN_FILE);
      const repeated = repeatedIn(plan).map(({ line, problem }) => `line ${line}: ${problem}`);
      const unchecked = tasksOf(plan).flatMap(({ id, accept, line }) =>
        placeholderProblems(`line ${line}: ${id}`, verifyCommands(accept))
      );
      const problems = problemsOf(plan).map(({ line, problem }) => `line ${line}: ${problem}`);
      return {
        problems: problems.filter((problem) => !repeated.includes(problem)),
        refused: [...repeated, ...unchecked],
        warnings: await unknownDependencies(plan, { root, repository: await openRepository(host, root) }),
      };
    },
  });
}

/** The checks of every task that is done or was accepted last, each command once, then `verify.default`. */
export async function verifyTasks(ralph: RalphContext): Promise<Verification> {
  const { verify } = await import("../../../checks/verify.ts"); // the views run no check
  const { specBacklog } = await import("../backlog.ts");
  const backlog = specBacklog(ralph);
  const passed = ralph.journal.passed({ backlog: backlog.name, scope: "" });
  const asked = (await backlog.passed?.({ parked: [], passed }) ?? []).flatMap(({ checks }) =>
    checks.filter(({ scope = "" }) => scope !== "")
  );
  const shared = ralph.config.verify.default.map((command): Check => ({ name: command, command }));
  return await verify(ralph, checksOnce([...asked, ...shared]));
}
