import { join, resolve } from "node:path";
import type { RalphContext } from "../context/context.ts";
import { namesToIds, writeNotes } from "../git/notes.ts";
import { requireRepository } from "../git/repository.ts";
import { hashText } from "../host/files.ts";
import { envelopeOf, signedBytes } from "./envelope.ts";
import type { Verdict } from "../generated/attest.ts";
import { ATTESTATIONS_REF, VERDICTS_REF } from "./names.ts";
import { statementsOf } from "./statement.ts";

/**
 * Writes a verdict to its commit: as one line of JSON, and as in-toto statements, signed where the configuration names a
 * key. They replace older ones.
 *
 * @param verdict `time`: when it judged. @default now
 * @throws {RalphError} git-failed, attest-failed
 */
export async function attest(
  ralph: RalphContext,
  verdict: Omit<Verdict, "version" | "status" | "tree" | "time"> & Partial<Verdict>,
): Promise<void> {
  const repository = requireRepository(ralph);
  const { commit } = verdict;
  const now = ralph.host.clock.now();
  const [tree, ...tips] = await namesToIds(repository, [`${commit}^{tree}`, VERDICTS_REF, ATTESTATIONS_REF]);
  const whole: Verdict = {
    version: 1,
    status: "passed",
    time: new Date(now).toISOString(),
    ...verdict,
    tree: tree ?? commit,
  };
  const lines: string[] = [];
  for (const statement of statementsOf(whole)) lines.push(envelopeOf(statement, await signatureOf(ralph, statement)));
  const envelopes = `${lines.join("\n")}\n`;
  const line = `${JSON.stringify({ ...whole, attestation: `sha256:${hashText(envelopes)}` })}\n`;
  const notes = [{ ref: VERDICTS_REF, text: line }, { ref: ATTESTATIONS_REF, text: envelopes }];
  await writeNotes(repository, commit, notes, { tips, now });
}

async function signatureOf(ralph: RalphContext, statement: string) {
  const { key } = ralph.config.attest;
  if (key === null) return null;
  const { signedWith } = await import("./signature.ts");
  const { home } = ralph.host.environment;
  const file = key.startsWith("~/") ? join(home, key.slice(2)) : resolve(ralph.root, key);
  return await signedWith(ralph.host, file, signedBytes(statement));
}

/** The hash of the files that judged a run. Pure. */
export function briefHash(files: Readonly<Record<string, string | null>>): string {
  const sorted = Object.entries(files).toSorted(([one], [other]) => one < other ? -1 : 1);
  return hashText(JSON.stringify(sorted));
}
