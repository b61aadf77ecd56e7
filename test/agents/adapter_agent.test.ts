import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { adapterAgent } from "../../lib/agents/adapter_agent.ts";
import { findAdapter } from "../../lib/agents/adapters.ts";
import type { AgentEvent } from "../../lib/agents/adapter.ts";
import type { Host } from "../../lib/host/types.ts";
import { FIXTURES, type TurnFixture, turnFixture } from "./turn_fixture.ts";

const TRANSCRIPTS = resolve(import.meta.dirname, "../fixtures/transcripts");

/** A host on whose PATH the program is one that replays. */
function withProgram(fixture: TurnFixture, name: string): Host {
  const folder = join(fixture.folder, "bin");
  mkdirSync(folder, { recursive: true });
  chmodSync(join(FIXTURES, "replay.sh"), 0o755);
  symlinkSync(join(FIXTURES, "replay.sh"), join(folder, name));
  const { environment } = fixture.host;
  const variables = {
    ...environment.variables,
    PATH: `${folder}${delimiter}${environment.variables["PATH"] ?? ""}`,
    CLAUDECODE: "1",
  };
  return { ...fixture.host, environment: { ...environment, variables } };
}

function noted(fixture: TurnFixture, file: string): string {
  return readFileSync(join(fixture.folder, file), "utf8");
}

/** A host on whose PATH the program is this shell script, and for which a minute takes a second. */
function withScript(fixture: TurnFixture, name: string, script: string): Host {
  const folder = join(fixture.folder, "bin");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const { clock, environment } = fixture.host;
  const PATH = `${folder}${delimiter}${environment.variables["PATH"] ?? ""}`;
  return {
    ...fixture.host,
    clock: { ...clock, sleep: (ms, signal) => clock.sleep(ms / 60, signal) },
    environment: { ...environment, variables: { ...environment.variables, PATH } },
  };
}

test("claude that fails without a word is said to have given no reason", async () => {
  await using fixture = turnFixture();
  const script = 'echo \'{"type":"result","subtype":"error_during_execution","is_error":true,"result":""}\'';
  const agent = adapterAgent(findAdapter("claude")!, { host: withScript(fixture, "claude", script) });

  const { end } = await agent.runTurn(fixture.request({ timeoutMs: 20_000 }));

  expect(end).toMatchObject({ reason: "agent-failed", message: "the agent failed: it gave no reason" });
});

