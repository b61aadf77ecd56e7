import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { TurnEnd, Usage } from "../../lib/backlog/types.ts";
import { capture, CAPTURED_AT, captureNames, CAPTURES, readStream } from "./captures.ts";
import { only } from "../needs.ts";

const AGENTS = ["claude", "codex", "opencode", "gemini", "qwen", "copilot", "cline", "pi", "amp"] as const;
const MARKERS = ["<ralph>DONE</ralph>", "<ralph>FAILED</ralph>"];

type Reason = TurnEnd["reason"];

/** The end of each case, read from the streams by hand; by agent if they differ. */
const ENDS: Readonly<Record<string, Reason | Readonly<Partial<Record<(typeof AGENTS)[number] | "else", Reason>>>>> = {
  "success": "completed",
  "success-arg": "completed",
  "not-done": "completed",
  "tool-error": "completed",
  "thinking": "completed",
  "wide": "completed",
  "no-such-model": "completed",
  "resume-1": "completed",
  "resume-2": { cline: "agent-failed", else: "completed" },
  "auth-error": "agent-unusable",
  "rate-limit": { qwen: "killed", else: "rate-limited" },
  "server-error": "unavailable",
  "drop": "unavailable",
  "hang-api-term": "killed",
  "hang-tool-term": "killed",
  "hang-tool-int": { codex: "cut-off", else: "killed" },
  "x-max-turns": "agent-failed",
  "x-sub-limit": "rate-limited",
  "x-unknown-flag": "agent-unusable",
};

/** Tokens of output of one step, as far as its stream says; claude's messages tell what there was when they began. */
const USED_SO_FAR: Readonly<Partial<Record<(typeof AGENTS)[number], number>>> = {
  claude: 1,
  qwen: 40,
  cline: 40,
  pi: 40,
  amp: 40,
};

/** The last line that can be a signal, of each case that completed. */
const LAST: Readonly<Record<string, string>> = {
  "success": "<ralph>DONE</ralph>",
  "success-arg": "<ralph>DONE</ralph>",
  "thinking": "<ralph>DONE</ralph>",
  "wide": "<ralph>DONE</ralph>",
  "no-such-model": "<ralph>DONE</ralph>",
  "resume-1": "<ralph>DONE</ralph>",
  "resume-2": "<ralph>DONE</ralph>",
  "tool-error": "<ralph>FAILED</ralph>",
  "not-done": "I have more to do next time.",
};

const UNKNOWN = { inputTokens: null, outputTokens: null, cachedTokens: null, costUsd: null };

/**
 * The usage of a run of three steps: 1,200 new, 300 from the cache and 40 of output each; 50 written to it where it is
 * told.
 */
const SUCCESS_USAGE: Readonly<Record<(typeof AGENTS)[number], Partial<Usage>>> = {
  claude: {
    inputTokens: 4650,
    outputTokens: 120,
    cachedTokens: 900,
    costUsd: expect.closeTo(0.01773, 6) as never,
    estimated: true,
  },
  codex: { inputTokens: 4650, outputTokens: 120, cachedTokens: 900, costUsd: null },
  opencode: {
    inputTokens: 4650,
    outputTokens: 120,
    cachedTokens: 900,
    costUsd: expect.closeTo(0.01332, 6) as never,
    estimated: true,
  },
  gemini: { inputTokens: 4650, outputTokens: 120, cachedTokens: 900, costUsd: null },
  qwen: { inputTokens: 4650, outputTokens: 120, cachedTokens: 900, costUsd: null },
  copilot: UNKNOWN, // stands in a file of its own
  cline: { inputTokens: 4650, outputTokens: 120, cachedTokens: 900, costUsd: null },
  pi: {
    inputTokens: 4650,
    outputTokens: 120,
    cachedTokens: 900,
    costUsd: expect.closeTo(0.01332, 6) as never,
    estimated: true,
  },
  amp: { inputTokens: 4650, outputTokens: 120, cachedTokens: 900, costUsd: null },
};

const present = existsSync(CAPTURES);
if (!present) console.warn(`skipped: no recorded output of real agents in ${CAPTURES}`);

