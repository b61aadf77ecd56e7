import { join } from "node:path";
import { parseFeaturePrd } from "../format.ts";
import type { FeatureDirectory } from "../directories.ts";
import { readOrError } from "../../read_or_error.ts";
import type { RalphContext } from "../../../context/context.ts";
import { RalphError } from "../../../errors/ralph_error.ts";
import { hashText, readText } from "../../../host/files.ts";
import { shellInvocation } from "../../../host/shell.ts";
import type { PrdFailure } from "./turn.ts";

/** How far a feature's PRD has come. */
export type PrdState =
  /** There is no prd.md. */
  | { readonly status: "new" }
  /** There is, and no prd.json that was made of it. `reason` says why it does not count. */
  | { readonly status: "draft"; readonly markdown: string; readonly reason: string }
  | { readonly status: "final"; readonly markdown: string };

/** Reads how far a feature has come. A valid prd.json without the sha256 of its prd.md matches. */
export async function prdState({ root }: Pick<RalphContext, "root">, feature: FeatureDirectory): Promise<PrdState> {
  const markdown = await readText(join(root, feature.markdownFile));
  if (markdown === null || markdown.trim() === "") return { status: "new" };
  const text = await readText(join(root, feature.prdFile));
  if (text === null) return { status: "draft", markdown, reason: "not finalized yet" };
  const { value: prd, error } = await readOrError(() => parseFeaturePrd(text, feature.prdFile));
  if (prd === null) return { status: "draft", markdown, reason: error.message };
  if (prd.prdSha256 === undefined || prd.prdSha256 === hashText(markdown)) return { status: "final", markdown };
  return { status: "draft", markdown, reason: "prd.md has changed since prd.json was made of it" };
}

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
