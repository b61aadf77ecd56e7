import { text as readAll } from "node:stream/consumers";
import { plain, tryJson } from "../../plain.ts";
import { idGiver, linesInHistory } from "../ids.ts";
import { firstDone, firstTask, type NewTask, unknownIds } from "../mutations.ts";
import { idsOf, issuesOf, tasksOf } from "../plan_file.ts";
import { readTask } from "../task_input.ts";
import { turnDefaults } from "../turn_claims.ts";
import { type Flags, type Invocation, usage, verbOf } from "../../../cli/command.ts";
import { changePlan } from "./open_plan.ts";
import type { Host } from "../../../host/types.ts";

const ADD_FLAGS = ["notes", "accept", "deps", "priority", "parent", "created-from", "supersedes"] as const;

/** `ralph task add|done|accept|reject`: each changes the plan, commits it and prints what has changed. */
export async function task(invocation: Invocation): Promise<number> {
  const { arguments: [named = "", ...words], flags } = invocation;
  const stray = ADD_FLAGS.find((name) => flags.has(name));
  if (named !== "add" && stray !== undefined) {
    throw usage(`\`ralph task ${named}\` takes no --${stray}`, "only `ralph task add` does");
  }
  return await verbOf({ add, done, accept, reject }, "task", named)(invocation, words);
}

async function add(invocation: Invocation, words: readonly string[]): Promise<number> {
  const { flags, host } = invocation;
  const [text, extra] = words;
  if (text === undefined) {
    const hint = '`ralph task add "what to do"`; `-` reads one task a line from standard input';
    throw usage("`ralph task add` needs a name", hint);
  }
  if (extra !== undefined) {
    const hint = `quote it: \`ralph task add "${words.join(" ")}"\``;
    throw usage(`the task must be one argument (got ${words.length})`, hint);
  }
  const given = (await batchOf(text, host)).map((line, index) =>
    readTask(line, text === "-" ? `line ${index + 1} of standard input` : "the task")
  );
  if (given.length === 0) throw usage("standard input holds no task", 'one a line: text, or `{"name": …}`');

  return await changePlan(invocation, async (plan, { scope, ...open }) => {
    const defaults = scope === null ? {} : turnDefaults(scope);
    const freeId = idGiver("t", idsOf(plan), host.ids.random);
    const tasks = given.map((task): NewTask => ({ ...defaults, ...task, ...fromFlags(flags), id: freeId(task.id) }));
    const missing = unknownIds(plan, tasks);
    const known = await linesInHistory(open, missing, "--all");
    const unknown = missing.filter((id) => !known.has(id)).join(", no ");
    if (unknown !== "") throw usage(`there is no ${unknown} in ${plan.file}`, "`ralph query` lists what there is");
    return tasks.map(({ id, ...record }) => ({ command: "task add", id, record }));
  });
}

function fromFlags(flags: Flags): Partial<NewTask> {
  const deps = flags.all("deps").flatMap((value) => value.split(",")).map((id) => id.trim()).filter((id) => id !== "");
  const texts = ADD_FLAGS.flatMap((name) => {
    const text = name === "deps" ? undefined : flags.text(name);
    return text === undefined ? [] : [[name.replace("-", "_"), text]];
  });
  return { ...Object.fromEntries(texts), ...(deps.length === 0 ? {} : { deps }) };
}

async function accept(invocation: Invocation, words: readonly string[]): Promise<number> {
  if (words.length > 0) {
    const hint = 'reject the others first: `ralph task reject ID "reason"`';
    throw usage("`ralph task accept` takes no argument: it accepts all done tasks", hint);
  }
  return await changePlan(invocation, () => [{ command: "task accept" }]);
}

async function done(invocation: Invocation, words: readonly string[]): Promise<number> {
  if (words.length > 1) throw usage("`ralph task done` takes one id", "`ralph query tasks` lists them");
  const given = words[0];
  return await changePlan(invocation, (plan, { scope }) => {
    const id = given ?? (scope?.stage === "BUILD" ? scope.given[0] : undefined) ?? firstTask(plan)?.id;
    return [{ command: "task done", id }];
  }, "done already: nothing was changed");
}

async function reject(invocation: Invocation, words: readonly string[]): Promise<number> {
  const [first, second, extra] = words;
  const example = '`ralph task reject [ID] "reason"`';
  if (first === undefined) throw usage("`ralph task reject` needs a reason", example);
  if (extra !== undefined) throw usage("the reason must be one argument", `quote it: ${example}`);
  return await changePlan(invocation, (plan) => {
    if (second === undefined && tasksOf(plan).some(({ id }) => id === first)) {
      throw usage(`why is ${first} rejected? A reason is needed`, `\`ralph task reject ${first} "reason"\``);
    }
    const reason = (second ?? first).trim();
    if (reason === "") throw usage("the reason is empty", example);
    return [{ command: "task reject", id: second === undefined ? firstDone(plan)?.id : first, text: reason }];
  });
}

/** The argument, or by `-` the lines of standard input that hold something. */
async function batchOf(given: string, { terminal }: Pick<Host, "terminal">): Promise<readonly string[]> {
  if (given !== "-") return [given];
  return (await readAll(terminal.stdin)).split("\n").map((line) => line.trim()).filter((line) => line !== "");
}

/** `ralph issue add|done`. */
export async function issue(invocation: Invocation): Promise<number> {
  const [named = "", ...words] = invocation.arguments;
  return await verbOf({ add: addIssue, done: doneIssue }, "issue", named)(invocation, words);
}

async function addIssue(invocation: Invocation, words: readonly string[]): Promise<number> {
  const { host } = invocation;
  if (words.length === 0) throw usage("`ralph issue add` needs a description", '`ralph issue add "what was found"`');
  const [first = ""] = words;
  const descriptions = (words.length === 1 ? await batchOf(first, host) : words).map(descriptionOf);
  if (descriptions.length === 0) throw usage("standard input holds no issue", 'one a line: text, or `{"desc": …}`');
  return await changePlan(invocation, (plan) => {
    const freeId = idGiver("i", idsOf(plan), host.ids.random);
    return descriptions.map((text) => ({ command: "issue add", id: freeId(), text }));
  });
}

async function doneIssue(invocation: Invocation, words: readonly string[]): Promise<number> {
  if (words.length > 1) throw usage("`ralph issue done` takes one id", "`ralph query issues` lists them");
  return await changePlan(invocation, (plan) => [{ command: "issue done", id: words[0] ?? issuesOf(plan)[0]?.id }]);
}

function descriptionOf(text: string): string {
  const data = text.trimStart().startsWith("{") ? tryJson(text) : undefined;
  if (data === undefined) return text.trim(); // words, braces at the start of a sentence among them
  const { desc } = plain(data);
  if (typeof desc === "string") return desc;
  throw usage(`an issue needs \`desc\` as a string (got: ${text.slice(0, 80)})`, '`ralph issue add "what was found"`');
}