describe("adapterAgent() without a login", () => {
  test.each([
    ["amp", 'echo "No API key found. Starting login flow..."; echo "paste your code here:"; sleep 60'],
    [
      "pi",
      'echo \'{"type":"session","id":"1"}\'; echo "No API key found for the selected model." >&2; echo "  /x/models.md" >&2; exit 1',
    ],
    ["copilot", 'echo "Error: No authentication information found." >&2; echo >&2; echo "  • Run /login" >&2; exit 1'],
    [
      "qwen",
      'echo \'{"type":"result","subtype":"error_during_execution","is_error":true,"error":{"message":"No auth type is selected. Please configure an auth type"}}\'; exit 1',
    ],
    ["opencode", 'echo "Error: no providers configured" >&2; exit 1'],
    ["codex", 'echo \'{"type":"thread.started","thread_id":"1"}\'; echo "Not logged in" >&2; sleep 60'],
  ])("%s cannot be used, and says how to log in; one that waits for it is ended", async (name, script) => {
    await using fixture = turnFixture();
    const agent = adapterAgent(findAdapter(name)!, { host: withScript(fixture, name, script) });

    const { end } = await agent.runTurn(fixture.request({ timeoutMs: 20_000 }));

    expect(end).toMatchObject({
      reason: "agent-unusable",
      message: expect.stringContaining(`\`${name}\` is not logged in`),
    });
  });

  test.each([
    [
      "codex",
      'echo \'{"type":"thread.started","thread_id":"1"}\'; while :; do echo \'{"type":"error","message":"Reconnecting... waiting for network (Connection failed)"}\'; sleep 0.2; done',
    ],
    ["opencode", "sleep 60"],
    [
      "cline",
      'echo \'{"type":"run_result","finishReason":"error","text":"Cannot connect to API: Was there a typo in the url or port?"}\'; exit 1',
    ],
  ])("%s that waits for a server without a login is ended, unless there is one", async (name, script) => {
    await using fixture = turnFixture();
    const host = withScript(fixture, name, script);
    const { OPENAI_API_KEY: _, ANTHROPIC_API_KEY: __, ...variables } = host.environment.variables;
    const at = (more: Readonly<Record<string, string>>): Host => ({
      ...host,
      environment: { ...host.environment, home: fixture.folder, variables: { ...variables, ...more } },
    });

    const { end } = await adapterAgent(findAdapter(name)!, { host: at({}) }).runTurn(
      fixture.request({ timeoutMs: 15_000 }),
    );
    expect(end).toMatchObject({
      reason: "agent-unusable",
      message: expect.stringContaining(`\`${name}\` is not logged in: its model gave no answer`),
    });
    const known = adapterAgent(findAdapter(name)!, { host: at({ OPENAI_API_KEY: "set" }) });
    const waited = await known.runTurn(fixture.request({ timeoutMs: 3000 }));
    expect(["timed-out", "unavailable"]).toContain(waited.end.reason);
  });

  test("one that goes on after such words is left at work", async () => {
    await using fixture = turnFixture();
    const script = 'echo "Not logged in to the telemetry service" >&2; cat "$REPLAY"';
    const agent = adapterAgent(findAdapter("claude")!, { host: withScript(fixture, "claude", script) });
    const environment = { REPLAY: join(TRANSCRIPTS, "claude/completed.jsonl") };

    expect((await agent.runTurn(fixture.request({ environment }))).end).toEqual({ reason: "completed" });
  });

  test("gemini that refuses the key that is set is told the setting, and not to set it", async () => {
    await using fixture = turnFixture();
    const script = 'echo "Invalid auth method selected." >&2; exit 41';
    const agent = adapterAgent(findAdapter("gemini")!, { host: withScript(fixture, "gemini", script) });

    const { end } = await agent.runTurn(fixture.request());

    expect(end).toMatchObject({ reason: "agent-unusable", message: expect.stringContaining("selectedType") });
    expect(end).not.toMatchObject({ message: expect.stringContaining("or set GEMINI_API_KEY") });
  });

  test("gemini's broken stream is told by the error before its result, and its provider is waited for", async () => {
    await using fixture = turnFixture();
    const lines = [
      { type: "init", session_id: "1", model: "m" },
      { type: "error", severity: "error", message: "Model stream ended without a finish reason." },
      { type: "result", status: "error", stats: {} },
    ];
    const script = `cat <<'EOF'\n${lines.map((line) => JSON.stringify(line)).join("\n")}\nEOF`;
    const agent = adapterAgent(findAdapter("gemini")!, { host: withScript(fixture, "gemini", script) });

    expect((await agent.runTurn(fixture.request())).end).toMatchObject({
      reason: "unavailable",
      message: expect.stringContaining("Model stream ended"),
    });
  });
});

