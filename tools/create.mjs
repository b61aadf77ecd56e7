/**
 * Begins a backlog or an agent's adapter: writes module and test, and registers the module. Its test passes at once.
 *
 *   npm run create -- backlog NAME    lib/backlog/NAME.ts, exported by `ralph/backlog`
 *   npm run create -- adapter NAME    lib/agents/adapters/NAME.ts, known as `--agent NAME`
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { denoPath, mustRun, ROOT } from "./runtimes.mjs";

function backlogModule({ name, camel, pascal }) {
  return `import { listBacklog } from "./list.ts";
import type { StateFiles } from "./state_files.ts";
import type { Backlog } from "./types.ts";

/** A task in the file; \`checks\` are commands that must pass. */
export type ${pascal}Task = { id: string; title: string; done: boolean; checks: string[] };

/**
 * The tasks of ${name}.json as a backlog.
 *
 * @example Work them off
 * \`\`\`ts
 * import { runLoop } from "ralph";
 * import { ${camel}Backlog } from "ralph/backlog";
 * import { testContext } from "ralph/testing";
 *
 * const files = { "${name}.json": '[{ "id": "1", "title": "write a", "done": false, "checks": ["test -f a"] }]' };
 * await using ralph = await testContext({ files, agent: { turns: [{ write: { a: "" }, say: "<ralph>DONE</ralph>" }] } });
 * console.log((await runLoop(ralph, ${camel}Backlog(ralph))).status); // passed
 * \`\`\`
 */
export function ${camel}Backlog({ state }: { readonly state: StateFiles }): Backlog<${pascal}Task> {
  const file = state.json("${name}.json", isTasks);
  return listBacklog<${pascal}Task>({
    name: "${name}",
    stateFiles: [file.path],
    read: file.read,
    write: (ids, done) =>
      file.update((tasks) => tasks.map((task) => (ids.includes(task.id) ? { ...task, done } : task))),
    itemOf: ({ id, title, done, checks }) => ({ id, title, done, checks }),
  });
}

function isTasks(value: unknown): value is ${pascal}Task[] {
  return Array.isArray(value) && value.every((task) => typeof task?.id === "string" && Array.isArray(task.checks));
}
`;
}

function backlogTest({ name, camel }) {
  return `import { expect, test } from "vitest";
import { ${camel}Backlog } from "../../lib/backlog/${name}.ts";
import { runLoop } from "../../lib/loop/run/run_loop.ts";
import { backlogContract } from "../../lib/testing/backlog_contract.ts";
import { testContext } from "../../lib/testing/test_context.ts";