describe("recorded output of the real programs", only(present, "recorded output of agents"), () => {
  for (const agent of AGENTS) {
    const names = captureNames(agent).filter((name) => !name.startsWith("plain-"));

    test.each(names)(`${agent} %s ends as it did`, (name) => {
      const { stdout, exit, prompt } = capture(agent, name);
      const expected = ENDS[name];

      const read = readStream(agent, stdout, exit, { prompt });

      expect(expected, `no end is written down for ${name}`).toBeDefined();
      const reason = typeof expected === "string" ? expected : expected![agent] ?? expected!.else;
      expect(read.end.reason, JSON.stringify(read.end)).toBe(reason);
      if (reason === "completed") expect(read.lines.at(-1)).toBe(LAST[name]);
      for (const marker of MARKERS) {
        const count = read.lines.filter((line) => line === marker).length;
        expect(count, marker).toBe(reason === "completed" && LAST[name] === marker ? 1 : 0);
      }
    });

    test(`${agent} is never taken at its prompt's or its tools' word`, () => {
      for (const name of names) {
        const { stdout, exit, prompt } = capture(agent, name);

        const { text, events } = readStream(agent, stdout, exit);

        expect(text).not.toContain(prompt.trim() || "Please create a file named");
        const words = events.filter((event) => event.type === "agent-text").map((event) => event.text).join("\n");
        expect(words).not.toContain("Please create a file named");
        expect(words).not.toContain("[API Error");
      }
    });

    test(`${agent} tells what it used, tools and changes included`, () => {
      const { stdout, exit } = capture(agent, "success");

      const { summary, events } = readStream(agent, stdout, exit);

      expect(summary.usage).toMatchObject(SUCCESS_USAGE[agent]);
      expect(summary).toMatchObject({ toolCalls: 2, openCalls: 0, asked: false, planned: false });
      expect(events.filter((event) => event.type === "agent-tool-result").map(({ ok }) => ok)).toEqual([true, true]);
      expect(events.filter((event) => event.type === "agent-line-invalid")).toEqual([]);
    });

    test(`${agent} tells what a turn that is ended in a tool has used, as far as its stream says`, () => {
      const { stdout, exit } = capture(agent, "hang-tool-term");
      const said = USED_SO_FAR[agent];

      const { summary } = readStream(agent, stdout, exit);

      const tokens = said === undefined ? UNKNOWN : { inputTokens: 1550, outputTokens: said, cachedTokens: 300 };
      expect(summary.usage).toMatchObject(tokens);
    });

    test(`${agent} shows a failing command as failed`, () => {
      const { stdout, exit } = capture(agent, "tool-error");

      const { events } = readStream(agent, stdout, exit);

      const [result] = events.filter((event) => event.type === "agent-tool-result");
      // gemini calls it a success and says nothing of the exit code
      expect(result).toMatchObject({ ok: agent === "gemini", output: expect.stringContaining("out") });
    });

    test(`${agent}, ended by Ralph's own timeout, timed out whatever its exit code`, () => {
      for (const name of ["hang-api-term", "hang-tool-term", "hang-tool-int"]) {
        const { stdout, exit } = capture(agent, name);

        expect(readStream(agent, stdout, { ...exit, reason: "timed-out" }).end.reason).toBe("timed-out");
        expect(readStream(agent, stdout, { ...exit, reason: "idle" }).end.reason).toBe("idle");
        expect(readStream(agent, stdout, { ...exit, reason: "aborted" }).end).toEqual({ reason: "aborted" });
      }
    });

    test(`${agent} that ended with 0 in the middle of its work was cut off`, () => {
      const { stdout } = capture(agent, "success");
      const lines = stdout.toString("utf8").trimEnd().split("\n");
      const middle = Buffer.from(lines.slice(0, Math.floor(lines.length / 2)).join("\n"));

      expect(readStream(agent, middle, { exitCode: 0 }).end.reason).toBe("cut-off");
    });
  }

  test("a turn that was ended while it waited for its limit is rate-limited, not stuck", () => {
    const { stdout, exit } = capture("qwen", "rate-limit");

    expect(readStream("qwen", stdout, { ...exit, reason: "timed-out" }).end).toMatchObject({ reason: "rate-limited" });
  });

  test("a limit's end is taken from where the agent says it", () => {
    const limit = (agent: string, name: string): unknown => {
      const { stdout, exit } = capture(agent, name);
      const { end } = readStream(agent, stdout, exit);
      return "untilMs" in end ? end.untilMs : "no limit";
    };

    expect(limit("claude", "x-sub-limit")).toBe(1_795_330_800_000);
    expect(limit("opencode", "rate-limit")).toBe(CAPTURED_AT + 1000);
    expect(limit("gemini", "rate-limit")).toBe(CAPTURED_AT + 1000);
    expect(limit("codex", "rate-limit")).toBe(null);
  });

  test.each(AGENTS)("%s: any split of the same bytes gives the same events", (agent) => {
    const { stdout, exit } = capture(agent, "success");
    const whole = readStream(agent, stdout, exit, { chunk: stdout.length });

    for (const chunk of [1, 7, 1000, 4096]) expect(readStream(agent, stdout, exit, { chunk })).toEqual(whole);
  });
});
