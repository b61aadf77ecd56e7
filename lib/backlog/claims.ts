/**
 * Claims: what a turn asks for by `ralph task …`, `issue …`, `step …`, `set-spec`. Inside of a turn these commands add a
 * line to the turn's own file and write no state; the coordinator applies what the stage permits.
 *
 * @module
 */
import { join } from "node:path";
import type { ZodType } from "zod";
import { whileLocked } from "./state_files.ts";
import { jsonIn } from "../host/data.ts";
import { RalphError } from "../errors/ralph_error.ts";
import { appendText, hashText, pathExists, readStart, removePath, temporaryDirectory } from "../host/files.ts";
import type { Host } from "../host/types.ts";

/** The environment variable that names the one file of Ralph's that a turn may write. */
export const CLAIMS_VARIABLE = "RALPH_CLAIMS";

/** One change of state that was asked for, complete: it can be made later, by another process. */
export interface ClaimLine {
  readonly v: 1;
  /** `task done`, `issue add`, `step add` … */
  readonly command: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The id of the record that is meant; of a new record the id that it will have. */
  readonly id?: string | undefined;
  /** A reason, a description, a spec. */
  readonly text?: string | undefined;
  /** The fields of a new record. */
  readonly record?: Readonly<Record<string, unknown>> | undefined;
}

/** A claim that was not applied. */
export interface RefusedClaim {
  readonly claim: ClaimLine;
  readonly reason: string;
}

/** Beyond this a file of claims is not read. */
const MAX_BYTES = 4 * 1024 * 1024;

/** The claims in a file; lines that are none are left out. */
export async function readClaims(file: string): Promise<readonly ClaimLine[]> {
  const bytes = await readStart(file, MAX_BYTES);
  if (bytes === null || bytes.length === 0) return [];
  const schema = await claimSchema();
  return new TextDecoder().decode(bytes).split("\n").flatMap((line) => {
    const parsed = schema.safeParse(jsonIn(line));
    return parsed.success ? [parsed.data] : [];
  });
}

/** Adds claims in one write. @throws {RalphError} file-unwritable */
export async function appendClaims(file: string, claims: readonly ClaimLine[]): Promise<void> {
  await appendText(file, claims.map((claim) => `${JSON.stringify(claim)}\n`).join(""));
}

/** Folds claims into a state, in order. It leaves out and names claims that `apply` refuses by a RalphError. Pure. */
export function applyClaims<State>(
  state: State,
  claims: readonly ClaimLine[],
  apply: (state: State, claim: ClaimLine) => State,
): { readonly state: State; readonly refused: readonly RefusedClaim[] } {
  const refused: RefusedClaim[] = [];
  let current = state;
  for (const claim of claims) {
    try {
      current = apply(current, claim);
    } catch (error) {
      if (!RalphError.isInstance(error)) throw error;
      refused.push({ claim, reason: error.message });
    }
  }
  return { state: current, refused };
}

/** Claims that wait for the run at work to apply them, for each state file. */
export interface Inbox {
  add(stateFile: string, claims: readonly ClaimLine[]): Promise<void>;
  read(stateFile: string): Promise<readonly ClaimLine[]>;
  /** Hands over what is waiting, then forgets it. After a kill in between the same claims come again. */
  take(stateFile: string, apply: (claims: readonly ClaimLine[]) => Promise<void>): Promise<void>;
}

/** The inbox of one root, below `directory`. */
export function createInbox(
  { root, directory, host }: { readonly root: string; readonly directory: string; readonly host: Host },
): Inbox {
  const fileOf = (stateFile: string): string =>
    join(directory, "inbox", `${hashText(`${root}\0${stateFile}`).slice(0, 32)}.jsonl`);

  const locked = (file: string, run: () => Promise<void>): Promise<void> =>
    whileLocked(file, `${file}.lock`, { purpose: "inbox", host }, run);

  return {
    add: (stateFile, claims) => locked(fileOf(stateFile), () => appendClaims(fileOf(stateFile), claims)),
    read: (stateFile) => readClaims(fileOf(stateFile)),
    async take(stateFile, apply) {
      const file = fileOf(stateFile);
      if ((await readClaims(file)).length === 0) return;
      await locked(file, async () => {
        await apply(await readClaims(file));
        await removePath(file);
      });
    },
  };
}

export async function claimSchema(): Promise<ZodType<ClaimLine>> {
  const { z } = await import("zod"); // heavy, and most turns claim nothing
  return z.strictObject({
    v: z.literal(1),
    command: z.string().max(50),
    at: z.number(),
    id: z.string().max(200).optional(),
    text: z.string().optional(),
    record: z.record(z.string(), z.unknown()).optional(),
  });
}

/**
 * The file to which commands of one turn write their requests: outside of the project, under a name of its own for each
 * turn; disposed, it is gone.
 */
export async function createClaimsFile(
  { ids }: Pick<Host, "ids">,
): Promise<AsyncDisposable & { readonly path: string; read(): Promise<readonly ClaimLine[]> }> {
  const folder = await temporaryDirectory("ralph-claims-");
  const path = join(folder.path, ids.random(12));
  return {
    path,
    read: () => readClaims(path),
    async [Symbol.asyncDispose]() {
      if (await pathExists(path)) await removePath(path); // an empty folder is removed at once
      await folder[Symbol.asyncDispose]();
    },
  };
}
