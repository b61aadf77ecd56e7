import { EXIT } from "../../../errors/exit_codes.ts";
import { problemsOf } from "../plan_file.ts";
import { changeOf, permitted, withAdditions, withClaims } from "../apply_claims.ts";
import { onlyAdds, type PlanCommand, type TurnScope } from "../stage_claims.ts";
import { type Mutated, type PlanStore, planStore } from "../store.ts";
import { scopeOfTurn } from "../turn_context.ts";
import { type Plan, PLAN_FILE } from "../types.ts";
import { type ViewOptions, viewPlan } from "../next_action.ts";
import type { PlanView } from "../view.ts";
import { givenUpIn } from "./given_up.ts";
import type { Repository } from "../../../git/types.ts";
import { appendClaims, type ClaimLine, readClaims } from "../../../backlog/claims.ts";
import { type ClaimMode, claimMode } from "../../../context/claim_mode.ts";
import { RalphError } from "../../../errors/ralph_error.ts";
import type { Invocation } from "../../../cli/command.ts";
import { type Look, openLook } from "../../../cli/look.ts";
import { findPlace, type Place } from "../../../cli/workspace.ts";
import { changedLines, changedRecords } from "./changed_lines.ts";
import { planLines } from "./plan_lines.ts";
import { styleFor, toJson } from "../../../cli/show.ts";

/** The plan of the spec workflow, for commands that start no agent. */
export interface OpenPlan extends Place {
  readonly repository: Repository | null;
  readonly store: PlanStore;
  readonly mode: ClaimMode;
}

/** Opens the plan below the root. @throws {RalphError} root-missing, config-invalid, usage */
export async function openPlan(invocation: Invocation): Promise<Look & OpenPlan> {
  return await planAt(await openLook(invocation, await findPlace(invocation)));
}

/** The plan of a project that is looked at. */
export async function planAt<Place extends Look>(look: Place): Promise<Place & OpenPlan> {
  return { ...look, store: planStore(look), mode: await claimMode(look) };
}

/** Computes the claims of one command from the plan as it is. */
export type Asking = (
  plan: Plan,
  place: { readonly scope: TurnScope | null },
) => readonly ClaimLine[] | Promise<readonly ClaimLine[]>;

/**
 * Makes a change and prints what has changed: a line, or the task with `--json`. Inside of a turn it is a claim; while a run is at work elsewhere, what only
 * adds waits in the inbox.
 *
 * @returns the exit code
 * @throws {RalphError} usage, run-at-work
 */
export async function changePlan(invocation: Invocation, open: OpenPlan, asking: Asking, same = ""): Promise<number> {
  const { mode, store } = open;
  if (mode.status !== "direct") {
    const { before, plan, changed } = await claimed(open, asking, mode);
    if (!changed && same !== "") invocation.say(same);
    showChange(invocation, before, plan);
    if (mode.status === "inbox") {
      invocation.say(`a run is at work here (pid ${mode.pid}): it applies this after its turn`);
    }
    return EXIT.done;
  }
  await mode.inbox.take(PLAN_FILE, async (claims) => {
    await store.mutate((plan) => ({ plan: withAdditions(plan, claims), subject: "ralph: update plan" }));
  });
  let before: Plan | null = null;
  const { plan, changed, warnings } = await store.mutate(async (found, { head }) => {
    before = found;
    return changeOf(found, await asking(found, { scope: null }), { head });
  });
  for (const warning of warnings) invocation.say(`warning: ${warning}`);
  if (!changed && same !== "") invocation.say(same);
  showChange(invocation, before ?? plan, plan);
  return EXIT.done;
}

function showChange(invocation: Invocation, before: Plan, after: Plan): void {
  tellProblems(invocation, after);
  if (!invocation.flags.has("json")) {
    for (const line of changedLines(before, after)) invocation.out(line);
    return;
  }
  const records = changedRecords(before, after).map(({ record }) => record);
  invocation.out(toJson(records.length === 1 ? records[0] : records));
}

/** Adds to the turn's claims, or to the inbox, what the stage permits. @returns the plan before, and with them */
async function claimed(
  { store }: OpenPlan,
  asking: Asking,
  mode: Exclude<ClaimMode, { readonly status: "direct" }>,
): Promise<Pick<Mutated, "changed" | "plan"> & { readonly before: Plan }> {
  const state = await store.load();
  if (mode.status === "inbox") {
    const { inbox, pid, purpose } = mode;
    const plan = withAdditions(state, await inbox.read(PLAN_FILE));
    const claims = await asking(plan, { scope: null });
    if (!claims.every(onlyAdds)) throw new RalphError("run-at-work", { details: { pid, purpose } });
    const after = changeOf(plan, claims, { head: null });
    if (after !== null) await inbox.add(PLAN_FILE, claims);
    return { before: plan, plan: after?.plan ?? plan, changed: after !== null };
  }
  const scope = scopeOfTurn(state, mode);
  const plan = withClaims(state, scope, await readClaims(mode.file));
  const claims = (await asking(plan, { scope })).map((claim) => permitted(scope, plan, claim));
  const after = changeOf(plan, claims, { head: null, upsert: scope.stage === "PLAN" });
  if (after !== null) await appendClaims(mode.file, claims);
  return { before: plan, plan: after?.plan ?? plan, changed: after !== null };
}

/** The plan as this process may see it: with the claims of its own turn, or with what waits for the run. */
export async function readPlan({ mode, store }: Pick<OpenPlan, "mode" | "store">): Promise<Plan> {
  const state = await store.load();
  if (mode.status !== "turn") return withAdditions(state, await mode.inbox.read(PLAN_FILE));
  const claims = await readClaims(mode.file);
  return claims.length === 0 ? state : withClaims(state, scopeOfTurn(state, mode), claims);
}

/** A claim of this moment. */
export function claimLine(
  { host }: Pick<Invocation, "host">,
  command: PlanCommand,
  rest: Omit<ClaimLine, "v" | "command" | "at"> = {},
): ClaimLine {
  return { v: 1, command, at: host.clock.now(), ...rest };
}

/** Prints the whole state, and on standard error what is wrong with the file. */
export function showPlan(invocation: Invocation, plan: Plan, options: ViewOptions): void {
  tellProblems(invocation, plan);
  const view: PlanView = viewPlan(plan, options);
  if (!invocation.flags.has("text")) return invocation.out(toJson(view));
  for (const line of planLines(view, styleFor(invocation, "stdout"), givenUpIn(plan, options.parked ?? []))) {
    invocation.out(line);
  }
}

/** Lines that cannot be read are reported with every look at the plan. */
export function tellProblems({ say }: Pick<Invocation, "say">, plan: Plan): void {
  for (const { line, problem } of problemsOf(plan)) say(`warning: ${PLAN_FILE}:${line}: ${problem}`);
}
