import { resolve } from "node:path";
import type { AttestReport, Verdict } from "../../generated/attest.ts";
import { ATTESTATIONS_REF, VERDICTS_REF } from "../../attest/schema.ts";
import { opened, type Verified, verifyAttestation } from "../../attest/attest.ts";
import { type Invocation, toJson, usage } from "../../cli/command.ts";
import { openSession } from "../../cli/session.ts";
import { parseCount } from "../../cli/settings.ts";
import type { RalphContext } from "../../context/context.ts";
import { EXIT } from "../../errors/ralph_error.ts";
import { commitsNoted, noteAt } from "../../git/notes.ts";
import { commitAt } from "../../git/refs.ts";
import { requireRepository } from "../../git/repository.ts";
import { outputFrom } from "../../git/run_git.ts";
import { verdictSince } from "../../loop/finish/note_verdict.ts";

const DAY_MS = 86_400_000;

/** `ralph attest verify|show [COMMIT]`: whether the verdict on a commit can be believed, on any clone. */
export async function run(invocation: Invocation): Promise<number> {
  const { arguments: [action = "", name = "HEAD"], flags, host, out, say } = invocation;
  if (action !== "verify" && action !== "show") {
    throw usage(`\`ralph attest\` takes verify or show (got: ${action})`, "`ralph attest verify HEAD`");
  }
  await using session = await openSession(invocation, {
    asks: false,
    gates: [],
    data: true,
    title: `attestation of ${name}`,
  });
  const { ralph } = session;
  const commit = await commitAt(requireRepository(ralph), name);
  if (commit === null) throw usage(`${name} is no commit`, "`git fetch` brings those of a remote");
  if (action === "show") return await show(ralph, commit, out);
  const signers = flags.all("signer").map((file) => resolve(host.environment.cwd, file));
  const days = flags.text("max-age");
  const now = host.clock.now();
  const verified = withDemands(await verifyAttestation(ralph, commit, signers), {
    isClean: flags.has("require"),
    since: days === undefined ? null : new Date(now - parseCount("--max-age", days, 1) * DAY_MS).toISOString(),
  });
  const { verdict, status } = verified;
  const known = flags.has("repeat") ? verdict ?? await verdictBefore(ralph, commit) : null;
  const repeated = known === null ? null : await again(ralph, known, commit);
  const report: AttestReport = {
    version: 1,
    ...verified,
    signature: verified.signature.status,
    signer: verified.signature.signer,
    repeated,
  };
  if (flags.has("json")) out(toJson(report));
  else for (const line of linesOf(report)) say(line);
  return status === "passed" && (repeated?.differences.length ?? 0) === 0 ? EXIT.done : EXIT.failed;
}

/** The statements, as they were signed. */
async function show(ralph: RalphContext, commit: string, out: (text: string) => void): Promise<number> {
  const note = await noteAt(requireRepository(ralph), ATTESTATIONS_REF, commit);
  if (note === null) {
    throw usage(`there is no attestation of ${commit.slice(0, 10)} here`, "`ralph attest verify` says more");
  }
  for (const line of note.split("\n").filter((one) => one !== "")) {
    const envelope = opened(line);
    out(typeof envelope === "string" ? envelope : envelope.payload);
  }
  return EXIT.done;
}

function withDemands(
  verified: Verified,
  { isClean, since }: { readonly isClean: boolean; readonly since: string | null },
): Verified {
  const { verdict, status } = verified;
  if (verdict === null || status !== "passed") return verified;
  const found = isClean ? verdict.findings.map(({ kind, subject }) => `${kind}: ${subject}`) : [];
  const reasons = [...found, ...since !== null && verdict.time < since ? [`it is of ${verdict.time}`] : []];
  return reasons.length === 0 ? verified : { ...verified, status: "refused", reasons };
}

/** The newest attested verdict on what a commit is made from. */
async function verdictBefore(ralph: RalphContext, commit: string): Promise<Verdict | null> {
  const repository = requireRepository(ralph);
  const noted = new Set(await commitsNoted(repository, VERDICTS_REF, '"version":1'));
  const listed = await outputFrom(repository, ["rev-list", "--max-count=1000", commit]);
  const newest = listed.split("\n").find((id) => noted.has(id));
  return newest === undefined ? null : (await verifyAttestation(ralph, newest, [])).verdict;
}

/** Runs checks and experiments again, and compares the verdicts field by field. */
async function again(
  ralph: RalphContext,
  { base, checks, findings }: Verdict,
  head: string,
): Promise<NonNullable<AttestReport["repeated"]>> {
  const known = checks.map(({ command, exitCode, expect }) => ({
    command,
    exitCode,
    name: expect === undefined ? command : `${command} (${JSON.stringify(expect)})`,
    ...(expect === undefined ? {} : { expect }),
  }));
  const commands = known.filter(({ exitCode }) => exitCode !== null); // others are no commands
  const now = await verdictSince(ralph, { base: base ?? `${head}^`, head, checks: commands });
  const codes = new Map(now.checks.map(({ name, exitCode }) => [name, exitCode]));
  const named = (found: readonly { readonly kind: string; readonly subject: string }[]): string =>
    found.map(({ kind, subject }) => `${kind} ${subject}`).toSorted().join(", ");
  const differences = [
    ...now.status === "passed" ? [] : [`status: passed, now ${now.status}`],
    ...known.filter(({ name, exitCode }) => exitCode === null || codes.get(name) !== exitCode)
      .map(({ name, exitCode }) => `${name}: exit code ${exitCode ?? "none"}, now ${codes.get(name) ?? "not run"}`),
    ...named(findings) === named(now.notices)
      ? []
      : [`findings: ${named(findings) || "none"}, now ${named(now.notices) || "none"}`],
  ];
  return { status: now.status, differences };
}

const SIGNATURES: Readonly<Record<AttestReport["signature"], string>> = {
  unsigned: "not signed: whoever can push its ref can have written it",
  unchecked: "signed; `--signer FILE` checks by whom",
  valid: "signed by",
  invalid: "signed by nobody who was named",
};

function linesOf(report: AttestReport): readonly string[] {
  const { status, commit, attested, verdict, reasons, signature, signer, repeated } = report;
  const short = commit.slice(0, 10);
  if (status !== "passed" || verdict === null) {
    const head = status === "none" ? `nothing is attested of ${short}` : `the attestation of ${short} is refused`;
    return [head, ...reasons.map((reason) => `  ${reason}`), ...repeatedLines(repeated)];
  }
  const { base, checks, findings, time, ralph } = verdict;
  return [
    `passed at ${short}, by Ralph ${ralph}, ${time}`,
    ...attested === commit ? [] : [`  attested for another commit with the same tree: ${attested?.slice(0, 10)}`],
    `  ${SIGNATURES[signature]}${signer === null ? "" : ` ${signer}`}`,
    `  since ${base?.slice(0, 10) ?? "an unknown commit"}`,
    ...checks.map(({ command, exitCode }) => `  \`${command}\`: exit code ${exitCode}`),
    ...findings.map(({ kind, subject }) => `  ${kind}: ${subject}`),
    ...repeatedLines(repeated),
  ];
}

function repeatedLines(repeated: AttestReport["repeated"]): readonly string[] {
  if (repeated === null) return [];
  return repeated.differences.length === 0
    ? ["  repeated: the same verdict"]
    : ["  repeated: not the same verdict", ...repeated.differences.map((line) => `    ${line}`)];
}
