import { note, type RalphContext } from "../../context/context.ts";
import { asNamed } from "../../host/file_errors.ts";

/** Cleans up behind a run: a failure is reported, and changes no verdict. */
export async function tidied({ events }: Pick<RalphContext, "events">, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const { message, hint } = asNamed(error);
    note({ events }, "warn", `not cleaned up: ${message}; ${hint}`);
  }
}
