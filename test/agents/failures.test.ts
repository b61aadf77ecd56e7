import { describe, expect, test } from "vitest";
import { failureKind } from "../../lib/agents/failures.ts";

describe("failureKind()", () => {
  test.each([
    ["Failed to authenticate. API Error: 401 Invalid API key", "auth"],
    ["Not logged in · Please run /login", "auth"],
    ["unexpected status 401 Unauthorized: no key", "auth"],
    ["No API key found for anthropic.", "auth"],
    ["No API key found. Starting login flow...", "auth"],
    ["No auth type is selected. Please configure an auth type before running in non-interactive mode.", "auth"],
    ["Error: No authentication information found.", "auth"],
    ["Login failed: the code was not accepted", "auth"],
    ["You must be signed in to continue", "auth"],
    ["Model stream ended without a finish reason.", "network"],
    ["Credit balance is too low", "billing"],
    ["Quota exceeded. Check your plan and billing details.", "billing"],
    ["429 You exceeded your current quota, please check your plan and billing details.", "billing"],
    ["The model `gpt-9` does not exist or you do not have access to it.", "model"],
    ["404 model_not_found", "model"],
    ["API Error: 400 prompt is too long: 210000 tokens > 200000 maximum", "context"],
    ["The provider rejected the prompt as too long, but automatic recovery could not reduce it.", "context"],
    ["Codex ran out of room in the model's context window. Start a new thread.", "context"],
    ["exceeded retry limit, last status: 429 Too Many Requests", "rate-limit"],
    ["You’ve hit your usage limit. Upgrade to Pro", "rate-limit"],
    ["You have exhausted your daily quota on this model.", "rate-limit"],
    ["This request would exceed the rate limit", "rate-limit"],
    [
      "429 You exceeded your current quota, please check your plan and billing details. Please retry in 34.5s.",
      "rate-limit",
    ],
    ["5-hour limit reached ∙ resets 3pm", "rate-limit"],
    ["openai.RateLimitError: Error code: 429", "rate-limit"],
    ["Resource has been exhausted (e.g. check quota).", "rate-limit"],
    ["Memory limit exceeded", "other"],
    ["unexpected status 529 : overloaded", "server"],
    ["We’re currently experiencing high demand, which may cause temporary errors.", "server"],
    ["Model Provider Overloaded Try again in a few seconds.", "server"],
    ['[API Error: {"error":{"code":500,"message":"oops"}}]', "server"],
    ["stream disconnected before completion: error decoding", "network"],
    ["The socket connection was closed unexpectedly.", "network"],
    ["terminated", "network"],
    ["User cancelled (SIGINT/SIGTERM)", "interrupted"],
    ["the file has 429 lines", "other"],
    ["cannot read package ratelimiter", "other"],
    ["", "other"],
  ])("%s is %s", (message, kind) => {
    expect(failureKind(message)).toBe(kind);
  });

  test("failureKind() believes a status that is known", () => {
    expect(failureKind("This request would go too far", 429)).toBe("rate-limit");
    expect(failureKind("go away", 402)).toBe("billing");
    expect(failureKind("cannot", 503)).toBe("server");
  });
});
