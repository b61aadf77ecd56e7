import { Buffer } from "node:buffer";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { brotliDecompressSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { copyPath, ensureDirectory, readText, temporaryDirectory, writeAtomic } from "../../lib/host/files.ts";
import type { Driver } from "../../lib/agents/adapter.ts";
import type { Tracker } from "../../lib/trackers/types.ts";
import type { Backlog } from "../../lib/backlog/types.ts";
import { backlogContract } from "../../lib/testing/backlog_contract.ts";
import { type TestContext, testContext } from "../../lib/testing/test_context.ts";
import { EMBEDDED } from "../../tools/generate.mjs";
import { bunPath, ROOT } from "../../tools/runtimes.mjs";
import { finish } from "../packaging/runtimes.ts";

async function write(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await ensureDirectory(join(folder, path, ".."));
    await writeAtomic(join(folder, path), text);
  }
}

describe("check_layers.ts", () => {
  async function check(files: Readonly<Record<string, string>>) {
    await using folder = await temporaryDirectory("ralph-layers-");
    await write(folder.path, files);
    return await finish([bunPath(), join(ROOT, "tools", "check_layers.ts")], [folder.path], ROOT);
  }

  test("passes imports that point downward or stay in their row, and a workflow that is named in its own room", async () => {
    const finished = await check({
      "lib/host/a.ts": 'import { x } from "../std/fs/b.ts";\n',
      "lib/loop/a.ts": 'import { x } from "../hooks/b.ts";\n/**\n * import { z } from "ralph";\n */\n',
      "lib/workflows/waltz/a.ts": 'import { x } from "../shared.ts";\nexport const NAME = "waltz";\n',
      "lib/workflows/table.ts": 'export { NAME } from "./waltz/a.ts";\n',
      "lib/cli/a.ts": 'const text = "they waltz";\n',
      "recipes/waltz.ts": 'import { plan } from "ralph";\nimport { waltz } from "ralph/waltz";\n',
    });

    expect(finished).toEqual({ code: 0, stdout: "6 files, 0 against the layer rule\n", stderr: "" });
  });

  test.each([
    ["lib/loop/a.ts", '\nimport { x } from "../recipe/b.ts";\n', "lib/loop/a.ts:2: loop must not import from recipe"],
    ["lib/host/a.ts", 'export * from "../cli/b.ts";\n', "lib/host/a.ts:1: host must not import from cli"],
    [
      "lib/git/a.ts",
      'import type {\n  x,\n} from "../context/b.ts";\n',
      "lib/git/a.ts:1: git must not import from context",
    ],
    ["lib/recipe/a.ts", 'await import("../cli/b.ts");\n', "lib/recipe/a.ts:1: recipe must not import from cli"],
    ["lib/cli/a.ts", 'import { x } from "ralph";\n', "lib/cli/a.ts:1: cli must not import from mod"],
    ["lib/new/a.ts", "", "lib/new/a.ts:1: new is in no layer"],
    ["lib/loop/a.ts", "const a = new Date();\n", "lib/loop/a.ts:1: `new Date()` reads the clock"],
    [
      "recipes/a.ts",
      'import { x } from "../lib/mod.ts";\n',
      "recipes/a.ts:1: a recipe imports only `ralph` and its subpaths",
    ],
    ["lib/workflows/b/a.ts", 'import { x } from "../waltz/a.ts";\n', "the workflow b must not import from waltz"],
    ["lib/program/a.ts", 'import("../workflows/waltz/a.ts");\n', "lib/program/a.ts:1: imports from the workflow waltz"],
    ["lib/cli/a.ts", 'if (name === "waltz") x();\n', "lib/cli/a.ts:1: names the workflow waltz"],
    ["lib/cli/a.ts", "say(`run \\`ralph waltz\\``);\n", "lib/cli/a.ts:1: names the workflow waltz (ralph waltz)"],
    ["lib/cli/a.ts", "waltzStatus();\n", "lib/cli/a.ts:1: names the workflow waltz (waltzStatus)"],
    ["lib/workflows/waltz/b.ts", 'import type { A } from "./c.ts";\n', "circle of files: lib/workflows/waltz/b.ts"],
  ])("reports in %s: %j", async (path, text, message) => {
    const circle = { "lib/workflows/waltz/c.ts": 'await import("./b.ts");\n' };
    const finished = await check({ "lib/workflows/waltz/a.ts": "", ...circle, [path]: text });

    expect(finished.code).toBe(1);
    expect(finished.stderr).toContain(message);
  });
});