/** The store: change both with the module. */
const FILE = "${name}.json";
function fileOf(checks: readonly string[]): string {
  return JSON.stringify(["1", "2"].map((id) => ({ id, title: \`task \${id}\`, done: false, checks })));
}

const cases = backlogContract({
  async open(store?: string) {
    const ralph = await testContext({ files: { [FILE]: fileOf(store === "unchecked" ? [] : ["true"]) } });
    return {
      backlog: ${camel}Backlog(ralph),
      reopen: async () => ${camel}Backlog(ralph),
      snapshot: async () => await ralph.state.read(FILE) ?? "",
      root: ralph.root,
      [Symbol.asyncDispose]: () => ralph[Symbol.asyncDispose](),
    };
  },
});

test.each(cases.map((one) => [one.name, one] as const))("${camel}Backlog(): %s", (_name, { run }) => run());

test("${camel}Backlog() is worked off: each task is verified and committed", async () => {
  const turn = (id: string) => ({ match: \`task \${id}\`, write: { [id]: "" }, say: "<ralph>DONE</ralph>" });
  await using ralph = await testContext({
    files: { [FILE]: fileOf(["true"]) },
    agent: { turns: [turn("1"), turn("2")] },
  });

  const run = await runLoop(ralph, ${camel}Backlog(ralph));

  expect(run).toMatchObject({ status: "passed", passed: ["1", "2"] });
  expect(await ralph.tree.git("log", "--format=%s", "-2")).toBe("feat: task 2\\nfeat: task 1");
});
`;
}

function adapterModule({ name, camel }) {
  return `import type { Usage } from "../../backlog/types.ts";
import type { AdapterInvocation, AdapterOptions, Driver } from "../adapter.ts";
import { failureEvents, failureKind } from "../failures.ts";
import { at, inputText, numberAt, outputText, textAt } from "../json.ts";
import type { AgentEvent, Translator } from "../stream_item.ts";

/** The flags that make \`${name}\` work without questions and print one JSON value a line. */
function ${camel}Arguments({ prompt, model }: AdapterOptions): AdapterInvocation {
  return { arguments: ["--json", ...(model === null ? [] : ["--model", model])], input: prompt };
}

/** Reads the stream. A line that means nothing to Ralph is no event. */
function ${camel}Translator(): Translator {
  return { push: (line) => eventsOf(line), end: () => [] };
}

function eventsOf(line: unknown): readonly AgentEvent[] {
  const [id, text] = [textAt(line, "id"), textAt(line, "text") ?? ""];
  switch (textAt(line, "type")) {
    case "text":
      return [{ type: "agent-text", text }];
    case "tool":
      return [{ type: "agent-tool-call", id, tool: textAt(line, "name") ?? "tool", input: inputText(at(line, "input")) }];
    case "tool-result":
      return [{ type: "agent-tool-result", id, ok: at(line, "ok") === true, output: outputText(at(line, "output")) }];
    case "usage":
      return [{ type: "agent-usage", scope: "step", usage: usageOf(line) }];
    case "error":
      return failureEvents(failureKind(text), text);
    case "end":
      return [{ type: "agent-end", status: "completed", message: null }];
    default:
      return [];
  }
}

/** What the program does not report is \`null\`, never 0. */
function usageOf(line: unknown): Usage {
  return {
    inputTokens: numberAt(line, "input"),
    outputTokens: numberAt(line, "output"),
    cachedTokens: null,
    reasoningTokens: null,
    costUsd: null,
    estimated: false,
  };
}

/** How \`${name}\` is called and read. Without a translator its output is plain text. */
export const DRIVER: Driver = { arguments: ${camel}Arguments, interactive: null, translator: ${camel}Translator };
`;
}

function adapterRow({ name }) {
  return `  {
    name: "${name}",
    proof: { kind: "documented" },
    install: "see the documentation of ${name}",
    login: "see the documentation of ${name}",
    instructions: ["AGENTS.md"],
    needs: { folders: [], hosts: [], keys: [] },
    load: async () => (await import("./adapters/${name}.ts")).DRIVER,
  },
`;
}

function adapterTest({ name }) {
  return `import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, test } from "vitest";
import { adapterAgent } from "../../lib/agents/adapter_agent.ts";
import { findAdapter } from "../../lib/agents/adapters.ts";
import { turnFixture } from "./turn_fixture.ts";

/** A stand-in for the program: replace its lines by recorded ones. */
const PROGRAM = \`#!/bin/sh
cat > "$0.stdin"; echo "$@" > "$0.arguments"
echo '{"type":"text","text":"Done."}'
echo '{"type":"usage","input":12,"output":3}'
echo '{"type":"end"}'
\`;

test("${name} gets the prompt on standard input, and its stream is read", async () => {
  await using fixture = turnFixture();
  const { environment } = fixture.host;
  writeFileSync(join(fixture.folder, "${name}"), PROGRAM);
  chmodSync(join(fixture.folder, "${name}"), 0o755);
  const variables = { ...environment.variables, PATH: \`\${fixture.folder}\${delimiter}\${environment.variables["PATH"]}\` };
  const host = { ...fixture.host, environment: { ...environment, variables } };
  const agent = adapterAgent(findAdapter("${name}")!, { host, model: "large" });

  const turn = await agent.runTurn(fixture.request({ prompt: "Do it.\\n" }));

  expect(turn.end).toEqual({ reason: "completed" });
  expect(turn.lines).toEqual(["Done."]);
  expect(turn.usage).toMatchObject({ inputTokens: 12, outputTokens: 3, costUsd: null });
  expect(readFileSync(join(fixture.folder, "${name}.stdin"), "utf8")).toBe("Do it.\\n");
  expect(readFileSync(join(fixture.folder, "${name}.arguments"), "utf8")).toBe("--json --model large\\n");
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
    change(
      "lib/mod/backlog.ts",
      (text) => `${text}export { ${camel}Backlog, type ${pascal}Task } from "../backlog/${name}.ts";\n`,
    );
  },
  adapter(names) {
    write(`lib/agents/adapters/${names.name}.ts`, adapterModule(names));
    write(`test/agents/${names.name}.test.ts`, adapterTest(names));
    change("lib/agents/adapters.ts", (text) => text.replace(/(?<=^ {2}\},\n)\];$/m, () => `${adapterRow(names)}];`));
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
