import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { jsonIn, objectOr } from "../../host/data.ts";
import type { Invocation } from "../../cli/command.ts";
import { NOTICE_LABELS } from "../../cli/end_with.ts";
import { openSession } from "../../cli/session.ts";
import { toJson } from "../../cli/show.ts";
import { ownFiles, type RalphContext } from "../../context/context.ts";
import { hashText, listDirectory, readText, removeOwn, removePath, writeAtomic } from "../../host/files.ts";
import { type VerdictSince, verdictSince } from "../../loop/finish/note_verdict.ts";
import { type Repository, requireRepository } from "../../git/repository.ts";
import { outputFrom } from "../../git/run_git.ts";
import { exitCodeOf } from "../../recipe/outcome.ts";
import { type GateCheck, type GateReport, REPORT_VERSION } from "../../report/types.ts";
import { chosen } from "../chosen.ts";

/** How often a Stop hook holds the agent back in one session. */
const MOST_BLOCKS = 2;
/** Counts of so many sessions are kept. */
const MOST_SESSIONS = 100;

/** `ralph gate`: the verdict alone, for loops that are not Ralph's. Nothing is marked, nothing is committed. */
export async function run(invocation: Invocation): Promise<number> {
  const { flags, out, say } = invocation;
  const { place } = await chosen(invocation);
  await using session = await openSession(invocation, { asks: false, gates: [], data: true, place });
  const { ralph } = session;
  const base = flags.text("base");
  const verdict = await verdictSince(ralph, {
    ...(base === undefined ? {} : { base }),
    checks: flags.all("verify"),
    ...(flags.has("timeout") ? { timeoutMs: ralph.config.verify.timeout * 1000 } : {}),
  });
  const exitCode = exitCodeOf({ ...verdict, allowed: false });
  if (flags.has("hook")) {
    if (await isHeld(ralph, await sessionOf(invocation), exitCode)) {
      out(JSON.stringify({ decision: "block", reason: textOf(verdict) }));
    }
    return 0;
  }
  const { checks: ran, ...rest } = verdict;
  const checks = ran.map(({ name, ok, exitCode, durationMs, tail }): GateCheck =>
    ok ? { name, ok, exitCode, durationMs, tail: null } : { name, ok, exitCode, durationMs, tail }
  );
  // As `ralph schema gate` has it.
  const report: GateReport = { version: REPORT_VERSION, ...rest, checks };
  const format = flags.has("json") ? "json" : flags.text("format");
  if (format === undefined) say(textOf(verdict));
  else out(format === "json" ? toJson(report) : await inFormat(ralph, format, report));
  return exitCode;
}

async function inFormat(ralph: RalphContext, format: string, report: GateReport): Promise<string> {
  const { gateMarkdown, junitOf, sarifOf } = await import("../../report/gate_formats.ts");
  if (format === "junit") return junitOf(report);
  if (format === "markdown") return gateMarkdown(report);
  const { base, head } = report;
  return sarifOf(report, head === null ? new Map() : await changedLines(requireRepository(ralph), base, head));
}

const HUNK_REGEXP = /^\+\+\+ b\/(.+)|^@@ -\S+ \+(\d+)/gm;

/** The first changed line of each file. */
async function changedLines(
  repository: Pick<Repository, "git">,
  base: string,
  head: string,
): Promise<ReadonlyMap<string, number>> {
  const look = ["-c", "core.quotePath=false", "diff", "-U0", "--no-color", "--no-ext-diff", "--no-renames"];
  const found = new Map<string, number>();
  let path = "";
  for (const [, file, line] of (await outputFrom(repository, [...look, base, head])).matchAll(HUNK_REGEXP)) {
    if (file !== undefined) path = file;
    else if (!found.has(path)) found.set(path, Math.max(Number(line), 1));
  }
  return found;
}

/** Claude Code and Codex name the session in the text that they hand to a Stop hook on standard input. */
async function sessionOf({ host }: Invocation): Promise<string> {
  if (host.terminal.isTerminal("stdin")) return "";
  const { session_id: id } = objectOr(jsonIn(await text(host.terminal.stdin)));
  return typeof id === "string" ? id : ""; // what is no hook's input shares one count
}

/**
 * `true` while the agent is held back: so often in a row in its session. A verdict that passes, and letting go, begin
 * the count anew: the person's next request in the same session is held back again.
 */
async function isHeld(
  ralph: Pick<RalphContext, "repository" | "root">,
  session: string,
  exitCode: number,
): Promise<boolean> {
  const folder = join(ownFiles(ralph.repository, ralph.root).directory, "gate");
  const file = join(folder, hashText(session).slice(0, 16));
  const count = exitCode === 0 ? 0 : Number(await readText(file) ?? "0") + 1;
  if (count === 0 || count > MOST_BLOCKS) {
    await removePath(file);
    return false;
  }
  const others = await listDirectory(folder);
  if (others.length > MOST_SESSIONS) await removeOwn(folder, dirname(folder)); // they ended while they were held back
  await writeAtomic(file, String(count));
  return true;
}

function textOf({ status, base, reasons, notices, leftOut }: VerdictSince): string {
  const known = [
    ...notices.map(({ kind, subject, message }) => `${NOTICE_LABELS[kind] ?? kind}: ${subject}: ${message}`),
    ...reasons,
    ...leftOut === null ? [] : [leftOut],
  ];
  return [`${status} since ${base.slice(0, 12)}`, ...known.map((line) => `  ${line}`)].join("\n");
}
