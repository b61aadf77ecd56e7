/** Names of the standards: in-toto.io/Statement/v1, its test result, SLSA's verification summary, DSSE's payload. */
export const STATEMENT = "https://in-toto.io/Statement/v1";
export const TEST_RESULT = "https://in-toto.io/attestation/test-result/v0.1";
export const SUMMARY = "https://slsa.dev/verification_summary/v1";
export const PAYLOAD_TYPE = "application/vnd.in-toto+json";

/** Notes of git with verdicts, one line of JSON each, for other tools. */
export const VERDICTS_REF = "refs/notes/ralph";
/** Notes with the same verdicts as DSSE envelopes, one a line. */
export const ATTESTATIONS_REF = "refs/notes/ralph-attestations";
