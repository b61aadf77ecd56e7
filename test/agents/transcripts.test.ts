import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ADAPTERS } from "../../lib/agents/adapters.ts";
import type { TurnEnd } from "../../lib/backlog/types.ts";
import { driverOf, type Exit, readStream } from "./captures.ts";

const FOLDER = resolve(import.meta.dirname, "../fixtures/transcripts");
const PROMPT = "The prompt.\n<ralph>DONE</ralph>\n";
const NOW = Date.parse("2026-11-21T22:00:00Z");
const STREAMING = ADAPTERS.filter(({ name }) => driverOf(name).translator !== null).map(({ name }) => name);

function fixture(agent: string, name: string): Buffer {
  return readFileSync(join(FOLDER, agent, `${name}.jsonl`));
}

function read(agent: string, name: string, exit: Exit = {}) {
  return readStream(agent, fixture(agent, name), exit, { prompt: PROMPT, now: NOW });
}

describe("a turn that completed", () => {
  test.each(STREAMING)("%s: the final words are the last message, and the marker in them counts once", (agent) => {
    const turn = read(agent, "completed");

    expect(turn.end).toEqual({ reason: "completed" });
    expect(turn.text).toBe("All green.\n\n<ralph>DONE</ralph>");
    expect(turn.lines).toEqual(["All green.", "<ralph>DONE</ralph>"]);
  });

  test.each(STREAMING)("%s: the same stream with exit code 1 is no success", (agent) => {
    expect(read(agent, "completed", { exitCode: 1 }).end.reason).not.toBe("completed");
  });

  test.each([
    ["claude", {
      inputTokens: 157,
      outputTokens: 23,
      cachedTokens: 40,
      reasoningTokens: 5,
      costUsd: 0.5,
      estimated: true,
    }],
    ["codex", {
      inputTokens: 150,
      outputTokens: 20,
      cachedTokens: 40,
      reasoningTokens: 5,
      costUsd: null,
      estimated: false,
    }],
    ["opencode", {
      inputTokens: 150,
      outputTokens: 24,
      cachedTokens: 40,
      reasoningTokens: 4,
      costUsd: 0.5,
      estimated: true,
    }],
    ["gemini", {
      inputTokens: 150,
      outputTokens: 20,
      cachedTokens: 40,
      reasoningTokens: null,
      costUsd: null,
      estimated: false,
    }],
    ["qwen", {
      inputTokens: 150,
      outputTokens: 20,
      cachedTokens: 40,
      reasoningTokens: null,
      costUsd: null,
      estimated: false,
    }],
    ["cline", {
      inputTokens: 150,
      outputTokens: 20,
      cachedTokens: 40,
      reasoningTokens: null,
      costUsd: 0.125,
      estimated: true,
    }],
    ["pi", {
      inputTokens: 225,
      outputTokens: 30,
      cachedTokens: 60,
      reasoningTokens: null,
      costUsd: 0.75,
      estimated: true,
    }],
    ["builtin", {
      inputTokens: 100,
      outputTokens: 20,
      cachedTokens: 40,
      reasoningTokens: 8,
      costUsd: 0.5,
      estimated: true,
    }],
    ["amp", {
      inputTokens: 150,
      outputTokens: 20,
      cachedTokens: 40,
      reasoningTokens: null,
      costUsd: null,
      estimated: false,
    }],
    ["cursor", {
      inputTokens: null,
      outputTokens: null,
      cachedTokens: null,
      reasoningTokens: null,
      costUsd: null,
      estimated: false,
    }],
  ])("%s: usage counts the cache in the input and reasoning in the output; unknown is not 0", (agent, usage) => {
    expect(read(agent, "completed").summary.usage).toEqual(usage);
  });
});

