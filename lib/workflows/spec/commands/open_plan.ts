import { problemsOf } from "../plan_file.ts";
import { changeOf, onlyAdds, permitted, scopeOfTurn, type TurnScope, withClaims } from "../turn_claims.ts";
import { type Mutated, type PlanStore, planStore } from "../store.ts";
import { type Plan, PLAN_FILE } from "../types.ts";
import type { OfferOptions } from "../item.ts";
import type { ClaimLine, Inbox } from "../../../backlog/claims.ts";
import { addClaims, type ClaimMode, claimMode, claimsIn, ensureNoRun } from "../../../context/claim_mode.ts";
import { EXIT } from "../../../errors/ralph_error.ts";
import { type Invocation, toJson } from "../../../cli/command.ts";
import { type Look, openLook, parkedIn } from "../../../cli/look.ts";
import { findPlace } from "../../../cli/workspace.ts";
import { changedLines, changedRecords } from "../view.ts";

/** The plan of the spec workflow, for commands that start no agent. */
export interface OpenPlan extends Look {
  readonly store: PlanStore;
  readonly mode: ClaimMode;
}

/** Opens the plan below the root. @throws {RalphError} root-missing, config-invalid, usage */
export async function openPlan(invocation: Invocation): Promise<OpenPlan> {
  return await planAt(await openLook(invocation, await findPlace(invocation)));
}

/** The plan of a project that is looked at. */
export async function planAt(look: Look): Promise<OpenPlan> {
  return { ...look, store: planStore(look), mode: await claimMode(look) };
}

/** The facts beside the plan that decide what the loop would take up. */
export async function offerOptions(look: Look): Promise<OfferOptions & Required<Pick<OfferOptions, "parked">>> {
  return { limit: look.config.limits.rejections, parked: await parkedIn(look, { name: "spec" }) };
}

type Asked = readonly Omit<ClaimLine, "at" | "v">[];

/** Computes the claims of one command from the plan as it is. */
export type Asking = (
  plan: Plan,
  place: Omit<OpenPlan, "scope"> & { readonly scope: TurnScope | null },
) => Asked | Promise<Asked>;

type Claiming = (plan: Plan, scope: TurnScope | null) => Promise<readonly ClaimLine[]>;

/**
 * Makes a change and prints what has changed: a line, or the task with `--json`. Inside of a turn it is a claim; while a run is at work elsewhere, what only
 * adds waits in the inbox.
 *
 * @returns the exit code
 * @throws {RalphError} usage, run-at-work
 */
export async function changePlan(invocation: Invocation, asking: Asking, same = ""): Promise<number> {
  const open = await openPlan(invocation);
  const { mode, host } = open;
  const claiming: Claiming = async (plan, scope) =>
    (await asking(plan, { ...open, scope })).map((claim) => ({ v: 1, at: host.clock.now(), ...claim }));
  const { before, plan, warnings } = mode.status === "direct"
    ? await made(open, claiming, mode.inbox)
    : await claimed(open, claiming, mode);
  for (const warning of warnings) invocation.say(`warning: ${warning}`);
  if (plan === before && same !== "") invocation.say(same);
  tellProblems(invocation, plan);
  if (invocation.flags.has("json")) {
    const records = changedRecords(before, plan).map(({ record }) => record);
    invocation.out(toJson(records.length === 1 ? records[0] : records));
  } else for (const line of changedLines(before, plan)) invocation.out(line);
  if (mode.status === "inbox") {
    invocation.say(`a run is at work here (pid ${mode.pid}): it applies this after its turn`);
  }
  return EXIT.done;
}

/** Changes the file, after what waited for a run that has ended. */
async function made({ store }: OpenPlan, claiming: Claiming, inbox: Inbox): Promise<Mutated> {
  await inbox.take(PLAN_FILE, async (claims) => {
    await store.mutate((plan) => ({ plan: withClaims(plan, null, claims), subject: "ralph: update plan" }));
  });
  return await store.mutate(async (plan, { head }) => changeOf(plan, await claiming(plan, null), { head }));
}

/** Adds to the turn's claims, or to the inbox, what the stage permits. */
async function claimed(open: OpenPlan, claiming: Claiming, mode: Exclude<ClaimMode, { readonly status: "direct" }>) {
  const before = await readPlan(open);
  const scope = mode.status === "turn" ? scopeOfTurn(await open.store.load(), mode) : null;
  const asked = await claiming(before, scope);
  if (!asked.every(onlyAdds)) ensureNoRun(mode);
  const claims = scope === null ? asked : asked.map((claim) => permitted(scope, before, claim));
  const change = changeOf(before, claims, { head: null, upsert: scope?.stage === "PLAN" });
  if (change !== null) await addClaims(mode, PLAN_FILE, claims);
  return { before, plan: change?.plan ?? before, warnings: [] };
}

/** The plan as this process may see it: with the claims of its own turn, or with what waits for the run. */
export async function readPlan({ mode, store }: Pick<OpenPlan, "mode" | "store">): Promise<Plan> {
  const plan = await store.load();
  const claims = await claimsIn(mode, PLAN_FILE);
  return claims.length === 0 ? plan : withClaims(plan, mode.status === "turn" ? scopeOfTurn(plan, mode) : null, claims);
}

/** Lines that cannot be read are reported with every look at the plan. */
export function tellProblems({ say }: Pick<Invocation, "say">, plan: Plan): void {
  for (const { line, problem } of problemsOf(plan)) say(`warning: ${PLAN_FILE}:${line}: ${problem}`);
}
