import { join } from "node:path";
import { commitFiles } from "../../commit_files.ts";
import { objectsIn } from "../../answer_objects.ts";
import { readOrError } from "../../read_or_error.ts";
import { inOrder, sameCriteria } from "../../stories.ts";
import { type FeatureDirectory, IGNORE_FILE, scaffoldFeature } from "../directories.ts";
import { parseFeaturePrd, printPrd, withDefaults } from "../format.ts";
import { storyCommandsOf } from "../checks.ts";
import type { FeaturePrd, FeatureStory } from "../types.ts";
import type { RalphContext } from "../../../context/context.ts";
import { hashText, readText, removePath, writeInside } from "../../../host/files.ts";
import { LIST_BYTES, quoted, renderPrompt } from "../../../prompts/render.ts";
import { type PrdFailure, prdTurn } from "./turn.ts";
import { validateFeaturePrd } from "../validate.ts";

/**
 * Lets the agent turn prd.md into prd.json. The agent writes a draft: Ralph checks it, feeds it back while it is wrong,
 * and writes it with Ralph's own fields.
 */
export async function finalize(
  ralph: RalphContext,
  feature: FeatureDirectory,
  markdown: string,
): Promise<{ readonly status: "finalized"; readonly prd: FeaturePrd } | PrdFailure> {
  const path = join(ralph.root, feature.prdFile);
  const before = await readText(path);
  // of a damaged one nothing can be kept, and a new one was asked for
  const earlier = before === null ? null : (await readOrError(() => parseFeaturePrd(before, feature.prdFile))).value;
  let problems: readonly string[] = [];
  for (let attempt = 1; attempt <= ralph.config.maxRetries; attempt++) {
    const prompt = await renderPrompt("feature_prd_finalize", {
      feature: feature.name,
      file: feature.prdFile,
      datetime: feature.date,
      prdContent: markdown,
      existing: existingValue(before, feature.prdFile),
      problems: problems.length === 0
        ? "Nothing: this is the first one."
        : problems.map((problem) => `- ${problem}`).join("\n"),
    }, { root: ralph.root });
    const turn = await prdTurn(ralph, feature, { prompt, name: `prd-finalize-${attempt}` });
    const found = await readText(path);
    if (before === null) await removePath(path);
    else if (found !== before) await writeInside(ralph.root, feature.prdFile, before);
    if (turn.status !== "answered") return turn;
    const draft: ReadDraft = readDraft(found !== null && found !== before ? found : turn.text);
    if (draft.status === "valid") {
      const prd = withOwnState(draft.prd, earlier, hashText(markdown));
      return { status: "finalized", prd: await write(ralph, feature, prd) };
    }
    problems = draft.problems;
    const title = `the draft of prd.json is not valid (${attempt} of ${ralph.config.maxRetries})`;
    ralph.events.emit({ type: "text", title, lines: problems });
  }
  return { status: "failed", reason: "invalid-prd", reasons: problems };
}

function existingValue(before: string | null, file: string): string {
  if (before === null) return "None.";
  return Buffer.byteLength(before) > LIST_BYTES ? `It is long: read \`${file}\`.` : quoted(before);
}

async function write(ralph: RalphContext, feature: FeatureDirectory, prd: FeaturePrd): Promise<FeaturePrd> {
  await scaffoldFeature(ralph.root);
  await ralph.state.update(feature.prdFile, (text) => printPrd(prd, text ?? ""));
  const title = `PRD ${feature.name}, branch ${prd.branchName}`;
  ralph.events.emit({ type: "text", title, lines: linesOf(prd, ralph.config) });
  if (!ralph.config.commits.prdChanges) return prd;
  await commitFiles(ralph, {
    paths: [feature.markdownFile, feature.prdFile, IGNORE_FILE],
    subject: ralph.config.commits.message,
    body: `ralph: ${feature.name} finalized`,
  });
  return prd;
}

function linesOf({ userStories }: FeaturePrd, config: RalphContext["config"]): readonly string[] {
  return inOrder(userStories).flatMap((story) => {
    const { first, ui } = storyCommandsOf(story, config);
    const tags = story.tags.length === 0 ? "" : ` [${story.tags.join(", ")}]`;
    const commands = [...first, ...ui];
    const count = story.acceptanceCriteria.length;
    const facts = `${count} ${count === 1 ? "criterion" : "criteria"}${story.passes ? ", passes" : ""}`;
    return [
      `${story.id} ${story.title}${tags} (${facts})`,
      ...(commands.length === 0
        ? ["  names no check and cannot pass"]
        : commands.map((command) => `  check: ${command}`)),
    ];
  });
}

/** A draft of the agent's: what can be used of it, or what is wrong. */
type ReadDraft =
  | { readonly status: "valid"; readonly prd: FeaturePrd }
  | { readonly status: "invalid"; readonly problems: readonly string[] };

/** Reads the last draft of prd.json in a file or an answer. Pure. */
export function readDraft(text: string): ReadDraft {
  const draft = objectsIn(text, (object) => "schemaVersion" in object || "userStories" in object).at(-1);
  if (draft === undefined) {
    return { status: "invalid", problems: ["no JSON object was found: neither in the file nor in the answer"] };
  }
  const problems = validateFeaturePrd(draft);
  return problems.length > 0
    ? { status: "invalid", problems }
    : { status: "valid", prd: withDefaults(draft as Partial<FeaturePrd>) };
}

/**
 * A draft with Ralph's own fields as Ralph has them: fresh, or those of the story with the same id and criteria. Pure.
 *
 * @param before what is in prd.json, or `null`
 */
export function withOwnState(draft: FeaturePrd, before: FeaturePrd | null, prdSha256: string): FeaturePrd {
  const stories = draft.userStories.map((story): FeatureStory => {
    const same = before?.userStories.find((one) => one.id === story.id && sameCriteria(one, story));
    const { passes = false, retries = 0, blocked = false, lastResult = null, notes = "" } = same ?? {};
    return { ...story, passes, retries, blocked, lastResult, notes };
  });
  const kept = before?.run ?? { startedAt: null, currentStoryId: null, learnings: [] };
  const current = stories.some(({ id, passes }) => id === kept.currentStoryId && !passes) ? kept.currentStoryId : null;
  const { verifiedAt: _, ...run } = kept;
  const allSame = before !== null && stories.length === before.userStories.length &&
    stories.every(({ passes }) => passes);
  return {
    ...draft,
    schemaVersion: 2,
    run: allSame ? kept : { ...run, currentStoryId: current },
    userStories: stories,
    prdSha256,
  };
}