describe("check_new.mjs", () => {
  test("reports subjects and opening words that are new, and neither old nor moved ones", async () => {
    await using folder = await temporaryDirectory("ralph-new-");
    for (const name of ["check_new.mjs", "comments.mjs", "runtimes.mjs"]) {
      await copyPath(join(ROOT, "tools", name), join(folder.path, "tools", name));
    }
    await symlink(join(ROOT, "node_modules"), join(folder.path, "node_modules"));
    const identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgSign=false"];
    const commit = async (subject: string) => {
      await finish(["git"], ["add", "a.ts", "b.ts"], folder.path);
      await finish(["git", ...identity], ["commit", "-q", "--allow-empty", "-m", subject], folder.path);
    };
    const check = () => finish([process.execPath, join(folder.path, "tools", "check_new.mjs")], [], folder.path);
    await finish(["git"], ["init", "-q", "-b", "work"], folder.path);
    await write(folder.path, { ".gitignore": "tools\n", "a.ts": "// What is old stays.\n", "b.ts": "" });
    await commit("an old subject");
    await finish(["git"], ["branch", "main"], folder.path);
    await write(folder.path, { "a.ts": "", "b.ts": "// What is old stays.\n// Ralph says so.\n" });
    await commit("fix(loop): move a comment");
    const clean = await check();
    await write(folder.path, { "a.ts": "/** Names it. Where it fails, it is told. */\n" });
    await commit("fix: name no room");
    await commit(`docs: ${"x".repeat(70)}`);

    expect(clean).toEqual({ code: 0, stdout: "", stderr: "" });
    const { code, stderr } = await check();
    expect(code).toBe(1);
    expect(stderr).toContain("fix: name no room: not `type(room): change`");
    expect(stderr).toContain("76 characters, at most 72");
    expect(stderr).toContain("a.ts: Where it fails, it is told.");
    expect(stderr).not.toMatch(/is old|move a comment/);
  });
});

