import { attest, briefHash } from "../../attest/attest.ts";
import { VERDICTS_REF } from "../../attest/names.ts";
import type { CheckResult } from "../../backlog/types.ts";
import type { BriefRecord } from "../../backlog/journal_types.ts";
import type { RalphContext } from "../../context/context.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import { noteAt } from "../../git/notes.ts";
import { requireRepository } from "../../git/repository.ts";
import { jsonIn } from "../../host/data.ts";
import { VERSION } from "../../host/version.ts";
import type { Notice } from "../policy/progress.ts";
import { maskOf } from "../settle/stow.ts";

/** A commit that passed. */
export interface Passed {
  readonly commit: string;
  /** The commit that the work began on; `null` where that is not known. */
  readonly base: string | null;
  readonly checks: readonly CheckResult[];
  readonly notices: readonly Notice[];
  /** The files that judged it; absent where no run fixed them. */
  readonly brief?: BriefRecord;
}

/** Attests the verdict of a commit that passed, in place of an older one. */
export async function noteVerdict(ralph: RalphContext, passed: Passed): Promise<void> {
  const { commit, base, checks, notices, brief } = passed;
  const masked = maskOf(ralph);
  await attested(ralph, {
    commit,
    base,
    checks: checks.map(({ name, exitCode }) => ({ command: masked(name), exitCode })),
    findings: notices.filter(({ kind }) => kind === "old-tests" || kind === "cannot-fail")
      .map(({ kind, subject }) => ({ kind, subject: masked(subject) })),
    brief: brief === undefined ? null : briefHash(brief.files),
    ralph: VERSION,
    run: ralph.run.id,
  });
}

/** Attests the verdict of a commit to another one also, whose tree is the same but for state. */
export async function carryVerdict(ralph: RalphContext, from: string, to: string): Promise<void> {
  if (from === to) return;
  const noted = await noteAt(requireRepository(ralph), VERDICTS_REF, from);
  const { VERDICT_SCHEMA } = await import("../../attest/schema.ts");
  const { data: verdict } = VERDICT_SCHEMA.safeParse(jsonIn(noted));
  if (verdict !== undefined) await attested(ralph, { ...verdict, commit: to });
}

/** An attestation that cannot be written is a warning: it changes no verdict. */
async function attested(ralph: RalphContext, verdict: Parameters<typeof attest>[1]): Promise<void> {
  try {
    await attest(ralph, verdict);
  } catch (error) {
    if (!RalphError.isInstance(error)) throw error;
    const message = `no verdict was noted at ${verdict.commit.slice(0, 10)}: ${error.message}`;
    ralph.events.emit({ type: "note", level: "warn", message });
  }
}
