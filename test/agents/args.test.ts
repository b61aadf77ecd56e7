import { describe, expect, test } from "vitest";
import type { AdapterOptions } from "../../lib/agents/adapter.ts";
import { endpointOf } from "../../lib/agents/endpoints.ts";
import { ADAPTERS } from "../../lib/agents/adapters.ts";
import { driverOf } from "./captures.ts";

const PLAIN: AdapterOptions = { prompt: "Do it.\n", model: null, reasoning: null, folder: "/turn" };
const CHOSEN = { ...PLAIN, model: "large", reasoning: "high" };

function line(name: string, options = PLAIN): string {
  return driverOf(name).arguments(options).arguments.join(" ");
}

describe("arguments", () => {
  test.each([
    [
      "claude",
      "-p --output-format stream-json --verbose --dangerously-skip-permissions --disallowedTools=AskUserQuestion,EnterPlanMode,ExitPlanMode,ScheduleWakeup,Monitor,CronCreate",
    ],
    [
      "codex",
      "exec --json --dangerously-bypass-approvals-and-sandbox --skip-git-repo-check -c check_for_update_on_startup=false -",
    ],
    ["opencode", "run --auto --format json"],
    ["gemini", "--yolo --skip-trust -o stream-json"],
    ["qwen", "--yolo -o stream-json"],
    ["copilot", "--allow-all --no-ask-user --no-color --output-format json --usage-output-file /turn/usage.json"],
    ["cline", "--json Do what follows.\n\nDo it.\n"],
    ["pi", "-p --mode json"],
    ["amp", "-x --dangerously-allow-all --stream-json"],
    ["cursor", "-p --output-format stream-json --force"],
    ["droid", "exec -o stream-json --skip-permissions-unsafe -f /turn/prompt.md"],
    [
      "aider",
      "--message-file /turn/prompt.md --yes-always --no-stream --no-pretty --no-check-update --no-auto-commits",
    ],
  ])("%s runs without questions", (name, expected) => {
    expect(line(name)).toBe(expected);
  });

  test.each([
    ["claude", "--model large --effort high"],
    ["codex", '-m large -c model_reasoning_effort="high" -'],
    ["opencode", "-m large --variant high"],
    ["gemini", "-m large"],
    ["qwen", "-m large"],
    ["copilot", "--model large --reasoning-effort high"],
    ["cline", "-m large --thinking high Do what follows.\n\nDo it.\n"],
    ["pi", "--model large --thinking high"],
    ["amp", "--mode large"],
    ["cursor", "--model large"],
    ["droid", "-m large -r high -f /turn/prompt.md"],
    ["aider", "--model large --reasoning-effort high"],
  ])("%s takes the model and the reasoning that it knows", (name, end) => {
    expect(line(name, CHOSEN)).toMatch(new RegExp(`${end.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`));
  });

  test.each(ADAPTERS.map(({ name }) => name))(
    "%s never puts a long prompt among the arguments of an unattended turn",
    (name) => {
      const prompt = '--help `rm -rf` "quoted"\n'.repeat(40_000);

      const { arguments: list, input, files = {} } = driverOf(name).arguments({ ...PLAIN, prompt });

      expect(list.join(" ").length).toBeLessThan(500);
      expect([input, ...Object.values(files)]).toContain(prompt);
    },
  );

  test.each(ADAPTERS.filter(({ takes }) => takes?.includes("terminal")).map(({ name }) => name))(
    "%s leaves approvals to the person at the terminal",
    (name) => {
      const { arguments: list, input } = driverOf(name).interactive!(PLAIN);

      expect(list).toContain(PLAIN.prompt);
      expect(input).toBe(null);
      expect(list.join(" ")).not.toMatch(/dangerous|yolo|--auto|allow-all|--force/);
    },
  );

  test.each(ADAPTERS)("$name says rightly whether it takes the terminal", ({ name, takes = [] }) => {
    expect(takes.includes("terminal")).toBe(driverOf(name).interactive !== null);
  });

  test("claude is neither nested nor in the background", () => {
    const { environment } = driverOf("claude").arguments(PLAIN);

    expect(environment).toMatchObject({ CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: "1", CLAUDECODE: undefined });
    expect(Object.keys(environment!)).toContain("CLAUDECODE");
  });

  test("ten adapters were run against the real program", () => {
    const measured = ADAPTERS.filter(({ proof }) => proof.kind === "measured").map(({ name }) => name);

    expect(measured).toEqual([
      "claude",
      "codex",
      "builtin",
      "opencode",
      "gemini",
      "qwen",
      "copilot",
      "cline",
      "pi",
      "amp",
    ]);
  });
});

describe("the model server of `provider.endpoint`", () => {
  const endpoint = {
    ...endpointOf({
      url: "http://127.0.0.1:8080/v1/",
      keyVariable: "A_KEY",
      context: 65_536,
      price: { input: 1, output: 2 },
    }),
    model: "small",
  };

  test("pi gets a folder of settings with the server, the model and the variable of the key", () => {
    const { arguments: list, environment, files } = driverOf("pi").arguments({ ...PLAIN, endpoint });
    const { providers } = JSON.parse(files?.["models.json"] ?? "{}") as { readonly providers: unknown };

    expect(list.join(" ")).toBe("-p --mode json --provider endpoint --model small");
    expect(environment).toEqual({ PI_CODING_AGENT_DIR: "/turn" });
    expect(providers).toEqual({
      endpoint: {
        baseUrl: "http://127.0.0.1:8080/v1",
        api: "openai-completions",
        apiKey: "A_KEY",
        models: [{
          id: "small",
          reasoning: false,
          input: ["text"],
          contextWindow: 65_536,
          cost: { input: 1, output: 2, cacheRead: 1, cacheWrite: 1 },
        }],
      },
    });
  });

  test("opencode gets them as its settings, the key by its variable", () => {
    const { arguments: list, environment } = driverOf("opencode").arguments({ ...PLAIN, endpoint });

    expect(list.join(" ")).toBe("run --auto --format json -m endpoint/small");
    expect(JSON.parse(environment?.["OPENCODE_CONFIG_CONTENT"] ?? "{}")).toMatchObject({
      model: "endpoint/small",
      provider: {
        endpoint: {
          npm: "@ai-sdk/openai-compatible",
          options: { baseURL: "http://127.0.0.1:8080/v1", apiKey: "{env:A_KEY}" },
          models: { small: { limit: { context: 65_536, output: 8192 }, cost: { input: 1, output: 2, cache_read: 1 } } },
        },
      },
    });
  });
});
