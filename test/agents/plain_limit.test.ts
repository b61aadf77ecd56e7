import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { commandAgent } from "../../lib/agents/command_agent.ts";
import { plainLimit } from "../../lib/agents/plain_limit.ts";
import type { ProcessEnd } from "../../lib/host/types.ts";
import { CAPTURES } from "./captures.ts";
import { turnFixture } from "./turn_fixture.ts";
import { only } from "../needs.ts";

const NOW = Date.parse("2026-11-21T20:30:00Z");

function read(stdout: string, stderr: string, exitCode = 1, prompt = ""): ReturnType<typeof plainLimit> {
  const end: ProcessEnd = {
    reason: "exited",
    exitCode,
    signal: null,
    durationMs: 1,
    stdout,
    stderr,
    tail: stdout + stderr,
  };
  return plainLimit(end, { prompt, now: NOW });
}

describe("plainLimit()", () => {
  test.each([
    ["You've hit your limit · resets 5pm (Europe/Vilnius)", "2026-11-22T15:00:00.000Z"],
    ["You've hit your 5-hour limit · resets 7am (UTC)", "2026-11-22T07:00:00.000Z"],
    ["You've reached your weekly limit · resets Nov 25, 9am (America/New_York)", "2026-11-25T14:00:00.000Z"],
    ["5-hour limit reached ∙ resets 11pm (UTC)", "2026-11-21T23:00:00.000Z"],
    ["Claude AI usage limit reached|1795330800", "2026-11-22T07:00:00.000Z"],
    ["Claude usage limit reached. Your limit will reset at 10pm (Asia/Kolkata).", "2026-11-22T16:30:00.000Z"],
    ["API Error: Request rejected (429) · This request would exceed the rate limit (mock)", null],
    [
      "ERROR: You’ve hit your usage limit. Upgrade to Pro or try again in 2 days 17 hours 14 minutes.",
      "2026-11-24T13:44:00.000Z",
    ],
    ["ERROR: exceeded retry limit, last status: 429 Too Many Requests", null],
    [
      "stream error: unexpected status 429 Too Many Requests: Rate limit reached for gpt-5 in organization org-1 on tokens per min (TPM): Limit 30000. Please try again in 6m0s.",
      "2026-11-21T20:36:00.000Z",
    ],
    [
      '429 {"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your account\'s rate limit. Please try again later."}}',
      null,
    ],
    [
      'Error: 429 {"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed the rate limit"}}',
      null,
    ],
    ["\u001b[91m\u001b[1mError: \u001b[0mThis request would exceed the rate limit", null],
    [
      "[API Error: You have exhausted your capacity on this model. Your quota will reset after 2h31m25s.]",
      "2026-11-21T23:01:25.000Z",
    ],
    ["You have exhausted your daily quota on this model.", null],
    [
      "Failed to get response from the AI model; retried 5 times (total retry wait time: 5.55 seconds) Last error: 429 This request would exceed the rate limit",
      null,
    ],
    [
      'litellm.RateLimitError: litellm.RateLimitError: VertexAIException - {"error": {"code": 429, "message": "Resource has been exhausted"}}',
      null,
    ],
    [
      "openai.RateLimitError: Error code: 429 - {'error': {'message': 'Rate limit reached for gpt-4o. Please try again in 20s.'}}",
      "2026-11-21T20:30:20.000Z",
    ],
    ["Rate limited. Please wait 30 seconds before trying again.", "2026-11-21T20:30:30.000Z"],
    ["Error: Rate limit exceeded, please wait 90 seconds", "2026-11-21T20:31:30.000Z"],
  ])("reads %s as a limit, on either stream", (line, until) => {
    const untilMs = until === null ? null : Date.parse(until);

    expect(read("", `starting\n${line}\n`)).toMatchObject({ reason: "rate-limited", untilMs });
    expect(read(`I have begun.\n${line}\n`, "")).toMatchObject({ reason: "rate-limited", untilMs });
    expect(read(line, line, 0)).toBe(null);
  });

  test.each([
    "Added the package `ratelimit` and its tests.",
    "npm error code E404: express-rate-limit@99 is not in this registry",
    "Rate limit exceeded responses now return 429.",
    "Rate limiting is in place: HTTP 429 is sent with Retry-After.",
    "HTTP 429 responses are now handled by the middleware",
    "429 files changed",
    "429 tests passed, 1 failed",
    "AssertionError: Rate limit exceeded",
    "AssertionError: expected 429 Too Many Requests to be 200",
    "FAIL test/rate_limit.test.ts > answers 429 Too Many Requests when the rate limit is exceeded",
    "I could not finish: the rate limit tests fail because the usage limit is reached too early.",
    "The story says that users who have hit their usage limit see a page.",
    "Warning: approaching usage limit · resets at 5pm",
    "You've used 92% of your weekly limit · resets Nov 25, 9am (UTC)",
    "WARN rate limit reached, retrying in 5s",
    "ERROR: Reconnecting... 2/5 (exceeded retry limit, last status: 429 Too Many Requests)",
    "Retrying in 120s (attempt 2/10): [API Error: 429 This request would exceed the rate limit]",
    "throw new TooManyRequestsError(); // rate limit reached",
    "Memory limit exceeded",
    "Quota exceeded. Check your plan and billing details.",
    "You exceeded your current quota, please check your plan and billing details.",
  ])("does not take %s for a limit", (line) => {
    expect(read("", `starting\n${line}\n`)).toBe(null);
    expect(read(`I have begun.\n${line}\n`, "")).toBe(null);
  });

  test("looks at the last lines alone, and not behind another error", () => {
    const limit = "Error: 429 Too Many Requests";
    const more = Array.from({ length: 9 }, (_, index) => `step ${index}`).join("\n");

    expect(read(`${limit}\n${more}\n`, "")).toBe(null);
    expect(read("", `${limit}\n${more}\n`)).toBe(null);
    expect(read("", `${limit}\nError: no space left on device\n`)).toBe(null);
    expect(read("", `${limit}\n\nChanges +0 -0\nDuration 6s\n`)).not.toBe(null);
  });

  test("leaves out an echo of the prompt and what stands in a code fence", () => {
    const prompt = "Build the page for this answer:\nRate limit exceeded.\nPlease try again in 20s.\n";

    expect(read(prompt, prompt, 1, prompt)).toBe(null);
    expect(read("It prints:\n```\nRate limit exceeded.\n```\n", "")).toBe(null);
  });

  test("finds the time in the line behind it", () => {
    expect(read("", "Error: Rate limit exceeded.\nPlease try again in 20s.\n")).toMatchObject({
      untilMs: NOW + 20_000,
    });
  });

  test("does not believe a time that lies weeks away", () => {
    expect(read("", "You've hit your usage limit. Try again in 90 days.\n")).toMatchObject({ untilMs: null });
  });
});

