import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { resetTime, saneReset } from "../../lib/agents/reset_time.ts";

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
    // in words
    ["Try again in an hour.", "2026-11-21T21:30:00Z"],
    ["resets in less than a minute", "2026-11-21T20:31:00Z"],
    ["Your limit resets at midnight (Europe/Vilnius)", "2026-11-21T22:00:00Z"],
    ["resets at noon UTC", "2026-11-22T12:00:00Z"],
    ["Your limit resets tomorrow at 11pm UTC", "2026-11-22T23:00:00Z"],
    ["您的限额将在 2026-11-22 02:14:39 重置。", "2026-11-22T02:14:39Z"],
    // figures
    ["Resets in: 30m", "2026-11-21T21:00:00Z"],
    ["resets in 4:59:00", "2026-11-22T01:29:00Z"],
    ["Limit resets at 2026-11-22 07:00:39", "2026-11-22T07:00:39Z"],
    ["resets 22 Nov 2026 07:00 UTC", "2026-11-22T07:00:00Z"],
    ["resets 12am (UTC)", "2026-11-22T00:00:00Z"],
    ["resets 12pm (UTC)", "2026-11-22T12:00:00Z"],
    // headers and fields
    ["Retry-After: 120", "2026-11-21T20:32:00Z"],
    ["Retry-After: Sat, 21 Nov 2026 21:00:00 GMT", "2026-11-21T21:00:00Z"],
    ["retry-after-ms: 1500", "2026-11-21T20:30:01.500Z"],
    ['{"retry_after": 45}', "2026-11-21T20:30:45Z"],
    ['"retryDelay": "34s"', "2026-11-21T20:30:34Z"],
    ['"resets_in_seconds":3600', "2026-11-21T21:30:00Z"],
    ['"resetsAt":1795330800', "2026-11-22T07:00:00Z"],
    ['"resets_at":1795330800000', "2026-11-22T07:00:00Z"],
    ["limit will reset at 1795330800", "2026-11-22T07:00:00Z"],
    ["anthropic-ratelimit-unified-reset: 1795330800", "2026-11-22T07:00:00Z"],
    ["x-ratelimit-reset-requests: 6m0s", "2026-11-21T20:36:00Z"],
    // zones
    ["resets 3am (GMT+2)", "2026-11-22T01:00:00Z"],
    ["resets at 9am UTC-05:30", "2026-11-22T14:30:00Z"],
    ["resets at 19:00 (UTC+02:00)", "2026-11-22T17:00:00Z"],
    ["resets 3am (Etc/GMT+3)", "2026-11-22T06:00:00Z"],
    ["Try again at 7 AM PT.", "2026-11-22T15:00:00Z"],
  ])("%s", (sentence, expected) => {
    expect(at(sentence)).toBe(expected);
  });

  test.each([
    "You have exhausted your daily quota on this model.",
    "exceeded retry limit, last status: 429 Too Many Requests",
    "API Error: Request rejected (429) · This request would exceed the rate limit",
    "Please wait and try again later.",
    "Model Provider Overloaded Try again in a few seconds.",
    "retried 5 times (total retry wait time: 5.55 seconds) Last error: 429",
    "Retry-After: 3 attempts",
    "try again tomorrow.",
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

  test("resetTime() knows the hour that comes twice, and the one that does not come", () => {
    const back = Date.parse("2026-10-24T23:00:00Z"); // clocks in Vilnius go back at 01:00 UTC

    expect(at("resets 2:30am (Europe/Vilnius)", "UTC", back)).toBe("2026-10-24T23:30:00Z");
    expect(at("resets 5am (Europe/Vilnius)", "UTC", back)).toBe("2026-10-25T03:00:00Z");
    expect(at("resets 3:30am (Europe/Vilnius)", "UTC", Date.parse("2026-03-28T22:00:00Z"))).toBe(
      "2026-03-29T01:30:00Z",
    );
  });

  test("resetTime() gives a number or nothing, whatever it is given", () => {
    const words = fc.array(
      fc.oneof(
        fc.string(),
        fc.integer().map(String),
        fc.constantFrom(
          "resets",
          "in",
          "at",
          "retry-after:",
          "am",
          "Nov",
          "UTC+",
          "(",
          ")",
          ":",
          "|",
          "hours",
          "24:61",
        ),
      ),
    );

    fc.assert(fc.property(words, (parts) => {
      const time = resetTime(parts.join(" "), NOW, "UTC");
      expect(time === null || Number.isFinite(time)).toBe(true);
      expect(saneReset(time, NOW) ?? NOW).toBeLessThan(NOW + 9 * 86_400_000);
    }));
  });

  test("resetTime() takes a time that has just gone by as over, not as a day away", () => {
    expect(at("resets 8:25pm (UTC)")).toBe("2026-11-21T20:30:00Z");
    expect(at("resets 8:10pm (UTC)")).toBe("2026-11-22T20:10:00Z");
  });

  test("resetTime() leaves a zone that nobody knows out", () => {
    expect(at("resets 7am (Middle/Earth)")).toBe("2026-11-22T07:00:00Z");
  });
});
