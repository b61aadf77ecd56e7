import { compileSprint } from "../compile.ts";
import { sprintDirectory } from "../paths.ts";
import { EXIT, RalphError } from "../../../errors/ralph_error.ts";
import { shippedRecipe } from "../../../recipe/loader.ts";
import { type Invocation, styleFor, toJson, usage, verbOf } from "../../../cli/command.ts";
import { endWith } from "../../../cli/end_with.ts";
import { findPlace } from "../../../cli/workspace.ts";
import { openSession } from "../../../cli/session.ts";
import { findSprint, readSprintStatus, type SprintPlace, sprintStatusLines, stepLine } from "./look.ts";
import { text as readAll } from "node:stream/consumers";
import type { Document } from "yaml";
import { changeYaml, readProgress } from "../document.ts";
import { addSteps, applyStepClaims, completeStep } from "../steps.ts";
import { changeSprint, SPRINT_STAGE, textOf } from "../backlog.ts";
import type { ClaimLine } from "../../../backlog/claims.ts";
import { addClaims, claimsIn, ensureNoRun } from "../../../context/claim_mode.ts";
import { isoNow } from "../../../host/local_date.ts";

/** `ralph sprint compile|run|status [DIR]`. */
export async function run(invocation: Invocation): Promise<number> {
  const [named = "", ...words] = invocation.arguments;
  return await verbOf({ compile, run: runSprint, status }, "sprint", named)(invocation, words);
}

async function compile(invocation: Invocation, [named]: readonly string[]): Promise<number> {
  const { flags, out, say } = invocation;
  const { root, host, paths, state, mode } = await findSprint(invocation, named);
  ensureNoRun(mode);
  const compiled = await compileSprint({ root, host, state }, {
    directory: paths.directory,
    force: flags.has("force"),
  });
  if (flags.has("json")) {
    out(toJson({ status: compiled.status, file: compiled.file, moved: compiled.moved, ...compiled.definition }));
    return EXIT.done;
  }
  const { good, dim, symbols } = styleFor(invocation, "stderr");
  const { workflow, workflowFrom, hooks, warnings } = compiled.definition;
  for (const warning of warnings) say(`warning: ${warning}`);
  if (compiled.moved !== null) say(`moved the old files to ${compiled.moved}`);
  say(`${good(symbols.passed)} ${compiled.file} ${compiled.status} ${dim(`(workflow ${workflow}, ${workflowFrom})`)}`);
  for (const { id, enabled, parallel, when } of hooks) {
    const start = when === "before" ? "before each iteration" : "after each iteration";
    const how = parallel ? `${start}, beside what follows` : `${start}, and waited for`;
    say(`  hook ${id}: ${enabled ? how : dim("off")}`);
  }
  say(`next: \`ralph sprint run ${paths.directory}\``);
  return EXIT.done;
}

async function runSprint(invocation: Invocation, [named]: readonly string[]): Promise<number> {
  const place = { ...await findPlace(invocation), workflow: { name: "sprint", why: "`ralph sprint`" } };
  await using session = await openSession(invocation, { asks: false, gates: [], place });
  const { ralph } = session;
  const goal = named === undefined ? "" : await sprintDirectory(ralph.root, invocation.host.environment.cwd, named);
  const outcome = await (await shippedRecipe(invocation.program.recipes, "sprint")).run(ralph, { goal });
  return endWith(invocation, ralph, outcome, `ralph sprint run ${goal}`.trimEnd());
}

async function status(invocation: Invocation, [named]: readonly string[]): Promise<number> {
  const report = await readSprintStatus(await findSprint(invocation, named));
  if (invocation.flags.has("json")) invocation.out(toJson(report));
  else for (const line of sprintStatusLines(report, styleFor(invocation, "stdout"))) invocation.out(line);
  return EXIT.done;
}

/** `ralph step add|done|list`: inside of a turn it adds to the turn's claims. */
export async function stepCommand(invocation: Invocation): Promise<number> {
  const [named = "", ...words] = invocation.arguments;
  return await verbOf({ add, done, list: listSteps }, "step", named)(invocation, words);
}