const PLAIN = existsSync(CAPTURES)
  ? readdirSync(CAPTURES).filter((name) => existsSync(join(CAPTURES, name, "plain-rate-limit.exit")))
  : [];

describe("plainLimit() over the output of real programs", only(PLAIN.length > 0, "recorded output of agents"), () => {
  const load = (agent: string, name: string): ReturnType<typeof plainLimit> => {
    const file = (suffix: string): string => readFileSync(join(CAPTURES, agent, `${name}.${suffix}`), "utf8");
    const { code } = JSON.parse(file("exit")) as { code: number };
    return read(file("stdout"), file("stderr"), code, file("prompt"));
  };

  test.each(PLAIN.filter((name) => name !== "amp"))(
    "%s: its limit is one, its server error and success are none",
    (agent) => {
      expect(load(agent, "plain-rate-limit")).toMatchObject({ reason: "rate-limited" });
      for (const name of ["plain-server-error", "plain-success", "plain-wide"]) {
        if (existsSync(join(CAPTURES, agent, `${name}.exit`))) expect(load(agent, name)).toBe(null);
      }
    },
  );
});

describe("a command that has reached its limit", () => {
  test("is waited for; with exit code 0 its words are words", async () => {
    await using fixture = turnFixture();
    const say = 'echo "You\'ve hit your usage limit. Try again in 2 hours 14 minutes." >&2';
    const run = (command: string) => commandAgent({ command, host: fixture.host }).runTurn(fixture.request());

    const limited = await run(`${say}; exit 1`);

    const ahead = limited.end.reason === "rate-limited" ? (limited.end.untilMs ?? 0) - Date.now() : 0;
    expect(limited.end.reason).toBe("rate-limited");
    expect(Math.abs(ahead - 134 * 60_000)).toBeLessThan(20_000);
    expect((await run(`${say}; exit 0`)).end.reason).toBe("completed");
    expect((await run(`${say}; kill -9 $$`)).end.reason).toBe("crashed");
    expect((await run("echo 'added the package ratelimit'; exit 1")).end.reason).toBe("agent-failed");
  });
});