describe("generate.mjs", () => {
  test("writes prompts, recipes, types and declarations, and again after a change", async () => {
    await using folder = await temporaryDirectory("ralph-generate-");
    const schema = (name: string, text: string) =>
      `import { z } from "zod";
import { named } from "../config/parts.ts";
const look = named("Look", "The look.", z.enum(["rich", "plain"]));
export const ${name} = ${text};
`;
    const text = "# Goal\n\n`code`, ${not} {{placeholder}}, \\n and \\\\\n";
    const embedded = Object.values(EMBEDDED).flatMap((parts) => Object.values(parts).flat());
    await write(folder.path, {
      ...Object.fromEntries(embedded.map((path) => [path, ""])),
      "prompts/exec_plan.md": text,
      "docs/install.md": "# Install\n",
      "prompts/a.md": "",
      "recipes/todo.ts": "export default 1;\n",
      "lib/mod.ts": 'export * from "./loop/one.ts";\n',
      "lib/loop/one.ts": "export const one: number = 1;\n",
      "lib/attest/schema.ts": schema("ATTEST_SCHEMA", "look"),
      "lib/config/schema.ts": schema(
        "CONFIG_SCHEMA",
        'named("Config", "Settings.", z.object({ $schema: z.string(), ui: look.default("rich").describe("how it looks") }))',
      ),
      "lib/events/schema.ts": schema(
        "EVENT_SCHEMA",
        'named("Event", "It happened.", z.object({ look, by: z.array(z.string().nullable()).exactOptional() }))',
      ),
      "lib/report/schema.ts": `${schema("REPORT_SCHEMA", "look")}export const GATE_SCHEMA = z.literal(1);\n`,
      "lib/steer/schema.ts": `${schema("LIVE_RUN", "look")}export const [REQUEST, REPLY] = [look, look];\n`,
      "deno.json": '{ "exports": { ".": "./lib/mod.ts", "./cli": "./bin/ralph.ts" } }',
      "tsconfig.json": "{}",
      "tsconfig.build.json":
        '{ "compilerOptions": { "declaration": true, "rootDir": ".", "allowImportingTsExtensions": true, "rewriteRelativeImportExtensions": true }, "include": ["lib"] }',
    });
    const tools = ["generate.mjs", "runtimes.mjs", "declare.ts"].map((name) => `tools/${name}`);
    for (const path of [...tools, "lib/config/parts.ts", "lib/config/defaults.ts"]) {
      await copyPath(join(ROOT, path), join(folder.path, path));
    }
    await symlink(join(ROOT, "node_modules"), join(folder.path, "node_modules"));
    const generate = () => finish([process.execPath, join(folder.path, "tools", "generate.mjs")], [], folder.path);
    const constant = async (file: string, name: string): Promise<unknown> => {
      const script = `JSON.stringify((await import("./lib/generated/${file}.ts")).${name})`;
      return JSON.parse((await finish([bunPath()], ["--print", script], folder.path)).stdout);
    };
    const types = async () =>
      brotliDecompressSync(Buffer.from(String(await constant("types", "PACKED_TYPES")), "base64")).toString();

    const first = await generate();
    expect(first.stderr).toBe("");
    const before = await types();
    await writeAtomic(join(folder.path, "lib", "loop", "one.ts"), "export const two: number = 2;\n");
    const second = await generate();

    expect([first, second]).toEqual([{ code: 0, stdout: "", stderr: "" }, { code: 0, stdout: "", stderr: "" }]);
    expect(await constant("prompts", "PROMPTS")).toEqual({ "a": "", exec_plan: text });
    expect(await constant("install", "INSTALL_TEXT")).toBe("# Install\n");
    expect(await constant("recipes", "RECIPE_TEXTS")).toEqual({ todo: "export default 1;\n" });
    expect(before).toContain('declare module "ralph" {\n  export * from "ralph:loop/one";');
    expect(before).toContain("const one: number");
    expect(await types()).toContain("const two: number");
    expect(await readText(join(folder.path, "lib/generated/config.ts"))).toContain(
      '/** Settings. */\nexport interface Config {\n  /** How it looks. @default "rich" */\n  readonly ui: Look;\n}\n',
    );
    expect(await readText(join(folder.path, "lib/generated/events.ts"))).toContain(
      'import type { Look } from "./config.ts";\n\n/** It happened. */\nexport interface Event {\n  readonly look: Look;\n  readonly by?: readonly (string | null)[];\n}\n',
    );
  });
});

