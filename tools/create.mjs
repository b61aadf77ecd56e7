/**
 * Begins a backlog, an agent's adapter or a tracker: writes module and test, and registers the module. Its test passes at once.
 *
 *   npm run create -- backlog NAME    lib/backlog/NAME.ts, exported by `ralph/backlog`
 *   npm run create -- adapter NAME    lib/agents/adapters/NAME.ts, known as `--agent NAME`
 *   npm run create -- tracker NAME    lib/trackers/NAME.ts, known as `--tracker NAME`
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

function trackerModule({ name, camel, pascal }) {
  return `import { join } from "node:path";
import { jsonIn } from "../host/data.ts";
import { readText, writeAtomic } from "../host/files.ts";
import type { Issue, IssueQuery, Tracker } from "./types.ts";

/** An issue in the file. */
export interface ${pascal}Issue {
  readonly id: string;
  readonly title: string;
  readonly body: string;
  readonly isOpen: boolean;
  readonly labels: readonly string[];
  readonly waitsFor: readonly string[];
  readonly updatedAt: string;
  readonly state: string;
  readonly comments: readonly string[];
}

/** The issues of ${name}.json. @param options.root absolute path of its folder */
export function ${camel}Tracker({ root }: { readonly root: string }): Tracker {
  const file = join(root, "${name}.json");

  async function read(): Promise<readonly ${pascal}Issue[]> {
    const issues = jsonIn(await readText(file));
    return isIssues(issues) ? issues : [];
  }

  async function change(id: string, edit: (issue: ${pascal}Issue) => ${pascal}Issue): Promise<void> {
    const issues = (await read()).map((issue) => issue.id === id ? edit(issue) : issue);
    await writeAtomic(file, JSON.stringify(issues));
  }

  return {
    name: "${name}",
    project: "",
    host: "${name}",
    files: ["${name}.json"],
    async list({ label, id, since }: IssueQuery): Promise<readonly Issue[]> {
      const issues = await read();
      const open = new Set(issues.filter(({ isOpen }) => isOpen).map((issue) => issue.id));
      const isMeant = (issue: ${pascal}Issue): boolean =>
        id === undefined ? since !== undefined || (issue.isOpen && issue.labels.includes(label)) : issue.id === id;
      return issues.filter(isMeant).map(({ state: _state, comments: _comments, ...issue }) => ({
        ...issue,
        url: null,
        // here whoever may write the file may write an issue: say who edited it last, where your host knows
        edits: [{ at: issue.updatedAt, by: { name: "the owner", mayWrite: true } }],
        labelled: [],
        waitsFor: issue.waitsFor.filter((one) => open.has(one)),
      }));
    },
    comment: (id, marker, body) =>
      change(id, (issue) => {
        const others = issue.comments.filter((text) => !text.startsWith(marker));
        return { ...issue, comments: [...others, \`\${marker}\\n\${body}\`] };
      }),
    state: (id, state) => change(id, (issue) => ({ ...issue, state })),
  };
}

function isIssues(value: unknown): value is ${pascal}Issue[] {
  return Array.isArray(value) && value.every((issue) => typeof issue?.id === "string" && Array.isArray(issue.labels));
}
`;
}

function trackerTest({ name, camel }) {
  return `import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "vitest";
import { trackerContract } from "../../lib/testing/tracker_contract.ts";
import { ${camel}Tracker, type ${
    name.split("_").map((word) => word[0].toUpperCase() + word.slice(1)).join("")
  }Issue } from "../../lib/trackers/${name}.ts";

type Stored = Record<string, unknown> & Pick<${
    name.split("_").map((word) => word[0].toUpperCase() + word.slice(1)).join("")
  }Issue, "comments" | "id">;

function issue(id: string, more: object = {}): object {
  const rest = { title: id, body: "", isOpen: true, labels: ["ralph"], waitsFor: [], state: "open", comments: [] };
  return { id, ...rest, updatedAt: "2026-01-01T00:00:00Z", ...more };
}

const cases = trackerContract({
  async open() {
    const root = mkdtempSync(join(tmpdir(), "ralph-${name}-"));
    const file = join(root, "${name}.json");
    const read = (): Stored[] => JSON.parse(readFileSync(file, "utf8"));
    writeFileSync(file, JSON.stringify([issue("T-1"), issue("T-2", { waitsFor: ["T-1"] }), issue("T-3", { labels: [] })]));
    return {
      tracker: ${camel}Tracker({ root }),
      ids: ["T-1", "T-2", "T-3"],
      comments: async (id) => read().find((one) => one.id === id)?.comments ?? [],
      close: async (id) =>
        writeFileSync(file, JSON.stringify(read().map((one) => one.id === id ? { ...one, isOpen: false } : one))),
      [Symbol.asyncDispose]: async () => rmSync(root, { recursive: true, force: true }),
    };
  },
});

test.each(cases.map((one) => [one.name, one] as const))("${camel}Tracker(): %s", (_name, { run }) => run());
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
  tracker(names) {
    const { name, camel } = names;
    write(`lib/trackers/${name}.ts`, trackerModule(names));
    write(`test/trackers/${name}.test.ts`, trackerTest(names));
    const added = (text) => text.replace(/"beads"(?:, "\w+")*\]/, (list) => `${list.slice(0, -1)}, "${name}"]`);
    change("lib/config/schema.ts", added);
    change("lib/workflows/trackers/row.ts", added);
    const opened = `      return (await import("./${name}.ts")).${camel}Tracker({ root: place.root });`;
    change(
      "lib/trackers/open_tracker.ts",
      (text) =>
        text.replace(
          "    default:",
          `    case "${name}":\n      return { name, host: name, project: "" };\n    default:`,
        )
          .replace(/ {4}default:\n(?=.*there is no)/, `    case "${name}":\n${opened}\n    default:\n`),
    );
  },
};

try {
  const [kind = "", name = "", ...more] = process.argv.slice(2);
  if (!Object.hasOwn(KINDS, kind) || !/^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/.test(name) || more.length > 0) {
    throw new Error("usage: npm run create -- backlog|adapter|tracker NAME (lower case, words joined by _)");
  }
  const camel = name.replaceAll(/_(\w)/g, (_match, letter) => letter.toUpperCase());
  KINDS[kind]({ name, camel, pascal: camel[0].toUpperCase() + camel.slice(1) });
  await mustRun(denoPath(), ["fmt", "--quiet", ...written], { capture: true });
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
