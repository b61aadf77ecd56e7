/**
 * The schemas of attestations: in-toto Statements v1 in DSSE envelopes, and the output of `ralph attest --json`. The types
 * are made from them.
 *
 * @module
 */
import { z } from "zod";
import { record } from "../config/parts.ts";
import type { AttestReport, Verdict } from "../generated/attest.ts";
import { PAYLOAD_TYPE, STATEMENT } from "./names.ts";

const text = z.string();
const hash = text.regex(/^[0-9a-f]{40,64}$/);

/** The line in `refs/notes/ralph`, but for the digest of the attestation. */
export const VERDICT_SCHEMA: z.ZodType<Verdict> = record(
  "Verdict",
  "What Ralph says of a commit. The checks ran in a clean checkout of it.",
  {
    version: z.literal(1),
    status: z.literal("passed"),
    commit: hash,
    tree: hash,
    base: hash.nullable().describe("the commit that the work began on; null: not known"),
    checks: z.array(z.object({
      command: text,
      exitCode: z.number().int().nullable(),
      expect: z.object({
        exit: z.union([z.number().int(), z.literal("non-zero")]).exactOptional(),
        output: text.exactOptional(),
      }).exactOptional().describe("the condition that it met; absent: exit code 0"),
    })),
    findings: z.array(z.object({ kind: text, subject: text })).describe("what is known beside the verdict"),
    brief: hash.nullable().describe("SHA-256 of the files that judged it; null: no run fixed them"),
    ralph: text.describe("Ralph's version"),
    run: text,
    time: z.iso.datetime(),
  },
);

const subject = z.object({ digest: z.object({ gitCommit: hash, gitTree: hash }) });

/** A statement of any kind about one commit. */
export const STATEMENT_SCHEMA: z.ZodType<{
  readonly subject: readonly { readonly digest: { readonly gitCommit: string; readonly gitTree: string } }[];
  readonly predicateType: string;
  readonly predicate: unknown;
}> = z.object({
  _type: z.literal(STATEMENT),
  subject: z.array(subject).length(1),
  predicateType: text,
  predicate: z.unknown(),
});

/** A test result of Ralph's. */
export const RESULT_SCHEMA: z.ZodType<{ readonly result: "PASSED" | "WARNED"; readonly ralph: Verdict }> = z.object({
  result: z.enum(["PASSED", "WARNED"]),
  ralph: VERDICT_SCHEMA,
});

/** A DSSE envelope. */
export const ENVELOPE_SCHEMA: z.ZodType<{
  readonly payload: string;
  readonly signatures: readonly { readonly sig: string }[];
}> = z.object({
  payloadType: z.literal(PAYLOAD_TYPE),
  payload: text,
  signatures: z.array(z.object({ sig: text })),
});

/** The output of `ralph attest --json`. */
export const ATTEST_SCHEMA: z.ZodType<AttestReport> = record("AttestReport", "The worth of an attestation.", {
  version: z.literal(1).describe("version of this schema"),
  status: z.enum(["passed", "refused", "none"]).describe(
    "passed: it is about this commit, and signed by a signer, if any were named; refused: not so; none: there is none",
  ),
  commit: text,
  attested: text.nullable().describe("the commit that it speaks of; another one with the same tree counts"),
  signature: z.enum(["unsigned", "unchecked", "valid", "invalid"]).describe("unchecked: no signer was named"),
  signer: text.nullable(),
  verdict: VERDICT_SCHEMA.nullable(),
  reasons: z.array(text).describe("why it is refused"),
  repeated: z.object({
    status: text,
    differences: z.array(text).describe("empty: the verdict is the same"),
  }).nullable().describe("the verdict of checks and experiments that ran again; null: they did not"),
});

/** The JSON Schema of it. */
export function attestJsonSchema(): Readonly<Record<string, unknown>> {
  return { title: "ralph attest", ...z.toJSONSchema(ATTEST_SCHEMA, { io: "input" }) };
}
