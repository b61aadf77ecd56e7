import type { Document } from "yaml";
import { changeYaml, readProgress } from "../document.ts";
import { addSteps, completeStep, normalizeSteps } from "../steps.ts";
import { RalphError } from "../../../errors/ralph_error.ts";
import { EXIT } from "../../../errors/exit_codes.ts";
import type { Invocation } from "../../../cli/command.ts";
import { usage } from "../../../cli/parse.ts";
import { styleFor, toJson } from "../../../cli/show.ts";
import { findSprint, type SprintPlace } from "./place.ts";
import { firstLine } from "./status.ts";
import { nearest } from "../../../errors/nearest.ts";

/** `ralph step add|done|list`: takes the store lock alone, so that an agent can run it inside a run. */
export async function run(invocation: Invocation): Promise<number> {
  const [verb = "", what] = invocation.arguments;
  const verbs: Readonly<Record<string, (invocation: Invocation, what: string | undefined) => Promise<number>>> = {
    add,
    done,
    list,
  };
  const action = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
  if (action !== undefined) return await action(invocation, what);
  const near = nearest(verb, Object.keys(verbs));
  throw usage(
    `\`ralph step\` knows no ${verb}`,
    near === null ? "`ralph help step` shows what there is" : `did you mean \`ralph step ${near}\`?`,
  );
}

async function add(invocation: Invocation, what: string | undefined): Promise<number> {
  const prompt = what === "-" ? await standardInput(invocation) : what ?? "";
  if (prompt.trim() === "") throw usage("`ralph step add` needs what to do", '`ralph step add "write the tests"`');
  const place = await findSprint(invocation, invocation.flags.text("sprint"));
  const now = new Date(place.host.clock.now()).toISOString();
  let id = "";
  await change(place, (document) => {
    const iteration = Number(document.getIn(["stats", "current-iteration"]) ?? 0);
    id = addSteps(document, [prompt], { iteration, now })[0] ?? "";
    return true;
  });
  invocation.out(invocation.flags.has("json") ? toJson({ id, prompt }) : id);
  return EXIT.done;
}

async function done(invocation: Invocation, what: string | undefined): Promise<number> {
  const { flags, host, out } = invocation;
  const place = await findSprint(invocation, flags.text("sprint"));
  const now = new Date(host.clock.now()).toISOString();
  let told = "";
  let id = what ?? "";
  await change(place, (document) => {
    id = what ?? pendingStep(document, host.environment.variables["RALPH_ITEM"]) ?? "";
    if (id === "") throw usage("no step is pending", "`ralph step list` shows the steps");
    const completion = completeStep(document, { id }, now);
    if (completion === "unknown") throw new RalphError("step-unknown", { details: { id, path: place.paths.progress } });
    told = completion === "already" ? "was completed already" : "completed";
    return completion === "completed";
  });
  out(flags.has("json") ? toJson({ id, status: "completed" }) : `${id} ${told}`);
  return EXIT.done;
}

async function list(invocation: Invocation): Promise<number> {
  const { flags, out } = invocation;
  const { paths, state } = await findSprint(invocation, flags.text("sprint"));
  const { steps } = readProgress(await textOf(state, paths.progress), paths.progress);
  if (flags.has("json")) out(toJson(steps));
  const { good, dim, symbols } = styleFor(invocation, "stdout");
  if (!flags.has("json")) {
    for (const { id, prompt, status } of steps) {
      out(
        `${status === "completed" ? good(symbols.passed) : dim(symbols.open)} ${id}  ${firstLine(prompt)}`,
      );
    }
  }
  return EXIT.done;
}

/** Every change leaves each step with an id of its own. */
async function change({ paths, state }: SprintPlace, to: (document: Document) => boolean): Promise<void> {
  await textOf(state, paths.progress);
  await state.amend(paths.progress, (text) =>
    text === null ? null : changeYaml(text, paths.progress, (document) => {
      const normalized = normalizeSteps(document).length > 0;
      return to(document) || normalized;
    }));
}

function pendingStep(document: Document, item: string | undefined): string | undefined {
  const { steps } = readProgress(document.toString(), "PROGRESS.yaml");
  const pending = steps.filter(({ status }) => status === "pending");
  return (pending.find(({ id }) => id === item) ?? pending[0])?.id;
}

async function textOf(state: SprintPlace["state"], path: string): Promise<string> {
  const text = await state.read(path);
  if (text !== null) return text;
  throw new RalphError("state-missing", { details: { path }, hint: "`ralph sprint compile DIR` writes it" });
}

async function standardInput({ host }: Invocation): Promise<string> {
  let text = "";
  for await (const chunk of host.terminal.stdin) text += chunk;
  return text;
}
