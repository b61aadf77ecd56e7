/**
 * The schemas of claims, which are on the remote, and of updates, which wait in a file. The types are made from them.
 *
 * @module
 */
import { z } from "zod";
import { record } from "../config/parts.ts";
import type { Claim, Update } from "../generated/trackers.ts";

const text = z.string();
const claimed = {
  id: text,
  asks: text.describe("the fingerprint of its text: with another one it may be worked on again"),
};

/** A claim as the remote has it. */
export const CLAIM_SCHEMA: z.ZodType<Claim> = record("Claim", "A claim as the remote has it.", {
  v: z.literal(1),
  tracker: text.describe("`github owner/name`"),
  ...claimed,
  holder: text,
  beat: text.describe("another one at each sign of life"),
  state: z.enum(["working", "blocked", "passed"]),
});

/** One issue's newest news. */
export const UPDATE_SCHEMA: z.ZodType<Update> = record("Update", "One issue's newest news.", {
  ...claimed,
  state: z.enum(["open", "working", "review", "blocked"]),
  text,
  branch: record("PushedBranch", "A branch on the remote, and its new commit.", { name: text, commit: text })
    .nullable().describe("not pushed yet; `null`: nothing is"),
});