describe("adapterAgent()", () => {
  test("adapterAgent() runs a turn: prompt on standard input, events as they come, words, usage, transcript", async () => {
    await using fixture = turnFixture();
    const events: AgentEvent[] = [];
    const agent = adapterAgent(findAdapter("claude")!, { host: withProgram(fixture, "claude"), model: "small" });
    const prompt = "Do it, please.\n".repeat(20_000);

    await agent.ensureUsable();
    const turn = await agent.runTurn(fixture.request({
      prompt,
      environment: { REPLAY_FILE: join(TRANSCRIPTS, "claude/completed.jsonl"), REPLAY_NOTES: fixture.folder },
      onEvent: (event) => events.push(event),
    }));

    expect(turn.end).toEqual({ reason: "completed" });
    expect(turn.lines).toEqual(["All green.", "<ralph>DONE</ralph>"]);
    expect(turn.usage).toMatchObject({ inputTokens: 157, costUsd: 0.5, estimated: true });
    expect(turn.activity).toEqual({ toolCalls: 2, asked: false, planned: false });
    expect(noted(fixture, "stdin.txt")).toBe(prompt);
    expect(noted(fixture, "call.txt")).toContain("--model\nsmall\n");
    expect(noted(fixture, "call.txt")).toContain("CLAUDECODE=unset");
    expect(readFileSync(turn.transcript)).toEqual(readFileSync(join(TRANSCRIPTS, "claude/completed.jsonl")));
    expect(events.map(({ type }) => type).slice(0, 4)).toEqual([
      "agent-start",
      "agent-text",
      "agent-usage",
      "agent-tool-call",
    ]);
  });

  test("adapterAgent() gives each turn a temporary folder and takes it away", async () => {
    await using fixture = turnFixture();
    const agent = adapterAgent(findAdapter("codex")!, { host: withProgram(fixture, "codex") });

    await agent.runTurn(fixture.request({ environment: { REPLAY_NOTES: fixture.folder } }));

    const folder = /^TMPDIR=(.+)$/m.exec(noted(fixture, "call.txt"))![1]!;
    expect(folder).toContain("ralph-agent-");
    expect(existsSync(folder)).toBe(false);
  });

  test("adapterAgent() takes usage from the file of a program that does not print it", async () => {
    await using fixture = turnFixture();
    const agent = adapterAgent(findAdapter("copilot")!, { host: withProgram(fixture, "copilot") });
    const usage = {
      modelMetrics: { "gpt-test": { usage: { inputTokens: 100, outputTokens: 20, cacheReadTokens: 30 } } },
    };

    const turn = await agent.runTurn(fixture.request({
      environment: {
        REPLAY_FILE: join(TRANSCRIPTS, "copilot/completed.jsonl"),
        REPLAY_NOTES: fixture.folder,
        REPLAY_USAGE: JSON.stringify(usage),
      },
    }));

    expect(turn.end).toEqual({ reason: "completed" });
    expect(turn.usage).toMatchObject({ inputTokens: 100, outputTokens: 20, cachedTokens: 30, costUsd: null });
  });

  test("adapterAgent() masks secrets in events, ends and the transcript", async () => {
    await using fixture = turnFixture();
    const events: AgentEvent[] = [];
    const agent = adapterAgent(findAdapter("codex")!, { host: withProgram(fixture, "codex") });
    const secret = "hunter2-hunter2-hunter2";

    const turn = await agent.runTurn(fixture.request({
      environment: {
        MY_API_KEY: secret,
        REPLAY_NOTES: fixture.folder,
        REPLAY_EXIT: "1",
        REPLAY_STDERR: `no luck with ${secret}`,
      },
      onEvent: (event) => events.push(event),
    }));

    expect(turn.end).toMatchObject({ reason: "agent-failed", message: expect.stringContaining("no luck with ***") });
    expect(readFileSync(turn.transcript, "utf8")).toBe("no luck with ***\n");
  });

  test("adapterAgent() ends a turn that hangs after its words, as idle", async () => {
    await using fixture = turnFixture();
    const agent = adapterAgent(findAdapter("pi")!, { host: withProgram(fixture, "pi") });

    const turn = await agent.runTurn(fixture.request({
      idleTimeoutMs: 300,
      environment: {
        REPLAY_FILE: join(TRANSCRIPTS, "pi/completed.jsonl"),
        REPLAY_NOTES: fixture.folder,
        REPLAY_HANG: "1",
      },
    }));

    expect(turn.end).toMatchObject({ reason: "idle" });
  });

  test("adapterAgent() hands a prompt over in a file where the program reads one", async () => {
    await using fixture = turnFixture();
    const agent = adapterAgent(findAdapter("aider")!, { host: withProgram(fixture, "aider") });

    const turn = await agent.runTurn(fixture.request({
      prompt: "Look.\n",
      environment: { REPLAY_FILE: join(FIXTURES, "echo-prompt.sh"), REPLAY_NOTES: fixture.folder },
    }));

    expect(turn.end).toEqual({ reason: "completed" });
    expect(turn.text).toContain("#!/");
    expect(turn.activity).toBeUndefined();
    expect(noted(fixture, "call.txt")).toMatch(/--message-file\n\S+ralph-agent-\S+prompt\.md\n/);
  });

  test("ensureUsable() says how to get a program that is not there", async () => {
    await using fixture = turnFixture();
    const host = { ...fixture.host, environment: { ...fixture.host.environment, variables: { PATH: fixture.folder } } };

    await expect(adapterAgent(findAdapter("codex")!, { host }).ensureUsable()).rejects.toMatchObject({
      code: "agent-not-found",
      message: "the agent command `codex` was not found: it is not on PATH",
      hint: expect.stringContaining("npm install -g @openai/codex"),
    });
  });
});
