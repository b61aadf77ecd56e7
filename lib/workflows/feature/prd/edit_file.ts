import { join } from "node:path";
import type { RalphContext } from "../../../context/context.ts";
import { RalphError } from "../../../errors/ralph_error.ts";
import { shellInvocation } from "../../../host/shell.ts";
import type { PrdFailure } from "./outcome.ts";

/**
 * Opens a file in the person's own editor, $VISUAL before $EDITOR, with the terminal handed over.
 *
 * @param path relative to the root
 * @throws {RalphError} editor-missing
 */
export async function editFile(
  { host, root, signal }: RalphContext,
  path: string,
): Promise<{ readonly status: "edited" } | PrdFailure> {
  const { VISUAL, EDITOR } = host.environment.variables;
  const editor = [VISUAL, EDITOR].find((value) => value !== undefined && value.trim() !== "");
  if (editor === undefined) throw new RalphError("editor-missing", { details: { path } });
  const file = `'${join(root, path).replaceAll("'", `'\\''`)}'`;
  const shell = await shellInvocation(`${editor} ${file}`, host.environment);
  const end = await host.processes.run({ ...shell, cwd: root, terminal: true, signal });
  if (end.reason === "aborted") return { status: "aborted" };
  if (end.reason === "exited" && end.exitCode === 0) return { status: "edited" };
  return {
    status: "failed",
    reason: "editor-failed",
    reasons: [`\`${editor}\` ended with ${end.exitCode ?? end.signal ?? end.reason}`],
  };
}
