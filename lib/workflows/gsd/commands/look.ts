import { journalIn, type Look, type NextView, type StatusView } from "../../../cli/look.ts";
import { planChecks, uncheckedLines, uncheckedPlans } from "../checks.ts";
import { circleLine, type Position, positionOf } from "../position.ts";
import { readPlanning, scanPlanning } from "../read_planning.ts";
import { readOrError } from "../../read_or_error.ts";
import type { Style } from "../../../ui/text.ts";
import { type Diagnostic, GSD_JOURNAL, type Phase, type Plan, type Planning, PLANNING_DIRECTORY } from "../types.ts";
import { join } from "node:path";
import { placeholderProblems, problemOf, type ValidatedFile } from "../../../cli/validated_file.ts";
import { pathExists } from "../../../host/files.ts";
import type { Validated } from "../../workflow.ts";
import type { Verification } from "../../../backlog/types.ts";
import type { RalphContext } from "../../../context/context.ts";

/** The plan that comes next, and what Ralph would run. */
export async function nextPlan(look: Look): Promise<NextView> {
  const planning = withoutBegun(await readPlanning(look), await journalView(look));
  const { status, next, reasons, warnings } = positionOf(planning);
  const blocked = status === "blocked" || status === "unplanned";
  const known = { kind: "plan", reasons, checks: [] };
  if (next === null) return { blocked, data: { status, id: null, title: null, file: null, ...known }, notes: reasons };
  const { id, title, file, tasks } = next;
  const checks = planChecks(next, look.config.verify.default, { skip: false }).map(({ name }) => name);
  const { bold, dim, warn, symbols } = look.style;
  const notes = [...planNotes(next), ...expectNotes(next), ...warnings];
  return {
    blocked,
    open: `${id}: ${title ?? file}`,
    data: { status: "item", id, title, file, ...known, checks },
    item: [
      `${bold(id)}  ${title ?? ""}`,
      `  ${dim(file)}`,
      ...tasks.map(({ name, checkpoint }) =>
        `  ${dim(symbols.dot)} ${name}${checkpoint ? warn(" (a checkpoint for a person)") : ""}`
      ),
      ...(checks.length === 0 ? [`  ${warn(symbols.warning)} no check: it cannot pass`] : []),
      ...checks.map((name) => `check: ${name}`),
      ...notes.map((note) => `  ${warn(symbols.warning)} ${note}`),
      ...reasons.map((reason) => dim(reason)),
    ],
  };
}

/** Reports the position in a GSD project. Reads everything, takes no lock. */
export async function readGsdStatus(look: Look): Promise<StatusView> {
  const journal = await journalView(look);
  const { value: scanned, error } = await readOrError(() => scanPlanning({ root: look.root }));
  if (scanned === null) {
    const data = { planning: null, position: null, unverified: [], unchecked: [] };
    return { data, lines: [], problem: error.message, hint: error.hint };
  }
  const planning = withoutBegun(scanned, journal);
  const found = positionOf(planning);
  const unverified = planning.phases.flatMap(({ plans }) => plans).filter(({ id, completion }) =>
    completion.done && journal.unverified.has(id)
  ).map(({ id }) => id);
  const unchecked = uncheckedPlans(found.open, look.config.verify.default);
  const position = { ...found, next: found.next?.id ?? null, open: found.open.map(({ id }) => id) };
  const { warn, symbols } = look.style;
  const warnings = [
    ...unverified.map((id) => `${id}: unverified, no check ran or the unseen one failed`),
    ...uncheckedLines(unchecked, position.open.length),
    ...planning.diagnostics.map(({ file, line, message }) => `${file}${line === 0 ? "" : `:${line}`}: ${message}`),
  ].map((line) => warn(`${symbols.warning} ${line}`));
  const data = { planning, position, unverified, unchecked };
  if (planning.phases.length > 0) {
    const lines = [...positionLines(planning, found, look.style), ...warnings];
    return { data, lines, problem: null, hint: hintFor(found) };
  }
  const problem = ".planning: no phase was found, neither a folder in phases/ nor one in ROADMAP.md";
  return { data, lines: warnings, problem, hint: "`ralph roadmap --workflow gsd`" };
}

