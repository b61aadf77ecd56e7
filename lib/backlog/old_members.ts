import { RalphError } from "../errors/ralph_error.ts";
import { BACKLOG_VERSION } from "./types.ts";

/** Members of earlier versions of the interface, each with what is in its place. */
const OLD: Readonly<Record<string, string>> = {
  asks: "`fingerprint` of `brief()`",
  begin: '`record()` of `"item-began"`',
  branch: "`branch` of `brief()`",
  briefFiles: "`files` of `brief()`",
  commits: "`squash` and `attempts` of `policy`",
  committed: '`record()` of `"item-committed"`',
  ended: '`record()` of `"run-passed"`',
  final: "`final` of `policy`",
  goal: "`goal` of `brief()`",
  hookRan: "the `store` of a hook",
  hooksLeft: "the `store` of a hook",
  logsDirectory: "the `store` of a hook",
  restore: "`state.parts`",
  resume: '`record()` of `"run-began"`',
  retries: "`retries` of `policy`",
  withdraw: '`record()` of `"work-returned"`',
};

/** @throws {RalphError} backlog-invalid where a backlog has a member that the loop does not call any more */
export function refuseOldMembers(backlog: { readonly name: string }): void {
  const old = Object.keys(OLD).filter((member) => member in backlog);
  if (old.length === 0) return;
  const instead = old.map((member) => `instead of \`${member}\`, ${OLD[member]}`).join("; ");
  const problem = `it is of an older version; in version ${BACKLOG_VERSION}: ${instead}`;
  throw new RalphError("backlog-invalid", { details: { backlog: backlog.name, problem } });
}