async function add(invocation: Invocation, [what]: readonly string[]): Promise<number> {
  const prompt = what === "-" ? await readAll(invocation.host.terminal.stdin) : what ?? "";
  if (prompt.trim() === "") throw usage("`ralph step add` needs what to do", '`ralph step add "write the tests"`');
  const place = await findSprint(invocation, invocation.flags.text("sprint"));
  let id = "";
  await change(place, (document, now) => {
    [id = ""] = addSteps(document, [prompt], { iteration: iterationOf(document), now });
    return { command: "step add", id, text: prompt };
  });
  invocation.out(invocation.flags.has("json") ? toJson({ id, prompt }) : id);
  return EXIT.done;
}

async function done(invocation: Invocation, [what]: readonly string[]): Promise<number> {
  const { flags, host, out } = invocation;
  const place = await findSprint(invocation, flags.text("sprint"));
  ensureNoRun(place.mode);
  let told = "";
  let id = what ?? "";
  await change(place, (document, now) => {
    id = what ?? pendingStep(document, host.environment.variables["RALPH_ITEM"]) ?? "";
    if (id === "") throw usage("no step is pending", "`ralph step list` shows the steps");
    const completion = completeStep(document, { id }, now);
    if (completion === "unknown") throw new RalphError("step-unknown", { details: { id, path: place.paths.progress } });
    told = completion === "already" ? "was completed already" : "completed";
    return completion === "completed" ? { command: "step done", id } : null;
  });
  out(flags.has("json") ? toJson({ id, status: "completed" }) : `${id} ${told}`);
  return EXIT.done;
}

async function listSteps(invocation: Invocation): Promise<number> {
  const { flags, out } = invocation;
  const place = await findSprint(invocation, flags.text("sprint"));
  const { steps } = readProgress(await documentText(place), place.paths.progress);
  if (flags.has("json")) out(toJson(steps));
  else for (const step of steps) out(stepLine(step, styleFor(invocation, "stdout")));
  return EXIT.done;
}

/** Makes a change, and leaves all else as it is; the claim that it answers names it elsewhere. */
async function change(place: SprintPlace, to: (document: Document, now: string) => Omit<ClaimLine, "at" | "v"> | null) {
  const { paths: { progress }, host, mode } = place;
  const now = isoNow(host);
  if (mode.status === "direct") {
    await textOf(place, progress);
    await mode.inbox.take(progress, (claims) => changeSprint(place, progress, (all) => applied(all, claims, now)));
    return await changeSprint(place, progress, (document) => to(document, now) !== null);
  }
  if (mode.status === "turn" && mode.stage !== SPRINT_STAGE) {
    throw usage("the turn that runs this command works on no sprint", "the prompt says how its results are reported");
  }
  const text = await documentText(place);
  const claims: ClaimLine[] = [];
  changeYaml(text, progress, (document) => {
    const claim = to(document, now);
    if (claim !== null) claims.push({ v: 1, at: host.clock.now(), ...claim });
    return false;
  });
  if (claims.length > 0) await addClaims(mode, progress, claims);
}

/** PROGRESS.yaml as this process may see it: with the claims of its own turn, or with what waits for the run. */
async function documentText(place: SprintPlace): Promise<string> {
  const { paths: { progress }, state, host, mode } = place;
  const [edit] = mode.status === "turn" ? await state.edited([progress]) : [];
  const text = edit?.written ?? await textOf(place, progress);
  const claims = await claimsIn(mode, progress);
  const now = isoNow(host);
  return claims.length === 0 ? text : changeYaml(text, progress, (document) => applied(document, claims, now));
}

function applied(document: Document, claims: readonly ClaimLine[], now: string): boolean {
  return applyStepClaims(document, claims, { iteration: iterationOf(document), now });
}

function iterationOf(document: Document): number {
  return Number(document.getIn(["stats", "current-iteration"]) ?? 0);
}

function pendingStep(document: Document, item: string | undefined): string | undefined {
  const { steps } = readProgress(document.toString(), "PROGRESS.yaml");
  const pending = steps.filter(({ status }) => status === "pending");
  return (pending.find(({ id }) => id === item) ?? pending[0])?.id;
}