describe("create.mjs", () => {
  test("begins a backlog that keeps the contract, and an adapter that is known", async () => {
    await using folder = await temporaryDirectory("ralph-create-");
    const paths = [
      "tools/create.mjs",
      "tools/runtimes.mjs",
      "deno.json",
      "lib/mod/backlog.ts",
      "lib/agents/adapters.ts",
      "lib/config/schema.ts",
      "lib/trackers/open_tracker.ts",
      "lib/workflows/trackers/row.ts",
    ];
    for (const path of paths) {
      await ensureDirectory(join(folder.path, path, ".."));
      await copyPath(join(ROOT, path), join(folder.path, path));
    }
    for (const path of ["agents/adapters", "backlog"]) await ensureDirectory(join(folder.path, "lib", path));
    const imported = ["backlog/list.ts"];
    const driven = ["agents/failures.ts", "agents/json.ts", "host"];
    for (const path of ["node_modules", ...[...imported, ...driven].map((file) => `lib/${file}`)]) {
      await symlink(join(ROOT, path), join(folder.path, path));
    }
    const create = (...words: readonly string[]) =>
      finish([process.execPath, join(folder.path, "tools", "create.mjs")], words, folder.path);

    const made = [
      await create("backlog", "sixth_list"),
      await create("adapter", "newbie"),
      await create("tracker", "newbie"),
    ];
    const refused = [await create("backlog", "sixth_list"), await create("adapter", "New")];
    const { sixthListBacklog } = await import(join(folder.path, "lib/backlog/sixth_list.ts")) as {
      readonly sixthListBacklog: (ralph: TestContext) => Backlog;
    };
    const { DRIVER } = await import(join(folder.path, "lib/agents/adapters/newbie.ts")) as { readonly DRIVER: Driver };

    const { newbieTracker } = await import(join(folder.path, "lib/trackers/newbie.ts")) as {
      readonly newbieTracker: (place: { readonly root: string }) => Tracker;
    };

    expect(made.map(({ code, stderr }) => [code, stderr])).toEqual([[0, ""], [0, ""], [0, ""]]);
    expect(await newbieTracker({ root: folder.path }).list({ label: "ralph" })).toEqual([]);
    expect(await readText(join(folder.path, "lib/config/schema.ts"))).toContain('"beads", "newbie"]');
    expect(await readText(join(folder.path, "lib/trackers/open_tracker.ts"))).toMatch(
      /case "newbie":[^]*case "newbie":/,
    );
    expect(refused.map(({ code }) => code)).toEqual([1, 1]);
    expect(await readText(join(folder.path, "lib/mod/backlog.ts"))).toContain("sixthListBacklog");
    expect(await readText(join(folder.path, "lib/agents/adapters.ts"))).toMatch(/name: "newbie",[^]*\n\];\n/);
    expect(DRIVER.arguments({ prompt: "p", model: null, reasoning: null, folder: "" }).input).toBe("p");
    for (
      const { run } of backlogContract({
        open: (store) => sixth(sixthListBacklog, store === "checked" ? ["true"] : []),
      })
    ) await run();
  });

  async function sixth(backlogOf: (ralph: TestContext) => Backlog, checks: readonly string[]) {
    const tasks = ["one", "two"].map((title, index) => ({ id: String(index), title, done: false, checks }));
    const ralph = await testContext({ files: { "sixth_list.json": JSON.stringify(tasks) } });
    const open = () => backlogOf(ralph);
    return {
      backlog: open(),
      reopen: () => Promise.resolve(open()),
      snapshot: async () => await ralph.state.read("sixth_list.json") ?? "",
      root: ralph.root,
      [Symbol.asyncDispose]: () => ralph[Symbol.asyncDispose](),
    };
  }
});

describe("build.mjs", () => {
  test.each([
    [["--target", "plan9-x64"], "unknown: plan9-x64 (targets: linux-x64, "],
    [["--target"], "--target needs a value: linux-x64, "],
    [["everything"], "unknown: everything (parts: package, binary)"],
  ])("refuses %j", async (words, message) => {
    const finished = await finish([process.execPath, join(ROOT, "tools", "build.mjs")], words, ROOT);

    expect(finished.code).toBe(1);
    expect(finished.stderr).toContain(message);
  });
});

describe("test.mjs", () => {
  test("fails when no test ran, and says so in its last line", async () => {
    const finished = await finish(
      [process.execPath, join(ROOT, "tools", "test.mjs")],
      ["--no-build", "node", "no-such-test-file"],
      ROOT,
    );

    expect(finished.code).toBe(1);
    expect(finished.stdout.trimEnd().split("\n").at(-1)).toMatch(/^vitest: 0 passed, [01] failed, 0 skipped$/);
  });
});

describe("ok.mjs", () => {
  test("runs the gates that are named, and refuses a name that is none", async () => {
    const one = await finish([process.execPath, join(ROOT, "tools", "ok.mjs")], ["lock"], ROOT);
    const none = await finish([process.execPath, join(ROOT, "tools", "ok.mjs")], ["lnt"], ROOT);

    expect(one).toMatchObject({ code: 0, stderr: "" });
    expect(one.stdout).toMatch(/^ok {5}lock \(/);
    expect(none).toMatchObject({ code: 2, stdout: "" });
    expect(none.stderr).toContain("unknown: lnt");
  });
});
