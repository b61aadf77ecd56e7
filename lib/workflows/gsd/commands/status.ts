import { type Position, positionOf } from "../position.ts";
import { scanPlanning } from "../read_planning.ts";
import type { Planning } from "../types.ts";
import { EXIT } from "../../../errors/exit_codes.ts";
import { RalphError } from "../../../errors/ralph_error.ts";
import { openRepository } from "../../../git/open_repository.ts";
import { readLockHolder } from "../../../host/read_lock_holder.ts";
import { ownFiles } from "../../../context/own_files.ts";
import type { Invocation } from "../../../cli/command.ts";
import type { Place } from "../../../cli/workspace.ts";
import { styleFor, toJson } from "../../../cli/show.ts";

/** What `ralph status` tells of a GSD project; the JSON form is this very object. */
export interface GsdStatus {
  readonly root: string;
  readonly workflow: string;
  readonly why: string;
  readonly branch: string | null;
  readonly agent: string | null;
  readonly running: { readonly pid: number; readonly purpose: string; readonly since: string } | null;
  /** What `readPlanning()` gives; `null` where there is no `.planning/`. */
  readonly planning: Planning | null;
  readonly position:
    | Omit<Position, "next" | "open"> & { readonly next: string | null; readonly open: readonly string[] }
    | null;
  /** Why nothing can be told. */
  readonly problem: string | null;
  /** The command to run next. */
  readonly hint: string;
}

/** `ralph status` in the workflow gsd: changes nothing. */
export async function statusOfGsd(invocation: Invocation, place: Place): Promise<number> {
  const status = await readGsdStatus(invocation, place);
  if (invocation.flags.has("json")) invocation.out(toJson(status));
  else for (const line of linesOf(status, invocation)) invocation.out(line);
  return EXIT.done;
}

/** Reads everything, takes no lock. */
async function readGsdStatus({ host }: Invocation, { root, config, workflow }: Place): Promise<GsdStatus> {
  const repository = await openRepository(host, root);
  const holder = await readLockHolder(ownFiles(repository, root).runLock);
  const { planning, problem, hint } = await read(root);
  const position = planning === null ? null : positionOf(planning);
  return {
    root,
    workflow: workflow.name,
    why: workflow.why,
    branch: (await repository?.status())?.branch ?? null,
    agent: config.provider.command ?? config.provider.preset ?? null,
    running: holder === null ? null : { pid: holder.pid, purpose: holder.purpose, since: holder.since },
    planning,
    position: position === null
      ? null
      : { ...position, next: position.next?.id ?? null, open: position.open.map(({ id }) => id) },
    problem,
    hint: position === null || problem !== null ? hint : hintFor(position),
  };
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
  if (status === "blocked" && unplanned.length === 0) return reasons[0] ?? "";
  const phase = unplanned[0]?.id;
  return phase === undefined
    ? "nothing: every plan is complete"
    : `\`ralph discover ${phase}\`, then \`ralph plan ${phase}\``;
}

function linesOf(status: GsdStatus, invocation: Invocation): readonly string[] {
  const { bold, dim, good, bad, warn, symbols } = styleFor(invocation, "stdout");
  const branch = status.branch === null ? "" : ` ${symbols.dot} ${status.branch}`;
  const lines = [
    `${bold(status.workflow)} ${dim(`(${status.why}) ${symbols.dot} ${status.root}${branch}`)}`,
    `agent: ${status.agent ?? warn("none configured")}`,
  ];
  const { running, planning, position, problem } = status;
  if (running !== null) {
    lines.push(warn(`running: \`ralph ${running.purpose}\`, pid ${running.pid}, since ${running.since}`));
  }
  if (problem !== null) lines.push(`${bad(symbols.failed)} ${problem}`);
  if (planning !== null && position !== null && problem === null) {
    lines.push(
      positionLine(planning),
      `plans: ${position.complete}/${position.total} complete, ${position.open.length} open`,
    );
    for (const { number, name, plans, ticked } of planning.phases) {
      const done = plans.filter(({ completion }) => completion.done).length;
      const mark = ticked || (plans.length > 0 && done === plans.length) ? good(symbols.passed) : dim(symbols.open);
      lines.push(
        `  ${mark} Phase ${number}  ${name} ${dim(plans.length === 0 ? "not planned" : `${done}/${plans.length}`)}`,
      );
    }
    for (const { id, note } of position.gaps) lines.push(warn(`  ${symbols.warning} ${id}: ${note}`));
    for (const { id, note } of position.withoutSummary) lines.push(dim(`  ${symbols.dot} ${id}: ${note}`));
    const next = planning.phases.flatMap(({ plans }) => plans).find(({ id }) => id === position.next);
    if (next !== undefined) lines.push(`next plan: ${bold(next.id)}  ${next.title ?? ""}`);
    for (const reason of position.reasons) lines.push(`  ${dim(reason)}`);
    const rest = position.unplanned.filter(({ note }) => !position.reasons.includes(note));
    for (const { note } of rest) lines.push(dim(`  ${symbols.dot} ${note}`));
  }
  for (const { file, line, message } of planning?.diagnostics ?? []) {
    lines.push(warn(`${symbols.warning} ${file}${line === 0 ? "" : `:${line}`}: ${message}`));
  }
  return [...lines, `next: ${status.hint}`];
}

/** `Phase 8 of 8 (Name), plan 2 of 2: Complete`; without STATE.md the first phase that is left. */
function positionLine({ state, phases }: Planning): string {
  if (state?.kind === "none") return `position: between phases${state.status === null ? "" : `: ${state.status}`}`;
  if (state === null || state.phase === null) {
    const first = phases.find(({ plans, ticked }) =>
      !ticked && (plans.length === 0 || plans.some(({ completion }) => !completion.done))
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
