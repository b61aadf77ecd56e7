import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { checkConfig } from "../../lib/config/check.ts";
import { defaultConfig } from "../../lib/config/defaults.ts";
import { configKeys } from "../../lib/config/json_schema.ts";
import { type Config, type HookConfig, loadConfig, type ProviderChoice } from "../../lib/config/load.ts";
import { CONFIG_SCHEMA } from "../../lib/config/schema.ts";
import { temporaryDirectory } from "../../lib/host/files.ts";

test("defaultConfig() is what the schema makes of an empty file", () => {
  expect(defaultConfig()).toEqual(CONFIG_SCHEMA.parse({}));
});

/** With every field that may be absent: a field that the type gets and the schema lacks fails below. */
type Complete<Value> = Value extends readonly unknown[] | string | number | boolean | null ? Value
  : { readonly [Key in keyof Value]-?: Complete<Exclude<Value[Key], undefined>> };

test("the schema takes every field of the type", () => {
  const choice: Complete<ProviderChoice> = {
    command: "c",
    preset: "claude",
    model: "m",
    reasoning: "high",
    endpoint: {
      name: "vllm",
      url: "http://localhost:1/v1",
      keyVariable: "A_KEY",
      api: "chat",
      context: 1,
      output: 1,
      images: true,
      price: { input: 1, output: 1, cachedInput: 1 },
    },
  };
  const hook: Omit<Complete<HookConfig>, "command" | "prompt" | "workflow"> = {
    id: "a",
    enabled: true,
    parallel: true,
    when: "after",
    isolated: true,
    agent: "claude",
    agentCommand: "c",
    timeout: 1,
  };
  const defaults = defaultConfig();
  const config: Omit<Complete<Config>, "hooks"> & Pick<Config, "hooks"> = {
    ...defaults,
    workflow: "exec",
    provider: {
      ...defaults.provider,
      ...choice,
      args: ["a"],
      interactiveArgs: ["b"],
      fallback: choice,
      claims: "optional",
    },
    verify: { ...defaults.verify, challenger: "codex" },
    commits: { ...defaults.commits, squash: true, attempts: true },
    services: [{ name: "web", start: "s", ready: "http://localhost:1", readyTimeout: 1, restartBeforeVerify: true }],
    hooks: [{ ...hook, command: "c" }, { ...hook, id: "b", prompt: "p" }, { ...hook, id: "c", workflow: "w" }],
    gsd: { commands: { init: "i", roadmap: "r", discover: "d", plan: "p" } },
  };

  expect(CONFIG_SCHEMA.parse(config)).toEqual(config);
});

describe("checkConfig()", () => {
  test("a block given in part keeps the defaults of its other fields", () => {
    const { config } = checkConfig({ commits: { work: false }, verify: { default: ["npm test"] } });

    expect(config?.commits).toEqual({ work: false, prdChanges: true, message: "chore: update prd.json" });
    expect(config?.verify).toEqual({
      challenge: 0,
      default: ["npm test"],
      ui: [],
      timeout: 300,
      allowUnverified: false,
      baseline: true,
      isolated: false,
      final: "clean",
    });
  });

  test.each([
    [
      "a misspelt key",
      { limits: { costUSD: 0.01 } },
      "limits.costUSD is not a key of the configuration; did you mean `limits.costUsd`?",
    ],
    [
      "a key of another section",
      { timeout: 5 },
      "timeout is not a key of the configuration; did you mean `provider.timeout` or `verify.timeout`?",
    ],
    ["a key that resembles none", { colour: 1 }, "colour is not a key of the configuration"],
    [
      "a misspelt key of a list",
      { hooks: [{ id: "a", command: "c", wen: "after" }] },
      "hooks[0].wen is not a key of the configuration; did you mean `hooks[].when`?",
    ],
    [
      "a misspelt key of one form",
      { provider: { fallback: { preset: "codex", modle: "x" } } },
      "provider.fallback.modle is not a key of the configuration",
    ],
    [
      "a misspelt value",
      { tests: { integrity: "blok" } },
      'tests.integrity must be "off", "report" or "block" (got: "blok"); did you mean "block"?',
    ],
    [
      "a value of another type",
      { verify: { timeout: "5" } },
      'verify.timeout: expected number, received string (got: "5")',
    ],
    ["a number that is too small", { maxRetries: 0 }, "maxRetries: expected number to be >0 (got: 0)"],
    ["an empty command", { verify: { default: [""] } }, 'verify.default[0]: must not be empty (got: "")'],
    ["a key that is missing", { services: [{ name: "web" }] }, "services[0].ready is required"],
    ["no object", [], "the file: expected object, received array"],
  ])("%s is a problem", (_, data, text) => {
    const { config, problems } = checkConfig(data);

    expect(config).toBeNull();
    expect(problems.map((problem) => problem.text)).toEqual([expect.stringContaining(text)]);
  });

  test("an old name is read as the new one, and said", () => {
    const { config, problems, warnings } = checkConfig({ limits: { noProgress: 9 } });

    expect(problems).toEqual([]);
    expect(warnings).toEqual(["limits.noProgress is called limits.idle now"]);
    expect(config?.limits.idle).toBe(9);
  });

  test("the configuration of another version is read without the keys that are not known", () => {
    const { config } = checkConfig({ limits: { minute: 5, minutes: 6 }, hooks: [{ id: "a", command: "c", x: 1 }] }, {
      ignoreUnknown: true,
    });

    expect(config).toMatchObject({ limits: { minutes: 6 }, hooks: [{ id: "a" }] });
  });
});

