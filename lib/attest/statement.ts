/**
 * A verdict in the form that other tools read: in-toto Statements v1 about a commit of git, one with a test result, one
 * with a SLSA verification summary. Sources: in-toto.io/Statement/v1, in-toto.io/attestation/test-result/v0.1,
 * slsa.dev/verification_summary/v1.
 *
 * @module
 */
import type { Verdict } from "../generated/attest.ts";
import { STATEMENT, SUMMARY, TEST_RESULT } from "./names.ts";

/** Names the verifier, as a summary has to; nothing is fetched from there. */
const VERIFIER = "https://github.com/ralphgate/ralph";

/** The statements about a verdict, as texts. Pure. */
export function statementsOf(verdict: Verdict): readonly string[] {
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
