import { describe, expect, test } from "vitest";
import { resolveAgent, resolveFallback } from "../../lib/agents/registry.ts";
import { defaultConfig } from "../../lib/config/defaults.ts";
import { CONFIG_SCHEMA } from "../../lib/config/schema.ts";
import { createHost } from "../../lib/host/create_host.ts";

const host = createHost();
const config = CONFIG_SCHEMA.parse({ provider: { command: "configured-agent -x" } });

describe("resolveAgent()", () => {
  test.each([
    [{ config }, "configured-agent"],
    [{ config, name: "command" }, "configured-agent"],
    [{ config, command: "given-agent" }, "given-agent"],
    [{ config, script: "turns.yaml" }, "scripted"],
    [{ config, name: "scripted", script: "turns.yaml" }, "scripted"],
    [{ config: defaultConfig() }, "none"],
  ])("resolveAgent() takes what is nearest: %#", (options, name) => {
    expect(resolveAgent({ ...options, host }).name).toBe(name);
  });

  test("resolveAgent() gives an agent that says so when none is configured", async () => {
    const agent = resolveAgent({ config: defaultConfig(), host });

    await expect(agent.ensureUsable()).rejects.toMatchObject({ code: "agent-missing", exitCode: 4 });
  });

  test.each([
    [{ name: "clod" }, "agent-unknown"],
    [{ name: "scripted" }, "option-invalid"],
  ])("resolveAgent() refuses %j", (options, code) => {
    expect(() => resolveAgent({ ...options, config, host })).toThrow(expect.objectContaining({ code, exitCode: 2 }));
  });
});

describe("known agents", () => {
  const preset = (provider: object) => CONFIG_SCHEMA.parse({ provider });

  test.each([
    "claude",
    "codex",
    "opencode",
    "gemini",
    "qwen",
    "copilot",
    "cline",
    "pi",
    "amp",
    "cursor",
    "droid",
    "aider",
  ])("%s is chosen by flag and by configuration", (name) => {
    expect(resolveAgent({ name, config, host }).name).toBe(name);
    expect(resolveAgent({ config: preset({ preset: name }), host }).name).toBe(name);
  });

  test("resolveAgent() asks whether a near name was meant", () => {
    expect(() => resolveAgent({ name: "cluade", config, host })).toThrow(
      expect.objectContaining({
        code: "agent-unknown",
        hint: expect.stringMatching(/^did you mean `claude`\? Known agents: claude, codex, /),
      }),
    );
  });

  test("resolveAgent() refuses what an agent cannot be told", () => {
    expect(() => resolveAgent({ config: preset({ preset: "gemini", reasoning: "high" }), host })).toThrow(
      expect.objectContaining({
        code: "option-invalid",
        message: "--reasoning must be left out: `gemini` has no such option (got: high)",
      }),
    );
  });

  test.each([
    [{ preset: "claude" }, null],
    [{ preset: "claude", fallback: "codex" }, "codex"],
    [{ preset: "claude", fallback: { preset: "opencode", model: "a/b" } }, "opencode"],
    [{ preset: "claude", fallback: { command: "./other.sh" } }, "./other.sh"],
  ])("resolveFallback() of %j is %s", (provider, name) => {
    expect(resolveFallback({ config: preset(provider), host })?.name ?? null).toBe(name);
  });

  test("resolveFallback() refuses a name that nobody knows", () => {
    expect(() => resolveFallback({ config: preset({ fallback: "codecs" }), host })).toThrow(
      expect.objectContaining({ code: "agent-unknown" }),
    );
  });
});
