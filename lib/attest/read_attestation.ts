import { jsonIn } from "../host/data.ts";
import type { Verdict } from "../generated/attest.ts";
import { signedBytes } from "./envelope.ts";
import { TEST_RESULT } from "./names.ts";
import { ENVELOPE_SCHEMA, RESULT_SCHEMA, STATEMENT_SCHEMA } from "./schema.ts";

/** An envelope that was opened. */
export interface Opened {
  /** The text within. */
  readonly payload: string;
  /** The bytes that were signed. */
  readonly signed: Buffer;
  readonly signatures: readonly Buffer[];
}

/** Opens an envelope; a text says why it is none. Base64 in any but its one plain form is refused. Pure. */
export function opened(line: string): Opened | string {
  const parsed = ENVELOPE_SCHEMA.safeParse(jsonIn(line));
  if (!parsed.success) return "it is no DSSE envelope with an in-toto statement";
  const payload = bytesOf(parsed.data.payload);
  const signatures = parsed.data.signatures.map(({ sig }) => bytesOf(sig));
  if (payload === null || signatures.includes(null)) return "its base64 is damaged";
  const text = payload.toString("utf8");
  if (!Buffer.from(text).equals(payload)) return "its payload is no UTF-8";
  return { payload: text, signed: signedBytes(text), signatures: signatures.filter((one) => one !== null) };
}

function bytesOf(base64: string): Buffer | null {
  const bytes = Buffer.from(base64, "base64");
  return bytes.toString("base64") === base64 ? bytes : null;
}

/**
 * Reads a statement.
 *
 * @returns `null`: it is a statement of another kind; a text: why it cannot be believed. Pure.
 */
export function verdictIn(statement: unknown): Verdict | string | null {
  const parsed = STATEMENT_SCHEMA.safeParse(statement);
  if (!parsed.success) return "it is no in-toto statement about one commit and its tree";
  const { predicateType, predicate, subject: [subject] } = parsed.data;
  if (predicateType !== TEST_RESULT) return null;
  const result = RESULT_SCHEMA.safeParse(predicate);
  if (!result.success) return "its test result is none of Ralph's, or of a newer version";
  const { ralph: verdict } = result.data;
  const { gitCommit, gitTree } = subject!.digest;
  const isOne = gitCommit === verdict.commit && gitTree === verdict.tree &&
    (result.data.result === "PASSED") === (verdict.findings.length === 0);
  return isOne ? verdict : "its subject, its result and its verdict contradict each other";
}