function hintFor({ status, next, unplanned, open, reasons }: Position): string {
  if (next !== null) {
    return `\`ralph run\` executes ${next.id}${open.length > 1 ? "; `ralph run --loop` all that are left" : ""}`;
  }
  if (status === "blocked") return reasons[0] ?? "";
  const phase = unplanned[0]?.id;
  return phase === undefined ? `nothing: ${reasons[0]}` : `\`ralph discover ${phase}\`, then \`ralph plan ${phase}\``;
}

function positionLines(planning: Planning, position: Position, style: Style): readonly string[] {
  const { bold, dim, good, warn, symbols } = style;
  const lines = [
    positionLine(planning),
    `plans: ${position.complete}/${position.total} complete, ${position.open.length} open`,
  ];
  for (const phase of planning.phases) {
    const mark = phase.finished ? good(symbols.passed) : dim(symbols.open);
    lines.push(`  ${mark} Phase ${phase.number}  ${phase.name} ${dim(countOf(phase))}`);
  }
  for (const { id, note } of position.gaps) lines.push(warn(`  ${symbols.warning} ${id}: ${note}`));
  for (const { id, note } of position.withoutSummary) lines.push(dim(`  ${symbols.dot} ${id}: ${note}`));
  const { next } = position;
  if (next !== null) lines.push(`next plan: ${bold(next.id)}  ${next.title ?? ""}`);
  for (const reason of position.reasons) lines.push(`  ${dim(reason)}`);
  const rest = [...position.unplanned.map(({ note }) => note), ...position.older];
  for (const note of rest.filter((one) => !position.reasons.includes(one))) lines.push(dim(`  ${symbols.dot} ${note}`));
  return lines;
}

/** `2/3`, `2/4, 2 to be planned`, or that there is no plan. */
function countOf({ begun, complete, finished, lacking, plans, written }: Phase): string {
  if (plans.length === 0 && finished) return "done, no PLAN file";
  if (plans.length === 0) return begun ? "begun, no PLAN file" : "not planned";
  return `${complete}/${written + lacking}${lacking === 0 ? "" : `, ${lacking} to be planned`}`;
}

/** `Phase 8 of 8 (Name), plan 2 of 2: Complete`; without STATE.md the first phase that is left. */
function positionLine({ state, phases }: Planning): string {
  if (state?.kind === "none") return `position: between phases${state.status === null ? "" : `: ${state.status}`}`;
  if (state === null || state.phase === null) {
    const first = phases.find(({ finished }) => !finished);
    if (first === undefined) return "position: every phase is complete";
    const begun = first.plans.some(({ completion }) => completion.done);
    return `position: Phase ${first.number}, ${begun ? "in progress" : "not started"}`;
  }
  const of = state.totalPhases === null ? "" : ` of ${state.totalPhases}`;
  const name = state.phaseName === null ? "" : ` (${state.phaseName})`;
  const { planText, status } = state;
  const words = planText !== null && /^\d/.test(planText) ? `plan ${planText}` : planText?.toLowerCase();
  const plan = words === undefined ? "" : `, ${words}`;
  return `position: Phase ${state.phase}${of}${name}${plan}${status === null ? "" : `: ${status}`}`;
}

/** The journal knows of plans that are begun, whose attempt has not ended, and of those that no check has seen. */
async function journalView(look: Pick<Look, "own" | "repository">) {
  const journal = await journalIn(look);
  const unverified = journal?.passed(GSD_JOURNAL).filter(({ status }) => status === "unverified") ?? [];
  return {
    begun: new Set(journal?.open(GSD_JOURNAL).map(({ item }) => item.id)),
    unverified: new Set(unverified.map(({ id }) => id)),
  };
}

