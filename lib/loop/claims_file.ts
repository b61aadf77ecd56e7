import { join } from "node:path";
import { type ClaimLine, readClaims } from "../backlog/claims.ts";
import { temporaryDirectory } from "../host/files.ts";
import type { Host } from "../host/types.ts";

/** Where the commands of one turn write what they ask for. */
export interface ClaimsFile extends AsyncDisposable {
  /** Absolute path. */
  readonly path: string;
  read(): Promise<readonly ClaimLine[]>;
}

/** A claims file outside of the project, under a name of its own for each turn; disposed, it is gone. */
export async function createClaimsFile({ ids }: Pick<Host, "ids">): Promise<ClaimsFile> {
  const folder = await temporaryDirectory("ralph-claims-");
  const path = join(folder.path, ids.random(12));
  return {
    path,
    read: () => readClaims(path),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}
