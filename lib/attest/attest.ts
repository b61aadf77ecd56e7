import { join, resolve } from "node:path";
import type { RalphContext } from "../context/context.ts";
import type { Verdict } from "../generated/attest.ts";
import { writeNotes } from "../git/notes.ts";
import { treeAt } from "../git/read_commit.ts";
import { readRefs } from "../git/refs.ts";
import { requireRepository } from "../git/repository.ts";
import { hashText, temporaryDirectory, writeAtomic } from "../host/files.ts";
import { envelopeOf, signedBytes } from "./envelope.ts";
import { ATTESTATIONS_REF, STATEMENT, SUMMARY, TEST_RESULT, VERDICTS_REF } from "./names.ts";
import type { Verified } from "./verify.ts";

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
  const refs = await readRefs(repository, ["refs/notes/"]);
  const tree = await treeAt(repository, commit);
  const whole: Verdict = {
    version: 1,
    status: "passed",
    time: new Date(now).toISOString(),
    ...verdict,
    tree,
  };
  const lines: string[] = [];
  for (const statement of statementsOf(whole)) lines.push(envelopeOf(statement, await signatureOf(ralph, statement)));
  const envelopes = `${lines.join("\n")}\n`;
  const line = `${JSON.stringify({ ...whole, attestation: `sha256:${hashText(envelopes)}` })}\n`;
  const notes = [{ ref: VERDICTS_REF, text: line }, { ref: ATTESTATIONS_REF, text: envelopes }];
  await writeNotes(repository, commit, notes, { tips: notes.map(({ ref }) => refs.get(ref)), now });
}

async function signatureOf(ralph: RalphContext, statement: string) {
  const file = keyFileOf(ralph);
  if (file === null) return null;
  const { signedWith } = await import("./signature.ts");
  return await signedWith(ralph.host, file, signedBytes(statement));
}

/** An attestation that this key has signed, or, without a key, any: notes come from others too. */
export async function ownAttestation(ralph: RalphContext, commit: string): Promise<Verified> {
  const { verifyAttestation } = await import("./verify.ts");
  const file = keyFileOf(ralph);
  if (file === null) return await verifyAttestation(ralph, commit, []);
  const { signersOf } = await import("./signature.ts");
  await using folder = await temporaryDirectory("ralph-signers-");
  const signers = join(folder.path, "signers");
  await writeAtomic(signers, await signersOf(ralph.host, file));
  return await verifyAttestation(ralph, commit, [signers]);
}

function keyFileOf({ config: { attest: { key } }, host: { environment }, root }: RalphContext): string | null {
  if (key === null) return null;
  return key.startsWith("~/") ? join(environment.home, key.slice(2)) : resolve(root, key);
}

/** The hash of the files that judged a run. Pure. */
export function briefHash(files: Readonly<Record<string, string | null>>): string {
  const sorted = Object.entries(files).toSorted(([one], [other]) => one < other ? -1 : 1);
  return hashText(JSON.stringify(sorted));
}

/** Names the verifier, as a summary has to; nothing is fetched from there. */
const VERIFIER = "https://github.com/ralphgate/ralph";

/** The statements about a verdict, as texts. Pure. */
function statementsOf(verdict: Verdict): readonly string[] {
  const { commit, tree, base, checks, findings, brief, ralph, time } = verdict;
  const subject = [{ name: `gitoid:commit:${kindOf(commit)}:${commit}`, digest: { gitCommit: commit, gitTree: tree } }];
  const passed = checks.map(({ command }) => command);
  const result = {
    result: findings.length === 0 ? "PASSED" : "WARNED",
    configuration: base === null ? [] : [{ name: "base", digest: { gitCommit: base } }],
    passedTests: passed,
    warnedTests: findings.map(({ kind, subject: of }) => `${kind}: ${of}`),
    failedTests: [],
    ralph: verdict,
  };
  const summary = {
    verifier: { id: VERIFIER, version: { ralph } },
    timeVerified: time,
    resourceUri: `gitoid:commit:${kindOf(commit)}:${commit}`,
    policy: {
      uri: base === null ? "ralph.config.json" : `gitoid:commit:${kindOf(base)}:${base}`,
      ...brief === null ? {} : { digest: { sha256: brief } },
    },
    verificationResult: "PASSED",
    verifiedLevels: ["CHECKS_PASSED"],
  };
  return [[TEST_RESULT, result], [SUMMARY, summary]].map(([predicateType, predicate]) =>
    JSON.stringify({ _type: STATEMENT, subject, predicateType, predicate })
  );
}

function kindOf(id: string): "sha1" | "sha256" {
  return id.length === 40 ? "sha1" : "sha256";
}
