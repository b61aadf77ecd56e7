import { faultBelow } from "../../host/file_errors.ts";

/** A fault in a lane's own tree (a full disk, files that cannot be written): no other lane has it. */
export class LaneFault extends Error {
  override readonly name = "LaneFault";
}

/** Work in a lane's tree. @throws {LaneFault} with the named error as its cause */
export async function inLane<Value>({ path }: { readonly path: string }, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    throw new LaneFault("a lane has failed", { cause: faultBelow(path, error) });
  }
}
