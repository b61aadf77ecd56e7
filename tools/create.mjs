/**
 * Begins a backlog or an agent's adapter: writes module and test, and registers the module. Its test passes at once.
 *
 *   npm run create -- backlog NAME    lib/backlog/NAME.ts, exported by `ralph/backlog`
 *   npm run create -- adapter NAME    lib/agents/NAME/driver.ts, known as `--agent NAME`
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { denoPath, mustRun, ROOT } from "./runtimes.mjs";

function backlogModule({ name, camel, pascal }) {
  return `import type { StateFiles } from "./state_files.ts";
import type { Backlog, ParkedItem } from "./types.ts";

/** Where the tasks are and what must pass. */
export interface ${pascal}BacklogOptions {
  /** A JSON file with a list of tasks, relative to the root. @default "${name}.json" */
  readonly file?: string;
  /** Commands that must pass after every task. @default none */
  readonly checks?: readonly string[];
}

/** A task in the file. */
export interface ${pascal}Task {
  readonly id: string;
  readonly title: string;
  readonly done: boolean;
}

/**
 * The tasks of a JSON file as a backlog.
 *
 * @example Work off a file of tasks
 * \`\`\`ts
 * import { runLoop } from "ralph";
 * import { ${camel}Backlog } from "ralph/backlog";
 * import { testContext } from "ralph/testing";
 *
 * await using ralph = await testContext({
 *   files: { "${name}.json": '[{ "id": "1", "title": "write a.txt", "done": false }]' },
 *   agent: { turns: [{ write: { "a.txt": "a" }, say: "<ralph>DONE</ralph>" }] },
 * });
 * const run = await runLoop(ralph, ${camel}Backlog(ralph, { checks: ["test -f a.txt"] }));
 * console.log(run.status); // passed
 * \`\`\`
 */