describe("configKeys()", () => {
  test("every key has a description that ends as a sentence, and a unit where it is a time", () => {
    for (const { path, description, type, section } of configKeys()) {
      expect(description, path).toMatch(/^\S.*[.…]$/);
      if (!section && type.includes("number") && /timeout|minutes|wait/i.test(path)) {
        expect(description, path).toMatch(/in (?:seconds|minutes)/);
      }
    }
  });
});

describe("loadConfig()", () => {
  test("keeps what it checked for the same text and program, and checks anew for another", async () => {
    await using folder = await temporaryDirectory("config");
    const cache = { file: join(folder.path, "kept/config.json"), program: "ralph 1" };
    await writeFile(join(folder.path, "ralph.config.json"), '{"maxRetries": 7, "limits": {"noProgress": 2}}');
    const checked = await loadConfig(folder.path, undefined, cache);

    const marked = (await readFile(cache.file, "utf8")).replace('"maxRetries":7', '"maxRetries":8');
    await writeFile(cache.file, marked);

    expect(checked).toMatchObject({ config: { maxRetries: 7 }, warnings: [expect.stringContaining("noProgress")] });
    expect((await loadConfig(folder.path, undefined, cache)).config.maxRetries).toBe(8);
    expect((await loadConfig(folder.path, undefined, { ...cache, program: "ralph 2" })).config.maxRetries).toBe(7);
    await writeFile(cache.file, "{ torn");
    expect((await loadConfig(folder.path, undefined, cache)).config.maxRetries).toBe(7);
    await writeFile(join(folder.path, "ralph.config.json"), '{"maxRetries": 9}');
    expect((await loadConfig(folder.path, undefined, cache)).config.maxRetries).toBe(9);
  });

  test("without a file the defaults; a named file that is missing, or one that is no JSON, is an error that names it", async () => {
    await using folder = await temporaryDirectory("config");

    expect(await loadConfig(folder.path)).toEqual({ config: defaultConfig(), file: null, warnings: [] });
    await expect(loadConfig(folder.path, "other.json")).rejects.toMatchObject({ code: "state-missing" });
    await writeFile(join(folder.path, "ralph.config.json"), "{ nope");
    await expect(loadConfig(folder.path)).rejects.toMatchObject({
      code: "config-invalid",
      message: expect.stringContaining("not valid JSON"),
    });
  });

  test("every problem is named with its line and column, in the order of the file", async () => {
    await using folder = await temporaryDirectory("config");
    const file = join(folder.path, "ralph.config.json");
    await writeFile(file, '{\n\t"limits": {\n\t\t"costUSD": 0.01,\n    "idle": 0\n  },\n  "ui": "ritch"\n}\n');

    const error = await loadConfig(folder.path).catch((thrown: unknown) => thrown as Error);

    expect((error as Error).message).toBe([
      `${file}: 3 problems`,
      "  line 3, column 3: limits.costUSD is not a key of the configuration; did you mean `limits.costUsd`?",
      "  line 4, column 5: limits.idle: expected number to be >0 (got: 0)",
      '  line 6, column 3: ui must be "auto", "rich", "plain" or "json" (got: "ritch"); did you mean "rich"?',
    ].join("\n"));
    await writeFile(file, '{\n  "limits": {},\n}');
    await expect(loadConfig(folder.path)).rejects.toThrow(`${file}: not valid JSON: line 3, column 1: expected a key`);
  });
});
