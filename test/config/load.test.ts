import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { checkConfig } from "../../lib/config/check.ts";
import { defaultConfig } from "../../lib/config/defaults.ts";
import { loadConfig } from "../../lib/config/load.ts";
import { CONFIG_SCHEMA } from "../../lib/config/schema.ts";
import type { Config, HookConfig, ProviderChoice } from "../../lib/config/types.ts";
import { temporaryDirectory } from "../../lib/host/files.ts";

test("defaultConfig() is what the schema makes of an empty file", () => {
  expect(defaultConfig()).toEqual(CONFIG_SCHEMA.parse({}));
});

/** With every field that may be absent: a field that the type gets and the schema lacks fails below. */
type Complete<Value> = Value extends readonly unknown[] | string | number | boolean | null ? Value
  : { readonly [Key in keyof Value]-?: Complete<Exclude<Value[Key], undefined>> };

test("the schema takes every field of the type", () => {
  const choice: Complete<ProviderChoice> = { command: "c", preset: "claude", model: "m", reasoning: "high" };
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
    provider: { ...defaults.provider, ...choice, args: ["a"], interactiveArgs: ["b"], fallback: choice },
    verify: { ...defaults.verify, challenger: "codex" },
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

  test("names every problem with its field", () => {
    const { config, problems } = checkConfig({ verify: { timeout: "5", default: [""] }, maxRetries: 0 });

    expect(config).toBeNull();
    expect(problems).toEqual([
      "verify.default[0]: must not be empty",
      "verify.timeout: expected number, received string",
      "maxRetries: Too small: expected number to be >0",
    ]);
  });

  test("unknown keys are warnings, at every depth, and the rest counts", () => {
    const { config, warnings } = checkConfig({ limits: { minute: 5, minutes: 6 }, colour: "red" });

    expect(warnings.toSorted()).toEqual(["unknown key colour", "unknown key limits.minute"]);
    expect(config?.limits.minutes).toBe(6);
  });
});

describe("loadConfig()", () => {
  test("keeps what it checked for the same text and program, and checks anew for another", async () => {
    await using folder = await temporaryDirectory("config");
    const cache = { file: join(folder.path, "kept/config.json"), program: "ralph 1" };
    await writeFile(join(folder.path, "ralph.config.json"), '{"maxRetries": 7, "colour": 1}');
    const checked = await loadConfig(folder.path, undefined, cache);

    const marked = (await readFile(cache.file, "utf8")).replace('"maxRetries":7', '"maxRetries":8');
    await writeFile(cache.file, marked);

    expect(checked).toMatchObject({ config: { maxRetries: 7 }, warnings: ["unknown key colour"] });
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
});