export function ${camel}Backlog(
  { state }: { readonly state: StateFiles },
  { file = "${name}.json", checks = [] }: ${pascal}BacklogOptions = {},
): Backlog<${pascal}Task> {
  const read = (text: string | null): readonly ${pascal}Task[] => JSON.parse(text ?? "[]");
  const load = async (): Promise<readonly ${pascal}Task[]> => read(await state.read(file));
  const mark = async (id: string, done: boolean): Promise<void> => {
    const isOther = (task: ${pascal}Task): boolean => task.id === id && task.done !== done;
    await state.update(file, (text) => {
      const tasks = read(text);
      if (!tasks.some(isOther)) return text; // nothing is written that no commit names
      return \`\${JSON.stringify(tasks.map((task) => (isOther(task) ? { ...task, done } : task)), null, 2)}\\n\`;
    });
  };

  const isParked = ({ id, title }: ${pascal}Task, parked: readonly ParkedItem[]): boolean =>
    parked.some((item) => item.id === id && item.fingerprint === title);
  const named = checks.map((command) => ({ name: command, command }));

  return {
    name: "${name}",
    scope: file,
    stateFiles: [file],
    unverified: "block",
    async overview({ parked }) {
      const tasks = await load();
      const left = tasks.filter(({ done }) => !done);
      const open = left.filter((task) => !isParked(task, parked)).map(({ id }) => id);
      const counts = { total: tasks.length, passed: tasks.length - left.length, open: open.length };
      return { ...counts, parked: left.length - open.length, unchecked: checks.length === 0 ? open : [] };
    },
    async next({ inFlight, parked }) {
      const open = (await load()).filter(({ done }) => !done);
      const task = open.find((one) => !inFlight.includes(one.id) && !isParked(one, parked));
      if (task !== undefined) {
        const { id, title } = task;
        return { status: "item", item: { id, kind: "task", title, fingerprint: title, data: task } };
      }
      if (inFlight.length > 0) return { status: "waiting" };
      if (open.length > 0) return { status: "blocked", reasons: parked.map(({ id, reason }) => \`\${id}: \${reason}\`) };
      return { status: "done" };
    },
    work({ title }, { previous }) {
      const failure = previous !== null && "message" in previous ? \`The last attempt failed: \${previous.message}\\n\\n\` : "";
      return Promise.resolve({
        prompt: \`Do this: \${title}\\n\\n\${failure}When it is done, print \\\`<ralph>DONE</ralph>\\\` on a line of its own.\`,
        checks: named,
      });
    },
    async passed() {
      return (await load()).filter(({ done }) => done).map(({ id, title }) => ({ id, title, checks: named }));
    },
    async reopen(ids, reason) {
      for (const id of ids) await mark(id, false);
      return { status: "open", reason, commit: { subject: "sent back by the final check", paths: [file], work: false } };
    },
    async settle({ id, title }, attempt) {
      const passed = attempt.status === "verified" || attempt.status === "unverified";
      await mark(id, passed); // also after a pass, which a refused commit reverts
      if (passed) return { status: "passed", commit: { subject: \`feat: \${title}\`, paths: [file], work: true } };
      if (attempt.status === "interrupted") return { status: "open" };
      const reason = "message" in attempt ? attempt.message : attempt.status;
      const isOver = attempt.status === "blocked" || attempt.last === true;
      return { status: isOver ? "parked" : "open", reason };
    },
  };
}
`;
}

function backlogTest({ name, camel }) {
  return `import { describe, test } from "vitest";
import { ${camel}Backlog } from "../../lib/backlog/${name}.ts";
import { backlogContract } from "../../lib/testing/backlog_contract.ts";
import { testContext } from "../../lib/testing/test_context.ts";

const FILE = JSON.stringify([
  { id: "1", title: "one", done: false },
  { id: "2", title: "two", done: false },
]);

describe("${camel}Backlog() keeps the contract", () => {
  const cases = backlogContract({
    async open(store) {
      const ralph = await testContext({ files: { "${name}.json": FILE } });
      const open = () => ${camel}Backlog(ralph, { checks: store === "checked" ? ["true"] : [] });
      return {
        backlog: open(),
        reopen: () => Promise.resolve(open()),
        snapshot: async () => await ralph.state.read("${name}.json") ?? "",
        root: ralph.root,
        [Symbol.asyncDispose]: () => ralph[Symbol.asyncDispose](),
      };
    },
  });
  test.each(cases)("$name", ({ run }) => run());
});
`;
}

function adapterModule({ name, camel }) {
  return `import type { AdapterInvocation, AdapterOptions, Driver } from "../adapter.ts";

/** \`${name}\`: the prompt on standard input. Give it the flags that make it work without questions. */
function ${camel}Arguments({ prompt, model }: AdapterOptions): AdapterInvocation {
  return { arguments: model === null ? [] : ["--model", model], input: prompt };
}

/** How \`${name}\` is called. It prints plain text; a \`translator\` would read a stream of events. */
export const DRIVER: Driver = {
  arguments: ${camel}Arguments,
  interactive: null,
  translator: null,
};
`;
}

function adapterRow({ name }) {
  return `  {
    name: "${name}",
    programs: ["${name}"],
    proof: { kind: "documented" },
    install: "see the documentation of ${name}",
    login: "see the documentation of ${name}",
    takesModel: true,
    takesReasoning: false,
    takesTerminal: false,
    load: async () => (await import("./${name}/driver.ts")).DRIVER,
  },
`;
}

function adapterTest({ name }) {
  return `import { expect, test } from "vitest";
import { findAdapter } from "../../lib/agents/adapters.ts";

test("${name} gets the prompt on standard input, and the model that was chosen", async () => {
  const driver = await findAdapter("${name}")?.load();

  const invocation = driver?.arguments({ prompt: "Do it.\\n", model: "large", reasoning: null, folder: "/turn" });

  expect(invocation).toEqual({ arguments: ["--model", "large"], input: "Do it.\\n" });
});
`;
}

const written = [];

function write(path, text) {
  if (existsSync(join(ROOT, path))) throw new Error(`${path} exists`);
  mkdirSync(dirname(join(ROOT, path)), { recursive: true });
  writeFileSync(join(ROOT, path), text);
  written.push(path);
  console.log(path);
}

function change(path, edit) {
  writeFileSync(join(ROOT, path), edit(readFileSync(join(ROOT, path), "utf8")));
  written.push(path);
  console.log(`${path} (registered)`);
}

const KINDS = {
  backlog(names) {
    const { name, camel, pascal } = names;
    write(`lib/backlog/${name}.ts`, backlogModule(names));
    write(`test/backlog/${name}.test.ts`, backlogTest(names));
    const types = `type ${pascal}BacklogOptions, type ${pascal}Task`;
    change(
      "lib/mod/backlog.ts",
      (text) => `${text}export { ${camel}Backlog, ${types} } from "../backlog/${name}.ts";\n`,
    );
  },
  adapter(names) {
    write(`lib/agents/${names.name}/driver.ts`, adapterModule(names));
    write(`test/agents/${names.name}.test.ts`, adapterTest(names));
    change("lib/agents/adapters.ts", (text) => text.replace(/^\];$/m, () => `${adapterRow(names)}];`));
  },
};

try {
  const [kind = "", name = "", ...more] = process.argv.slice(2);
  if (!Object.hasOwn(KINDS, kind) || !/^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/.test(name) || more.length > 0) {
    throw new Error("usage: npm run create -- backlog|adapter NAME (lower case, words joined by _)");
  }
  const camel = name.replaceAll(/_(\w)/g, (_match, letter) => letter.toUpperCase());
  KINDS[kind]({ name, camel, pascal: camel[0].toUpperCase() + camel.slice(1) });
  await mustRun(denoPath(), ["fmt", "--quiet", ...written], { capture: true });
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
