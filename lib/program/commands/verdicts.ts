import { dirname, join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { ATTESTATIONS_REF, VERDICTS_REF } from "../../attest/names.ts";
import { opened, type Verified, verifyAttestation } from "../../attest/verify.ts";
import { type Invocation, toJson, usage } from "../../cli/command.ts";
import { noticeLabel } from "../../cli/end_with.ts";
import { openSession } from "../../cli/session.ts";
import { optional, parseCount } from "../../cli/settings.ts";
import { strictConfig } from "../../config/strict.ts";
import { ownFiles, type RalphContext } from "../../context/context.ts";
import { EXIT } from "../../errors/ralph_error.ts";
import type { AttestReport, Verdict } from "../../generated/attest.ts";
import { noteAt } from "../../git/notes.ts";
import { openRepository } from "../../git/open_repository.ts";
import { commitAt } from "../../git/refs.ts";
import { type Repository, requireRepository, type RootedRepository, topLevelPaths } from "../../git/repository.ts";
import { outputFrom, partsOf } from "../../git/run_git.ts";
import { jsonIn, objectOr } from "../../host/data.ts";
import { hashText, listDirectory, readText, removeOwn, removePath, writeAtomic } from "../../host/files.ts";
import { CONFIG_FILE } from "../../config/load.ts";
import { configAt, mergeBase, type VerdictSince, verdictSince } from "../../loop/finish/note_verdict.ts";
import { maskOf } from "../../loop/settle/committer.ts";
import { exitCodeOf } from "../../recipe/outcome.ts";
import { type GateCheck, type GateReport, REPORT_VERSION } from "../../report/types.ts";
import { chosen } from "../chosen.ts";

/** How often a Stop hook holds the agent back in one session. */
const MOST_BLOCKS = 2;
/** Counts of so many sessions are kept. */
const MOST_SESSIONS = 100;

/** `ralph gate`: the verdict alone, for loops that are not Ralph's. Nothing is marked, nothing is committed. */
export async function gate(invocation: Invocation): Promise<number> {
  const { flags, host, out, say } = invocation;
  const { place } = await chosen(invocation);
  const repository = requireRepository({ repository: await openRepository(host, place.root), root: place.root });
  const rooted = { repository, root: place.root };
  const hook = flags.has("hook") ? await hookOf(invocation, rooted) : null;
  if (hook?.isStart === true) return await begun(hook, repository);
  const given = { ...optional("base", flags.text("base")), ...optional("head", flags.text("head")) };
  const base = await baseFor(repository, given, hook);
  // A branch does not open its own sandbox.
  const { sandbox } = strictConfig(await configAt(rooted, base));
  const settings = { sandbox };
  await using session = await openSession(invocation, { asks: false, gates: [], data: true, place, settings });
  const { ralph } = session;
  const judged = await verdictSince(ralph, {
    ...given,
    base,
    checks: flags.all("verify"),
    ...(flags.has("timeout") ? { timeoutMs: ralph.config.verify.timeout * 1000 } : {}),
  });
  const found: VerdictSince = JSON.parse(maskOf(ralph)(JSON.stringify(judged))); // for a pull request, or a scanner
  const verdict = flags.has("require") ? unlessNamed(found) : found;
  const exitCode = exitCodeOf({ ...verdict, allowed: false });
  if (hook !== null) {
    if (await isHeld(hook, exitCode)) out(JSON.stringify({ decision: "block", reason: textOf(verdict) }));
    return 0;
  }
  const { checks: ran, ...rest } = verdict;
  const checks = ran.map(({ name, ok, exitCode, durationMs, tail, tests }): GateCheck => ({
    name,
    ok,
    exitCode,
    durationMs,
    tail: ok ? null : tail,
    ...tests === undefined ? {} : { tests },
  }));
  // As `ralph schema gate` has it.
  const report: GateReport = { version: REPORT_VERSION, ...rest, checks };
  const format = flags.has("json") ? "json" : flags.text("format");
  if (format === undefined) say(textOf(verdict));
  else out(format === "json" ? toJson(report) : await inFormat(ralph, format, report));
  if (flags.has("status")) say(await (await import("../commit_status.ts")).setStatus(host, rooted, report));
  return exitCode;
}

/** Findings fail it. */
function unlessNamed(verdict: VerdictSince): VerdictSince {
  if (verdict.status !== "passed" || verdict.notices.length === 0) return verdict;
  const reasons = verdict.notices.map(({ subject, message }) => `${subject}: ${message}`);
  return { ...verdict, status: "failed", reasons };
}

async function inFormat(ralph: RalphContext, format: string, report: GateReport): Promise<string> {
  const { gateMarkdown, junitOf, sarifOf } = await import("../../report/gate_formats.ts");
  if (format === "junit") return junitOf(report);
  if (format === "markdown") return gateMarkdown(report);
  return sarifOf(report, await changedLines(ralph, report));
}

const HUNK_REGEXP = /^\+\+\+ (?:b\/(.+?)\t?|\/dev\/null)$|^@@ -\S+ \+(\d+)/gm;

/** The first changed line of each file that is there; where none has changed, of the file that names the checks. */
async function changedLines(ralph: RalphContext, { base, head }: Pick<GateReport, "base" | "head">) {
  const diff = ["diff", "--diff-filter=d", "--no-renames", "--no-ext-diff", "-z"];
  const form = ["-U0", "--no-color", "--src-prefix=a/", "--dst-prefix=b/", "--submodule=short"];
  const range = [base, head ?? base];
  const repository = requireRepository(ralph);
  const names = partsOf(await outputFrom(repository, [...diff, "--name-only", ...range]));
  // a binary file has no lines
  const found = new Map((names.length === 0 ? topLevelPaths(ralph, [CONFIG_FILE]) : names).map((name) => [name, 1]));
  const left = new Set(names);
  let path = "";
  for (const [, file, line] of (await outputFrom(repository, [...diff, ...form, ...range])).matchAll(HUNK_REGEXP)) {
    if (line === undefined) path = file ?? "";
    else if (left.delete(path)) found.set(path, Math.max(Number(line), 1));
  }
  return found;
}

/** An agent's hook that asks, and what is known of its session. */
type Hook = Awaited<ReturnType<typeof hookOf>>;
/**
 * Claude Code and Codex name event and session in the text that they hand to a hook on standard input.
 *
 * @returns also how often the agent was held back in a row, and the commit at which the session began, if that was told
 */
async function hookOf({ host: { terminal } }: Invocation, { repository, root }: RootedRepository) {
  const given = terminal.isTerminal("stdin") ? {} : objectOr(jsonIn(await text(terminal.stdin)));
  const { session_id: id, hook_event_name: event } = given;
  const session = typeof id === "string" ? id : ""; // what is no hook's input shares one count
  const file = join(ownFiles(repository, root).directory, "gate", hashText(session).slice(0, 16));
  const [held = "", start] = (await readText(file) ?? "").split(" ");
  return { isStart: event === "SessionStart", file, held: Number(held), start };
}

/** Notes where a session begins: on the default branch nothing else shows which commits are its own. */
async function begun(hook: Hook, repository: Repository): Promise<number> {
  const start = hook.start ?? await commitAt(repository, "HEAD");
  if (start !== null) await keep({ ...hook, start, held: 0 });
  return 0;
}

async function baseFor(repository: Repository, given: Parameters<typeof mergeBase>[1], hook: Hook | null) {
  const base = await mergeBase(repository, given);
  const start = given.base === undefined ? hook?.start : undefined;
  const isHere = start !== undefined && base === await commitAt(repository, "HEAD");
  return isHere ? await mergeBase(repository, { base: start }) : base;
}

/**
 * `true` while the agent is held back: so often in a row in its session. A verdict that passes, and letting go, begin
 * the count anew: the person's next request in the same session is held back again.
 */
async function isHeld(hook: Hook, exitCode: number): Promise<boolean> {
  const held = exitCode === 0 || hook.held === MOST_BLOCKS ? 0 : hook.held + 1;
  await keep({ ...hook, held });
  return held > 0;
}

async function keep({ file, held, start }: Hook): Promise<void> {
  if (held === 0 && start === undefined) return await removePath(file);
  const folder = dirname(file);
  const others = await listDirectory(folder);
  if (others.length > MOST_SESSIONS) await removeOwn(folder, dirname(folder)); // most of them have ended
  await writeAtomic(file, [held, start ?? []].flat().join(" "));
}

function textOf({ status, base, reasons, notices, leftOut }: VerdictSince): string {
  const known = [
    ...notices.map(({ kind, subject, message }) => `${noticeLabel(kind)}: ${subject}: ${message}`),
    ...reasons,
    ...leftOut === null ? [] : [leftOut],
  ];
  return [`${status} since ${base.slice(0, 12)}`, ...known.map((line) => `  ${line}`)].join("\n");
}

const DAY_MS = 86_400_000;

/** `ralph attest verify|show [COMMIT]`: whether the verdict on a commit can be believed, on any clone. */
export async function attest(invocation: Invocation): Promise<number> {
  const { arguments: [action = "", name = "HEAD"], flags, host, out, say } = invocation;
  if (action !== "verify" && action !== "show") {
    throw usage(`\`ralph attest\` takes verify or show (got: ${action})`, "`ralph attest verify HEAD`");
  }
  const title = `attestation of ${name}`;
  await using session = await openSession(invocation, { asks: false, gates: [], data: true, title });
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
  const noted = await repository.git(["grep", "-ohE", "--no-color", '"tree":"[0-9a-f]+"', VERDICTS_REF]);
  const trees = new Set(noted.stdout.match(/[0-9a-f]{40,}/g));
  const listed = await outputFrom(repository, ["log", "--max-count=1000", "--format=%H %T", commit]);
  const newest = listed.split("\n").map((line) => line.split(" ")).find(([, tree = ""]) => trees.has(tree))?.[0];
  return newest === undefined ? null : (await verifyAttestation(ralph, newest, [])).verdict;
}

/** Runs checks and experiments again, and compares the verdicts field by field. */
async function again(ralph: RalphContext, { base, checks, findings }: Verdict, head: string) {
  const known = checks.map(({ command, exitCode, expect }) => ({
    command,
    exitCode,
    name: expect === undefined ? command : `${command} (${JSON.stringify(expect)})`,
    ...(expect === undefined ? {} : { expect }),
  }));
  const commands = known.filter(({ exitCode }) => exitCode !== null); // others are no commands
  const now = await verdictSince(ralph, { base: base ?? `${head}^`, head, checks: commands });
  const codes = new Map(now.checks.map(({ name, exitCode }) => [name, exitCode]));
  const attested = new Set(findings.map(({ kind, subject }) => `${kind} ${subject}`));
  const differences = [
    ...now.status === "passed" ? [] : [`status: passed, now ${now.status}`],
    ...known.filter(({ name, exitCode }) => exitCode === null || codes.get(name) !== exitCode)
      .map(({ name, exitCode }) => `${name}: exit code ${exitCode ?? "none"}, now ${codes.get(name) ?? "not run"}`),
    // a run may know more: of the items and runs before it
    ...now.notices.map(({ kind, subject }) => `${kind} ${subject}`).filter((one) => !attested.has(one))
      .map((one) => `a finding that is not attested: ${one}`),
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
