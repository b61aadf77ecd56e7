import { describe, expect, test } from "vitest";
import { resolveAgent } from "../../lib/agents/registry.ts";
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