/** The SUMMARY of an attempt that has not ended completes nothing: nothing has been checked yet. Pure. */
function withoutBegun(planning: Planning, { begun }: { readonly begun: ReadonlySet<string> }): Planning {
  const diagnostics: Diagnostic[] = [...planning.diagnostics];
  const opened = (plan: Plan): Plan => {
    if (!begun.has(plan.id) || !plan.completion.done || plan.completion.by !== "summary") return plan;
    const message = "of an attempt that has not ended: it completes nothing before Ralph has run the checks";
    diagnostics.push({ file: plan.summaryFile, line: 0, message });
    return { ...plan, summarized: false, completion: { done: false } };
  };
  const phases = planning.phases.map((phase) => {
    const plans = phase.plans.map(opened);
    const count = plans.filter((plan, index) => plan !== phase.plans[index]).length;
    return { ...phase, plans, complete: phase.complete - count, finished: phase.finished && count === 0 };
  });
  return { ...planning, phases, diagnostics };
}

/**
 * Lists the places in `.planning/` that the readers do not understand; none of them keeps a plan from being run as it
 * is read.
 */
export async function validatePlanning({ root, config }: Validated): Promise<readonly ValidatedFile[]> {
  const path = PLANNING_DIRECTORY;
  try {
    const planning = await readPlanning({ root });
    const { diagnostics } = planning;
    const { circles, open } = positionOf(planning);
    const refused = open.flatMap((plan) => {
      const plain = planChecks(plan, [], { skip: true }).filter(({ expect }) => expect === undefined);
      return placeholderProblems(plan.id, plain.flatMap(({ command }) => command ?? []));
    });
    const problems = [...circles.map(circleLine), ...refused];
    const warnings = [
      ...uncheckedLines(uncheckedPlans(open, config?.verify.default ?? []), open.length),
      ...open.flatMap(planNotes),
    ];
    const found = [...new Set(diagnostics.map(({ file }) => file))].map(async (file) => ({
      path: file,
      present: await pathExists(join(root, file)),
      problems: [],
      warnings: diagnostics.filter((one) => one.file === file).map(({ line, message }) =>
        line === 0 ? message : `line ${line}: ${message}`
      ),
    }));
    return [{ path, present: true, problems, warnings, refused }, ...await Promise.all(found)];
  } catch (error) {
    return [{ path, present: await pathExists(join(root, path)), problems: [problemOf(error, path)], warnings: [] }];
  }
}

/** The checks of every plan that is complete, then `verify.default`. Checkpoints are a person's. */
export async function verifyPlans(ralph: RalphContext): Promise<Verification> {
  const { verify } = await import("../../../checks/verify.ts"); // the views run no check
  const { phases } = await readPlanning(ralph);
  const complete = phases.flatMap(({ plans }) => plans).filter(({ completion }) => completion.done);
  const checks = complete.flatMap((plan) =>
    planChecks(plan, [], { skip: true }).map((check) => ({
      ...check,
      name: `${plan.id} ${check.name}`,
      scope: plan.id,
    }))
  );
  return await verify(ralph, [...checks, ...ralph.config.verify.default]);
}

/** Beyond this a plan is no plan of GSD's size. */
const MOST_TASKS = 5;

/** Notes on a plan for a person, before an agent gets it. Pure. */
function planNotes({ id, phase, tasks }: Plan): readonly string[] {
  const count = tasks.filter(({ checkpoint }) => !checkpoint).length;
  if (count <= MOST_TASKS) return [];
  return [
    `${id} has ${count} tasks: GSD gives a plan 2 or 3, so that it fits into the agent's context; ` +
    `\`ralph plan ${phase}\` splits it`,
  ];
}

/** The commands of a plan that are not run, since what is expected of them is not understood. Pure. */
function expectNotes({ id, tasks, verification }: Plan): readonly string[] {
  return [...tasks, verification].flatMap(({ notCheckable }) => notCheckable)
    .filter((text) => / \(expected: .*\)$/s.test(text))
    .map((text) => `${id}: not run, since its <expect> is not understood: ${text.split("\n")[0]}`);
}
