import { RalphError } from "../errors/ralph_error.ts";

/** The value, or the error that Ralph throws where it cannot be read. */
export type ReadOrError<Value> =
  | { readonly value: Value; readonly error: null }
  | { readonly value: null; readonly error: RalphError };

/** Reads what may be damaged; what is no RalphError is thrown. */
export async function readOrError<Value>(read: () => Value | Promise<Value>): Promise<ReadOrError<Value>> {
  try {
    return { value: await read(), error: null };
  } catch (error) {
    if (RalphError.isInstance(error)) return { value: null, error };
    throw error;
  }
}
