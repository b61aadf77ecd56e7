import type { CheckResult } from "../../backlog/types.ts";
import type { RalphContext } from "../../context/context.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import { OWN_IDENTITY } from "../../git/own_commit.ts";
import { requireRepository } from "../../git/require_repository.ts";
import { lineFrom, outputFrom } from "../../git/run_git.ts";
import type { Notice } from "../policy/progress.ts";
import { maskOf } from "../settle/stow.ts";

/** Notes of git with verdicts, for other tools. */
const VERDICTS_REF = "refs/notes/ralph";

/** A commit that passed. */
export interface Passed {
  readonly commit: string;
  /** The commit that the work began on; `null` where that is not known. */
  readonly base: string | null;
  readonly checks: readonly CheckResult[];
  readonly notices: readonly Notice[];
}

/**
 * Writes the verdict as one line of JSON to the commit that passed, in place of an older one. A note that cannot be
 * written is a warning: it changes no verdict.
 */
export async function noteVerdict(ralph: RalphContext, { commit, base, checks, notices }: Passed): Promise<void> {
  const masked = maskOf(ralph);
  await writeNote(ralph, commit, {
    version: 1,
    status: "passed",
    base,
    checks: checks.map(({ name, exitCode }) => ({ command: masked(name), exitCode })),
    findings: notices.filter(({ kind }) => kind === "old-tests" || kind === "cannot-fail")
      .map(({ kind, subject }) => ({ kind, subject: masked(subject) })),
    run: ralph.run.id,
  });
}

/** Writes the verdict of a commit to another one also, whose tree is the same but for state. */
export async function carryVerdict(ralph: RalphContext, from: string, to: string): Promise<void> {
  const { git } = requireRepository(ralph);
  const noted = await git(["notes", `--ref=${VERDICTS_REF}`, "show", from]);
  const verdict = from === to || noted.exitCode !== 0 ? null : asJson(noted.stdout);
  if (verdict !== null) await writeNote(ralph, to, verdict);
}

/** `null` for what a person has written. */
function asJson(text: string): object | null {
  try {
    return Object(JSON.parse(text));
  } catch {
    return null;
  }
}

async function writeNote(ralph: RalphContext, commit: string, verdict: object): Promise<void> {
  const repository = requireRepository(ralph);
  try {
    const tree = await lineFrom(repository, ["rev-parse", `${commit}^{tree}`]);
    const arguments_ = ["notes", `--ref=${VERDICTS_REF}`, "add", "--force", "--file=-", commit];
    const input = JSON.stringify({ ...verdict, commit, tree });
    await outputFrom(repository, arguments_, { input, environment: OWN_IDENTITY });
  } catch (error) {
    if (!RalphError.isInstance(error)) throw error;
    const message = `no verdict was noted at ${commit.slice(0, 10)}: ${error.message}`;
    ralph.events.emit({ type: "note", level: "warn", message });
  }
}
