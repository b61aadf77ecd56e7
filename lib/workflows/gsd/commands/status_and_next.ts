import type { Look } from "../../../cli/look.ts";
import type { NextView } from "../../../cli/next_view.ts";
import { planChecks, uncheckedLines, uncheckedPlans } from "../checks.ts";
import { type JournalView, journalView, withoutBegun } from "../journal_view.ts";
import { type Position, positionOf } from "../position.ts";
import { readPlanning, scanPlanning } from "../read_planning.ts";
import type { StatusView } from "../../../cli/status_view.ts";
import { RalphError } from "../../../errors/ralph_error.ts";
import type { Style } from "../../../ui/style.ts";
import type { Planning } from "../types.ts";

/** The plan that comes next, and what Ralph would run. */
export async function nextPlan(look: Look): Promise<NextView> {
  const { status, next, reasons } = positionOf(withoutBegun(await readPlanning(look), await journalView(look)));
  const checks = next === null ? [] : planChecks(next, look.config.verify.default, false).map(({ name }) => name);
  const blocked = status === "blocked" || status === "unplanned";
  const data = {
    status: next === null ? status : "item",
    id: next?.id ?? null,
    kind: "plan",
    title: next?.title ?? null,
    file: next?.file ?? null,
    checks,
    reasons,
  };
  if (next === null) return { blocked, data, notes: reasons };
  const { bold, dim, warn, symbols } = look.style;
  return {
    blocked,
    data,
    item: [
      `${bold(next.id)}  ${next.title ?? ""}`,
      `  ${dim(next.file)}`,
      ...next.tasks.map(({ name, checkpoint }) =>
        `  ${dim(symbols.dot)} ${name}${checkpoint ? warn(" (a checkpoint for a person)") : ""}`
      ),
      ...(checks.length === 0 ? [`  ${warn(symbols.warning)} no check: it cannot pass`] : []),
      ...checks.map((name) => `check: ${name}`),
      ...reasons.map((reason) => dim(reason)),
    ],
  };
}

type ShownPosition = Omit<Position, "next" | "open"> & {
  readonly next: string | null;
  readonly open: readonly string[];
};

/** Where a GSD project is. Reads everything, takes no lock. */
export async function readGsdStatus(look: Look): Promise<StatusView> {
  const { root, config, style } = look;
  const journal = await journalView(look);
  const { planning: scanned, problem, hint } = await read(root);
  const planning = scanned === null ? null : withoutBegun(scanned, journal);
  const found = planning === null ? null : positionOf(planning);
  const unverified = planning === null ? [] : unverifiedIn(planning, journal);
  const unchecked = found === null ? [] : uncheckedPlans(found.open, config.verify.default);
  const position = found === null
    ? null
    : { ...found, next: found.next?.id ?? null, open: found.open.map(({ id }) => id) };
  return {
    data: { planning, position, unverified, unchecked },
    lines: planning === null || position === null ? [] : [
      ...(problem === null ? positionLines(planning, position, style) : []),
      ...unverified.map((id) =>
        style.warn(`${style.symbols.warning} ${id}: unverified, only the agent says that it is done`)
      ),
      ...uncheckedLines(unchecked, position.open.length).map((line) => style.warn(`${style.symbols.warning} ${line}`)),
      ...planning.diagnostics.map(({ file, line, message }) =>
        style.warn(`${style.symbols.warning} ${file}${line === 0 ? "" : `:${line}`}: ${message}`)
      ),
    ],
    problem,
    hint: found === null || problem !== null ? hint : hintFor(found),
  };
}

/** Complete plans that no check has seen. */
function unverifiedIn({ phases }: Planning, { unverified }: JournalView): readonly string[] {
  return phases.flatMap(({ plans }) => plans).filter(({ id, completion }) => completion.done && unverified.has(id))
    .map(({ id }) => id);
}

async function read(
  root: string,
): Promise<{ readonly planning: Planning | null; readonly problem: string | null; readonly hint: string }> {
  try {
    const planning = await scanPlanning({ root });
    const problem = planning.phases.length === 0
      ? ".planning: no phase was found, neither a folder in phases/ nor one in ROADMAP.md"
      : null;
    return { planning, problem, hint: "`ralph roadmap --workflow gsd`" };
  } catch (error) {
    if (RalphError.isInstance(error)) return { planning: null, problem: error.message, hint: error.hint };
    throw error;
  }
}

function hintFor({ status, next, unplanned, open, reasons }: Position): string {
  if (next !== null) {
    return `\`ralph run\` executes ${next.id}${open.length > 1 ? "; `ralph run --loop` all that are left" : ""}`;
  }
  if (status === "blocked") return reasons[0] ?? "";
  const phase = unplanned[0]?.id;
  return phase === undefined ? `nothing: ${reasons[0]}` : `\`ralph discover ${phase}\`, then \`ralph plan ${phase}\``;
}

function positionLines(
  planning: Planning,
  position: ShownPosition,
  { bold, dim, good, warn, symbols }: Style,
): readonly string[] {
  const lines = [
    positionLine(planning),
    `plans: ${position.complete}/${position.total} complete, ${position.open.length} open`,
  ];
  for (const { number, name, begun, finished, plans } of planning.phases) {
    const done = plans.filter(({ completion }) => completion.done).length;
    const mark = finished || (plans.length > 0 && done === plans.length) ? good(symbols.passed) : dim(symbols.open);
    const without = finished ? "done, no PLAN file" : begun ? "begun, no PLAN file" : "not planned";
    lines.push(`  ${mark} Phase ${number}  ${name} ${dim(plans.length === 0 ? without : `${done}/${plans.length}`)}`);
  }
  for (const { id, note } of position.gaps) lines.push(warn(`  ${symbols.warning} ${id}: ${note}`));
  for (const { id, note } of position.withoutSummary) lines.push(dim(`  ${symbols.dot} ${id}: ${note}`));
  const next = planning.phases.flatMap(({ plans }) => plans).find(({ id }) => id === position.next);
  if (next !== undefined) lines.push(`next plan: ${bold(next.id)}  ${next.title ?? ""}`);
  for (const reason of position.reasons) lines.push(`  ${dim(reason)}`);
  const rest = position.unplanned.filter(({ note }) => !position.reasons.includes(note));
  for (const { note } of rest) lines.push(dim(`  ${symbols.dot} ${note}`));
  return lines;
}

/** `Phase 8 of 8 (Name), plan 2 of 2: Complete`; without STATE.md the first phase that is left. */
function positionLine({ state, phases }: Planning): string {
  if (state?.kind === "none") return `position: between phases${state.status === null ? "" : `: ${state.status}`}`;
  if (state === null || state.phase === null) {
    const first = phases.find(({ finished, plans }) =>
      !finished && (plans.length === 0 || plans.some(({ completion }) => !completion.done))
    );
    if (first === undefined) return "position: every phase is complete";
    const begun = first.plans.some(({ completion }) => completion.done);
    return `position: Phase ${first.number}, ${begun ? "in progress" : "not started"}`;
  }
  const of = state.totalPhases === null ? "" : ` of ${state.totalPhases}`;
  const name = state.phaseName === null ? "" : ` (${state.phaseName})`;
  const plan = state.planText === null
    ? ""
    : /^\d/.test(state.planText)
    ? `, plan ${state.planText}`
    : `, ${state.planText.toLowerCase()}`;
  return `position: Phase ${state.phase}${of}${name}${plan}${state.status === null ? "" : `: ${state.status}`}`;
}