describe("other ends", () => {
  test.each<[string, string, Exit, TurnEnd["reason"], RegExp]>([
    ["claude", "mid-tool", {}, "cut-off", /in the middle of a tool call/],
    ["claude", "asked", {}, "completed", /^$/],
    [
      "claude",
      "no-credit",
      { exitCode: 1 },
      "agent-unusable",
      /no credit: Credit balance is too low \(see to its plan and billing\)/,
    ],
    ["claude", "too-long", { exitCode: 1 }, "context-exhausted", /no longer fits/],
    ["claude", "weekly-limit", { exitCode: 1 }, "rate-limited", /weekly limit/],
    ["codex", "usage-limit", { exitCode: 1 }, "rate-limited", /usage limit/],
    ["codex", "no-result", {}, "cut-off", /without a result/],
    ["opencode", "limit", { exitCode: 1 }, "rate-limited", /Too Many Requests/],
    ["opencode", "context", { exitCode: 1 }, "context-exhausted", /prompt is too long/],
    ["gemini", "daily-quota", { exitCode: 173 }, "rate-limited", /daily quota/],
    ["qwen", "limit", { exitCode: 1 }, "rate-limited", /429/],
    ["copilot", "weekly-limit", { exitCode: 1 }, "rate-limited", /weekly rate limit/],
    ["cline", "limit", { exitCode: 1 }, "rate-limited", /try again in 6m0s/],
    ["pi", "limit", {}, "rate-limited", /^429/],
    ["builtin", "limit", { exitCode: 1 }, "rate-limited", /Too many requests/],
    ["amp", "overloaded", {}, "unavailable", /Overloaded/],
  ])("%s %s %j is %s", (agent, name, exit, reason, message) => {
    const { end } = read(agent, name, exit);

    expect(end.reason).toBe(reason);
    expect("message" in end ? end.message : "").toMatch(message);
  });

  test.each<[string, string, number | null]>([
    ["claude", "weekly-limit", 1_800_003_600_000],
    ["opencode", "limit", NOW + 120_000],
    ["copilot", "weekly-limit", NOW + 3 * 3_600_000],
    ["cline", "limit", NOW + 360_000],
    ["pi", "limit", NOW + 20_000],
    ["builtin", "limit", NOW + 90_000],
    ["qwen", "limit", null],
    ["gemini", "daily-quota", null],
  ])("%s %s: until %s", (agent, name, until) => {
    // the end of claude's limit stands as a date, the others' as a time from now
    const now = agent === "claude" ? 1_800_000_000_000 : NOW;

    const { end } = readStream(agent, fixture(agent, name), { exitCode: 1 }, { prompt: PROMPT, now });

    expect(end).toMatchObject({ reason: "rate-limited", untilMs: until });
  });

  test("a question that was asked with a tool is told as activity", () => {
    expect(read("claude", "asked").summary).toMatchObject({ asked: true, planned: false, toolCalls: 1 });
  });

  test("a subagent's words are nobody's claim", () => {
    const words = read("claude", "completed").events.filter((event) => event.type === "agent-text");

    expect(words.map(({ text }) => text)).toEqual(["I will run the tests.", "All green.\n\n<ralph>DONE</ralph>"]);
  });

  test.each<[string, Exit, TurnEnd["reason"]]>([
    ["nothing at all", { exitCode: 0 }, "cut-off"],
    ["a bad flag", { exitCode: 2, stderr: "error: unexpected argument '--nope' found\n" }, "agent-unusable"],
    ["no login", { exitCode: 1, stderr: "starting\nError: No API key found for anthropic\n" }, "agent-unusable"],
    [
      "an unknown model",
      { exitCode: 1, stderr: "Model not found: mock/none\nError: unknown model mock/none" },
      "agent-unusable",
    ],
    ["anything else", { exitCode: 1, stderr: "Segmentation something" }, "agent-failed"],
    ["a kill from outside", { exitCode: null, signal: "SIGKILL" }, "killed"],
    ["a shell's word for one", { exitCode: 143 }, "killed"],
    ["a crash", { exitCode: null, signal: "SIGSEGV" }, "crashed"],
    ["a program that is not there", { reason: "not-found", exitCode: null }, "agent-unusable"],
  ])("a stream without a line, and %s", (_, exit, reason) => {
    expect(readStream("codex", Buffer.alloc(0), exit).end.reason).toBe(reason);
  });

  test("a package called ratelimit in the agent's work is no limit", () => {
    const lines = [
      { type: "thread.started", thread_id: "t" },
      { type: "item.started", item: { id: "1", type: "command_execution", command: "npm i ratelimit" } },
      {
        type: "item.completed",
        item: { id: "1", type: "command_execution", aggregated_output: "429 Too Many Requests", exit_code: 1 },
      },
      {
        type: "item.completed",
        item: { id: "2", type: "agent_message", text: "Added a rate limit (429) with ratelimit." },
      },
      { type: "turn.completed", usage: { input_tokens: 1, output_tokens: 1 } },
    ];
    const stdout = Buffer.from(lines.map((line) => JSON.stringify(line)).join("\n"));

    expect(readStream("codex", stdout, { exitCode: 0 }).end).toEqual({ reason: "completed" });
  });
});

describe("whatever comes", () => {
  /** Lines that look like an agent's, with anything in their fields. */
  const scrambled = (agent: string): fc.Arbitrary<string> => {
    const keys = new Set<string>();
    const texts = new Set<string>();
    for (const name of readdirSync(join(FOLDER, agent))) {
      for (const line of readFileSync(join(FOLDER, agent, name), "utf8").trim().split("\n")) {
        JSON.parse(line, (key, value: unknown) => {
          keys.add(key);
          if (typeof value === "string" && value.length < 40) texts.add(value);
          return value;
        });
      }
    }
    const word = fc.constantFrom(...texts);
    const key = fc.constantFrom(...keys);
    const { node } = fc.letrec<{ node: unknown }>((tie) => ({
      node: fc.oneof(
        { maxDepth: 5 },
        word,
        fc.jsonValue({ maxDepth: 2 }),
        fc.array(tie("node"), { maxLength: 3 }),
        fc.dictionary(key, tie("node"), { maxKeys: 6 }),
      ),
    }));
    const line = fc.tuple(word, fc.dictionary(key, node, { maxKeys: 8 })).map(([type, rest]) =>
      JSON.stringify({ ...rest, type })
    );
    return fc.oneof(
      { weight: 5, arbitrary: line },
      fc.json({ maxDepth: 4 }),
      fc.string(),
      fc.constantFrom("", "null", "{", "[]", "\u0000"),
    );
  };

  test.each(STREAMING)("%s: no line whatever makes its translator throw, and any split gives the same", (agent) => {
    fc.assert(
      fc.property(
        fc.array(scrambled(agent), { maxLength: 12 }),
        fc.uint8Array({ maxLength: 5 }),
        fc.integer({ min: 1, max: 60 }),
        fc.constantFrom<Exit>({ exitCode: 0 }, { exitCode: 1, stderr: "429" }, { reason: "idle" }),
        (lines, noise, chunk, exit) => {
          const bytes = Buffer.concat([Buffer.from(lines.join("\n")), noise]);
          const whole = readStream(agent, bytes, exit, { chunk: bytes.length + 1 });

          expect(readStream(agent, bytes, exit, { chunk })).toEqual(whole);
        },
      ),
      { numRuns: 300 },
    );
  });
});
