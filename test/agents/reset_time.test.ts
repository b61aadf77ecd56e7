import { describe, expect, test } from "vitest";
import { resetTime } from "../../lib/agents/reset_time.ts";

/** A Saturday, 22:30 in Vilnius, 15:30 in New York. */
const NOW = Date.parse("2026-11-21T20:30:00Z");

function at(sentence: string, zone = "UTC", now = NOW): string | null {
  const time = resetTime(sentence, now, zone);
  return time === null ? null : new Date(time).toISOString().replace(".000Z", "Z");
}

describe("resetTime()", () => {
  test.each([
    // claude
    ["You've hit your 5-hour limit · resets 7am (UTC)", "2026-11-22T07:00:00Z"],
    ["You've hit your limit · resets 5pm (Europe/Vilnius)", "2026-11-22T15:00:00Z"],
    ["You've hit your session limit · resets 11:30pm (Europe/Vilnius)", "2026-11-21T21:30:00Z"],
    ["You've hit your weekly limit · resets Nov 25, 9am (America/New_York)", "2026-11-25T14:00:00Z"],
    ["You've reached your weekly limit · resets Jan 3, 9am (UTC)", "2027-01-03T09:00:00Z"],
    ["5-hour limit reached ∙ resets 3pm", "2026-11-22T15:00:00Z"],
    ["Claude AI usage limit reached|1795330800", "2026-11-22T07:00:00Z"],
    ["Claude usage limit reached. Your limit will reset at 10pm (Asia/Kolkata).", "2026-11-22T16:30:00Z"],
    ["Claude usage limit reached. Your limit will reset at 3am (America/Los_Angeles).", "2026-11-22T11:00:00Z"],
    // codex
    [
      "You’ve hit your usage limit. Upgrade to Pro (https://openai.com/x) or try again at 12:16 PM.",
      "2026-11-22T12:16:00Z",
    ],
    ["You've hit your usage limit. Upgrade to Pro or try again at Nov 22nd, 2026 7:00 AM.", "2026-11-22T07:00:00Z"],
    ["You've hit your usage limit. Try again in 3 days 4 hours 5 minutes.", "2026-11-25T00:35:00Z"],
    ["You've hit your usage limit. To get more access now, try again in 2 hours 14 minutes.", "2026-11-21T22:44:00Z"],
    // OpenAI
    [
      "Rate limit reached for gpt-5 in organization org-1 on tokens per min (TPM). Please try again in 6m0s.",
      "2026-11-21T20:36:00Z",
    ],
    ["Rate limit reached for requests. Limit: 3 / min. Please try again in 20s.", "2026-11-21T20:30:20Z"],
    ["Rate limit reached. Please try again in 1h2m3.5s. Visit the dashboard.", "2026-11-21T21:32:03.500Z"],
    ["Please try again in 250ms.", "2026-11-21T20:30:00.250Z"],
    // gemini
    ["[API Error: Too many\nSuggested retry after 1s.]\nPlease wait and try again later.", "2026-11-21T20:30:01Z"],
    ["Please retry in 34.5s.", "2026-11-21T20:30:34.500Z"],
    ["You have exhausted your capacity on this model. Your quota will reset after 2h31m25s.", "2026-11-21T23:01:25Z"],
    // copilot and others
    ["You've hit your weekly rate limit. Please try again in 3 hours.", "2026-11-21T23:30:00Z"],
    ["Rate limited. Please wait 30 seconds before trying again.", "2026-11-21T20:30:30Z"],
    ["Limit resets at 2026-11-22T07:00:00Z.", "2026-11-22T07:00:00Z"],
    ["Limit resets at 2026-11-22 09:00 (Europe/Vilnius)", "2026-11-22T07:00:00Z"],
    ["Quota exceeded, resets on March 3 at 5:00 PM UTC", "2027-03-03T17:00:00Z"],
    ["Your limit resets Mon 9:00 AM PST", "2026-11-23T17:00:00Z"],
    ["Usage limit reached, available again at 21:15", "2026-11-21T21:15:00Z"],
  ])("%s", (sentence, expected) => {
    expect(at(sentence)).toBe(expected);
  });

  test.each([
    "You have exhausted your daily quota on this model.",
    "exceeded retry limit, last status: 429 Too Many Requests",
    "API Error: Request rejected (429) · This request would exceed the rate limit",
    "Please wait and try again later.",
    "Model Provider Overloaded Try again in a few seconds.",
    "",
  ])("%s: does not say when", (sentence) => {
    expect(at(sentence)).toBe(null);
  });

  test("resetTime() reads a time without a zone as the machine's", () => {
    expect(at("try again at 7:00 AM", "America/New_York")).toBe("2026-11-22T12:00:00Z");
    expect(at("try again at 7:00 AM", "Asia/Tokyo")).toBe("2026-11-21T22:00:00Z");
  });

  test("resetTime() knows on which side of a change of the clocks a time lies", () => {
    const eve = Date.parse("2026-03-28T22:00:00Z"); // clocks in Vilnius go forward at 01:00 UTC

    expect(at("resets 2:30am (Europe/Vilnius)", "UTC", eve)).toBe("2026-03-29T00:30:00Z");
    expect(at("resets 5am (Europe/Vilnius)", "UTC", eve)).toBe("2026-03-29T02:00:00Z");
  });

  test("resetTime() takes a time that has just gone by as over, not as a day away", () => {
    expect(at("resets 8:25pm (UTC)")).toBe("2026-11-21T20:30:00Z");
    expect(at("resets 8:10pm (UTC)")).toBe("2026-11-22T20:10:00Z");
  });

  test("resetTime() leaves a zone that nobody knows out", () => {
    expect(at("resets 7am (Middle/Earth)")).toBe("2026-11-22T07:00:00Z");
  });
});
