import { join } from "node:path";
import { parseFeaturePrd } from "../format.ts";
import type { FeatureDirectory } from "../directories.ts";
import type { FeaturePrd } from "../types.ts";
import type { RalphContext } from "../../../context/context.ts";
import { RalphError } from "../../../errors/ralph_error.ts";
import { hashText, readText } from "../../../host/files.ts";

/** How far a feature's PRD has come. */
export type PrdState =
  /** There is no prd.md. */
  | { readonly status: "new" }
  /** There is, and no prd.json that was made of it. `reason` says why it does not count. */
  | { readonly status: "draft"; readonly markdown: string; readonly reason: string }
  | { readonly status: "final"; readonly markdown: string; readonly prd: FeaturePrd };

/** Reads how far a feature has come. A valid prd.json without the sha256 of its prd.md matches. */
export async function prdState({ root }: Pick<RalphContext, "root">, feature: FeatureDirectory): Promise<PrdState> {
  const markdown = await readText(join(root, feature.markdownFile));
  if (markdown === null || markdown.trim() === "") return { status: "new" };
  const text = await readText(join(root, feature.prdFile));
  if (text === null) return { status: "draft", markdown, reason: "not finalized yet" };
  try {
    const prd = parseFeaturePrd(text, feature.prdFile);
    if (prd.prdSha256 === undefined || prd.prdSha256 === hashText(markdown)) return { status: "final", markdown, prd };
    return { status: "draft", markdown, reason: "prd.md has changed since prd.json was made of it" };
  } catch (error) {
    if (!RalphError.isInstance(error)) throw error;
    return { status: "draft", markdown, reason: error.message };
  }
}
