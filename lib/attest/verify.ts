import type { RalphContext } from "../context/context.ts";
import type { AttestReport, Verdict } from "../generated/attest.ts";
import { commitsNoted, noteAt } from "../git/notes.ts";
import { readCommit, treeIn } from "../git/read_commit.ts";
import { requireRepository } from "../git/repository.ts";
import { jsonIn } from "../host/data.ts";
import { signedBytes } from "./envelope.ts";
import { ATTESTATIONS_REF, TEST_RESULT, VERDICTS_REF } from "./names.ts";
import { ENVELOPE_SCHEMA, RESULT_SCHEMA, STATEMENT_SCHEMA } from "./schema.ts";

/** The worth of an attestation. */
export interface Verified extends Pick<AttestReport, "attested" | "commit" | "reasons" | "status" | "verdict"> {
  readonly signature: { readonly status: AttestReport["signature"]; readonly signer: string | null };
}

/**
 * Looks at the attestation of a commit: its form, its subject, its signature. If it has none, one of another
 * commit with the same tree counts, as after a squash or a rebase.
 *
 * @param signers files with keys: PEM, or allowed signers of ssh
 * @throws {RalphError} attest-failed for a file of signers that cannot be used
 */
export async function verifyAttestation(
  ralph: RalphContext,
  commit: string,
  signers: readonly string[],
): Promise<Verified> {
  const repository = requireRepository(ralph);
  const tree = treeIn(await readCommit(repository, commit));
  const own = await noteAt(repository, ATTESTATIONS_REF, commit);
  const others = own === null && tree !== null ? await commitsNoted(repository, VERDICTS_REF, `"tree":"${tree}"`) : [];
  let best: Verified = { ...NONE, commit };
  for (const attested of own === null ? others : [commit]) {
    const note = own ?? await noteAt(repository, ATTESTATIONS_REF, attested);
    if (note === null) continue;
    best = { ...await look(ralph, note, { attested, tree, signers }), commit };
    if (best.status === "passed") break;
  }
  return best;
}

const NONE: Omit<Verified, "commit"> = {
  status: "none",
  attested: null,
  verdict: null,
  signature: { status: "unsigned", signer: null },
  reasons: [
    "there is no attestation of it here: `git fetch origin 'refs/notes/*:refs/notes/*'` brings those of a remote",
  ],
};

/** Looks at the text of an attestation. @param about the commit that it has to speak of, and its tree */
export async function look(
  ralph: RalphContext,
  note: string,
  { attested, tree, signers }: {
    readonly attested: string;
    readonly tree: string | null;
    readonly signers: readonly string[];
  },
): Promise<Omit<Verified, "commit">> {
  const refused = (reason: string): Omit<Verified, "commit"> => ({
    ...NONE,
    status: "refused",
    attested,
    reasons: [reason],
  });
  let verdict: Verdict | null = null;
  let signature: Verified["signature"] | null = null;
  for (const line of note.split("\n").filter((one) => one !== "")) {
    const envelope = opened(line);
    if (typeof envelope === "string") return refused(envelope);
    const signed = await signatureIn(ralph, envelope, signers);
    if (signed.status === "invalid") return { ...refused("none of the signers has signed it"), signature: signed };
    if (signature !== null && signature.status !== signed.status) return refused("only a part of it is signed");
    signature = signed;
    const found = verdictIn(jsonIn(envelope.payload));
    if (typeof found === "string") return refused(found);
    if (found !== null && verdict !== null) return refused("it holds two test results");
    verdict = found ?? verdict;
  }
  if (verdict === null || signature === null) return refused("it holds no test result");
  if (verdict.commit !== attested) return refused(`it speaks of another commit: ${verdict.commit}`);
  if (verdict.tree !== tree) return refused(`it speaks of another tree: ${verdict.tree}`);
  if (signers.length > 0 && signature.status === "unsigned") {
    return { ...refused("it is not signed"), verdict, signature };
  }
  return { status: "passed", attested, verdict, signature, reasons: [] };
}

async function signatureIn(
  ralph: RalphContext,
  { signed, signatures }: Opened,
  signers: readonly string[],
): Promise<Verified["signature"]> {
  if (signatures.length === 0) return { status: "unsigned", signer: null };
  if (signers.length === 0) return { status: "unchecked", signer: null };
  const { signerOf } = await import("./signature.ts");
  for (const file of signers) {
    for (const signature of signatures) {
      const signer = await signerOf(ralph.host, file, signed, signature);
      if (signer !== null) return { status: "valid", signer };
    }
  }
  return { status: "invalid", signer: null };
}

/** An envelope that was opened. */
interface Opened {
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
function verdictIn(statement: unknown): Verdict | string | null {
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
