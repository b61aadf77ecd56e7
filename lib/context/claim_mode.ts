import * as claimsFile from "../backlog/claims.ts";
import { RalphError } from "../errors/ralph_error.ts";
import { readLockHolder } from "../host/lock.ts";
import { ownFiles, type RalphContext } from "./context.ts";

/** How a command that changes state is carried out. */
export type ClaimMode =
  /** Nothing is at work here: it writes the state. */
  | { readonly status: "direct"; readonly inbox: claimsFile.Inbox }
  /** Inside of a turn: it adds to the turn's claims. */
  | { readonly status: "turn"; readonly file: string; readonly stage: string | null; readonly item: string }
  /** A run is at work, and this is none of its turns: it only adds, by the inbox. */
  | { readonly status: "inbox"; readonly inbox: claimsFile.Inbox; readonly purpose: string; readonly pid: number };

/** Finds out from the environment and the run lock how a state command is carried out. */
export async function claimMode(
  { root, repository, host }: Pick<RalphContext, "host" | "repository" | "root">,
): Promise<ClaimMode> {
  const { variables } = host.environment;
  const file = variables[claimsFile.CLAIMS_VARIABLE];
  if (file !== undefined && file !== "" && variables["RALPH_ROOT"] === root) {
    return { status: "turn", file, stage: variables["RALPH_STAGE"] ?? null, item: variables["RALPH_ITEM"] ?? "" };
  }
  const own = ownFiles(repository, root);
  const inbox = claimsFile.createInbox({ root, directory: own.directory, host });
  const holder = await readLockHolder(own.runLock);
  return holder === null
    ? { status: "direct", inbox }
    : { status: "inbox", inbox, purpose: holder.purpose, pid: holder.pid };
}

/** @throws {RalphError} run-at-work where a run is at work, and this is none of its turns */
export function ensureNoRun(mode: ClaimMode): void {
  if (mode.status !== "inbox") return;
  throw new RalphError("run-at-work", { details: { pid: mode.pid, purpose: mode.purpose } });
}

/** The claims that count for a process beside the state: of its own turn, or those that wait for a run. */
export async function claimsIn(mode: ClaimMode, stateFile: string): Promise<readonly claimsFile.ClaimLine[]> {
  return await (mode.status === "turn" ? claimsFile.readClaims(mode.file) : mode.inbox.read(stateFile));
}

/** Adds to the claims of the turn, or to those that wait for the run at work. */
export async function addClaims(
  mode: Exclude<ClaimMode, { readonly status: "direct" }>,
  stateFile: string,
  claims: readonly claimsFile.ClaimLine[],
): Promise<void> {
  await (mode.status === "turn" ? claimsFile.appendClaims(mode.file, claims) : mode.inbox.add(stateFile, claims));
}
