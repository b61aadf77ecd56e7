import { issueText } from "./schema.ts";
import type { Attempt, Backlog } from "./types.ts";

/** An attempt that another process wrote, as this backlog reads it. */
export type ReadAttempt<Findings> =
  | { readonly status: "read"; readonly attempt: Attempt<Findings> }
  /** Names the field and its problem. */
  | { readonly status: "unfit"; readonly problem: string };

/** Reads what an attempt that another process wrote claims beside its status: by the backlog's own schema, or not at all. */
export async function withFindings<Findings>(
  backlog: Pick<Backlog<unknown, Findings>, "name" | "findings">,
  attempt: Attempt,
): Promise<ReadAttempt<Findings>> {
  const { claim } = attempt;
  const given = claim?.findings;
  if (claim === null || given === undefined) return { status: "read", attempt: attempt as Attempt<Findings> };
  const schema = await backlog.findings?.();
  if (schema === undefined) {
    const problem =
      `claim.findings: expected none, the backlog ${backlog.name} has no schema for them (\`findings()\`)`;
    return { status: "unfit", problem };
  }
  const read = await schema["~standard"].validate(given);
  if (read.issues !== undefined) {
    return { status: "unfit", problem: read.issues.map((issue) => issueText(issue, "claim", "findings")).join("; ") };
  }
  return { status: "read", attempt: { ...attempt, claim: { ...claim, findings: read.value } } };
}
