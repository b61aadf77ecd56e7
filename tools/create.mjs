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
import type { Backlog } from "./types.ts";

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

const MOST_ATTEMPTS = 3;

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
    const change = (task: ${pascal}Task): ${pascal}Task => (task.id === id ? { ...task, done } : task);
    await state.update(file, (text) => \`\${JSON.stringify(read(text).map(change), null, 2)}\\n\`);
  };

  return {
    name: "${name}",
    scope: file,
    stateFiles: [file],
    unverified: "block",
    async overview({ parked }) {
      const tasks = await load();
      const open = tasks.filter(({ id, done }) => !done && !parked.some((item) => item.id === id)).map(({ id }) => id);
      const passed = tasks.filter(({ done }) => done).length;
      const unchecked = checks.length === 0 ? open : [];
      return { total: tasks.length, passed, open: open.length, parked: parked.length, unchecked };
    },
    async next({ inFlight, parked }) {
      const open = (await load()).filter(({ done }) => !done);
      const task = open.find(({ id }) => !inFlight.includes(id) && !parked.some((item) => item.id === id));
      if (task !== undefined) {
        return { status: "item", item: { id: task.id, kind: "task", title: task.title, data: task } };
      }
      if (inFlight.length > 0) return { status: "waiting" };
      if (open.length > 0) return { status: "blocked", reasons: parked.map(({ id, reason }) => \`\${id}: \${reason}\`) };
      return { status: "done", verdict: "verified" };
    },
    work({ title }, { previous }) {
      const failure = previous !== null && "message" in previous ? \`The last attempt failed: \${previous.message}\\n\\n\` : "";
      return Promise.resolve({
        prompt: \`Do this: \${title}\\n\\n\${failure}When it is done, print \\\`<ralph>DONE</ralph>\\\` on a line of its own.\`,
        checks: checks.map((command) => ({ name: command, command })),
      });
    },
    async settle({ id, title }, attempt) {
      const passed = attempt.status === "verified" || attempt.status === "unverified";
      await mark(id, passed); // also after a pass, which a refused commit reverts
      if (passed) return { status: "passed", commit: { subject: \`feat: \${title}\`, paths: [file], work: true } };
      if (attempt.status === "interrupted") return { status: "open" };
      const reason = "message" in attempt ? attempt.message : attempt.status;
      const isOver = attempt.status === "blocked" || attempt.number >= MOST_ATTEMPTS;
      return isOver ? { status: "parked", reason } : { status: "open", reason };
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
    async open() {
      const ralph = await testContext({ files: { "${name}.json": FILE } });
      const open = () => ${camel}Backlog(ralph, { checks: ["true"] });
      return {
        backlog: open(),
        reopen: () => Promise.resolve(open()),
        snapshot: async () => await ralph.state.read("${name}.json") ?? "",
        cwd: ralph.root,
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
