import { join, relative, sep } from "node:path";
import { agentTurn } from "../agents/agent_turn.ts";
import { resolveAgent } from "../agents/registry.ts";
import type { AsInstructed } from "../backlog/check_types.ts";
import { NONCE_LENGTH, signalsOf } from "../backlog/signals.ts";
import type { Check, CheckContext, CheckOutcome, Item, Turn } from "../backlog/types.ts";
import { type Agent, note, type RalphContext } from "../context/context.ts";
import { asideText, guardHistory } from "../git/history.ts";
import { requireRepository, rootPaths, topLevelPaths } from "../git/repository.ts";
import { ensureDirectory, pathExists, writeAtomic } from "../host/files.ts";
import { fillPrompt, renderPrompt } from "../prompts/render.ts";

/** How a reviewer is asked. */
export interface ReviewOptions {
  /**
   * A prompt of your own. `{{item}}` is the item with its criteria, `{{change}}` the change and the file that holds its
   * diff, `{{answer}}` how to answer; without any of them they are appended. @default the prompt `review`
   */
  readonly prompt?: string;
  /** Milliseconds for the reviewer's turn. @default provider.timeout of the configuration */
  readonly timeoutMs?: number;
}

/** Bytes of a diff that a reviewer is handed; more than that it looks up itself. */
const DIFF_BYTES = 256 * 1024;
/** So many changed files are named in the prompt. */
const FILES_NAMED = 100;

/**
 * A check made of a second agent: a fresh process reads what was changed and what was asked for, and approves or
 * rejects. Its reason for a rejection goes to the next attempt, as a failing check's output does. It runs after all
 * other checks have passed, and only after an agent's turn; what it uses counts towards the run's totals and budgets.
 * A review without a verdict, one that ends badly and one that writes to the working tree count as failed.
 *
 * @param agent a known agent's name, a command for the shell, or an agent of your own; it may be the run's own
 * @throws {RalphError} agent-unknown, option-invalid
 * @example Nothing passes that a second agent has not approved of
 * ```ts
 * import { memoryBacklog, reviewedBy, runLoop } from "ralph";
 * import { scriptedAgent } from "ralph/agents";
 * import { createHost } from "ralph/host";
 * import { testContext } from "ralph/testing";
 *
 * const done = "<ralph>DONE</ralph>";
 * await using ralph = await testContext({
 *   agent: { turns: [{ write: { "a.txt": "TODO" }, say: done }, { write: { "a.txt": "a" }, say: done }] },
 * });
 * const reviewer = scriptedAgent({
 *   turns: [
 *     { say: "<review>REJECT: a.txt holds a placeholder</review>" },
 *     { say: "<review {{nonce}}>APPROVE</review>" },
 *   ],
 * }, { host: createHost(), name: "reviewer" });
 * const backlog = memoryBacklog([{ id: "a", title: "write a.txt", checks: ["test -f a.txt"] }]);
 * const run = await runLoop(ralph, backlog, { checks: [reviewedBy(ralph, reviewer)] });
 * console.log(run.status, run.turns); // passed 2
 * ```
 */
export function reviewedBy(
  ralph: RalphContext,
  agent: Agent | string | { readonly command: string },
  options: ReviewOptions = {},
): Check {
  const reviewer = reviewerOf(ralph, agent);
  return {
    name: `review by ${reviewer.name}`,
    review: true,
    timeoutMs: Infinity, // a rate limit is waited out; the turn itself has its own limit
    ensureUsable: () => reviewer.ensureUsable(),
    run: (context) => review(ralph, reviewer, context, options),
  };
}

async function review(ralph: RalphContext, reviewer: Agent, context: CheckContext, options: ReviewOptions) {
  const folder = context.logs ?? join(await ralph.run.folder(".ralph/runs"), "review");
  const name = await freeName(folder, `review-${reviewer.name.replaceAll(/[^\w.-]+/g, "-").slice(0, 40)}`);
  await ensureDirectory(folder);
  const { item, signal } = context;
  const nonce = ralph.host.ids.random(NONCE_LENGTH);
  const asked = {
    item: reviewItem(item),
    change: await describeChange(ralph, context, join(folder, `${name}.diff`)),
    answer: reviewAnswer(nonce),
  };
  const prompt = options.prompt === undefined
    ? await renderPrompt("review", asked, { root: ralph.root })
    : fillPrompt(options.prompt, asked);
  const limit = options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs };
  const asInstructed: AsInstructed = context.asInstructed ?? ((run) => run());
  const { turn, rewritten } = await asInstructed(async () => {
    const own = { ...ralph, agent: reviewer, fallback: null, router: null };
    const { turn, before, after } = await agentTurn(own, { prompt, name, folder, item, signal, nonce, ...limit });
    const line = { branch: before.branch, head: before.head, floor: before.head };
    const rewritten = await guardHistory(requireRepository(ralph), line, after, `${ralph.run.id}-${name}`);
    if (rewritten?.aside) {
      const { ref, paths } = rewritten.aside;
      note(ralph, "warn", `${ref} ${asideText({ ref, paths: rootPaths(ralph, paths) })}`);
    }
    return { turn, rewritten };
  });
  const found = { ...outcomeOf(turn, nonce, rewritten !== null), usage: turn.usage };
  const words = relative(ralph.root, turn.transcript).replaceAll(sep, "/");
  return found.ok || found.halts !== undefined ? found : { ...found, tail: `${found.tail}\n(its words: ${words})` };
}

/** The outcome of a reviewer's turn: its writes weigh more than its words. */
function outcomeOf({ end, changedFiles, lines }: Turn, nonce: string, rewritten: boolean): CheckOutcome {
  const failed = (tail: string): CheckOutcome => ({ ok: false, exitCode: null, tail });
  if (end.reason === "agent-unusable" || end.reason === "rate-limited") {
    return { ...failed(end.message), halts: end.reason };
  }
  if (rewritten) {
    return failed("the reviewer switched to another branch or rewrote history; a review must change nothing");
  }
  if (changedFiles.length > 0) {
    const paths = changedFiles.join(", ");
    return failed(`the reviewer changed the working tree, which a review must not: ${paths} (left as it is)`);
  }
  if (end.reason !== "completed") return failed(`no review: ${"message" in end ? end.message : end.reason}`);
  const said = signalsOf(lines, nonce).filter(({ form }) => form === "review");
  const rejections = said.filter(({ name }) => /^REJECT(ED)?$/.test(name));
  if (rejections.length > 0) { // one beats an approval, which counts with the nonce only
    const reasons = [...new Set(rejections.map(({ value }) => value || "no reason was given"))];
    return failed(["rejected:", ...reasons.map((reason) => `- ${reason}`)].join("\n"));
  }
  return said.some(({ name, sealed }) => sealed && /^APPROVED?$/.test(name))
    ? { ok: true, exitCode: null, tail: "approved" }
    : failed("no review: the reviewer ended without an approval as its prompt asks for, or a rejection");
}

/** Writes the diff beside the transcript and says where it is: it may be too long for a command line. */
async function describeChange(ralph: RalphContext, { done }: CheckContext, file: string): Promise<string> {
  const repository = requireRepository(ralph);
  const paths = done?.changedFiles ?? rootPaths(ralph, (await repository.status()).changed.map(({ path }) => path));
  if (paths.length === 0) {
    return "Nothing: the author changed no file and says that the item was done already. Find out whether it was.";
  }
  const base = done === undefined ? {} : { base: done.since };
  await writeAtomic(file, await repository.diff(topLevelPaths(ralph, paths), { ...base, maxBytes: DIFF_BYTES }));
  const more = paths.length - FILES_NAMED;
  const since = done === undefined ? "HEAD" : done.since ?? "the empty tree";
  return [
    `The diff, new files included: \`${file}\`. Where it is cut, \`git diff ${since}\` shows the rest.`,
    "",
    ...paths.slice(0, FILES_NAMED).map((path) => `- \`${path}\``),
    ...(more > 0 ? [`- and ${more} more`] : []),
  ].join("\n");
}

/** A second review of the same attempt by the same agent has files of its own. */
async function freeName(folder: string, name: string): Promise<string> {
  for (let number = 1;; number += 1) {
    const one = number === 1 ? name : `${name}-${number}`;
    if (!await pathExists(join(folder, `${one}.log`))) return one;
  }
}

/** A second agent. Model and reasoning of the configuration are the worker's: another agent may not know them. */
export function reviewerOf(
  { config, host, root }: RalphContext,
  agent: Agent | string | { readonly command: string },
): Agent {
  if (typeof agent === "object" && "runTurn" in agent) return agent;
  if (typeof agent === "object") return resolveAgent({ command: agent.command, config, host, root });
  const { model: _model, reasoning: _reasoning, ...provider } = config.provider;
  const own = config.provider.preset === agent ? config : { ...config, provider };
  return resolveAgent({ name: agent, config: own, host, root });
}

/** How a reviewer is asked to answer: none of it is a line that would count when it is repeated. */
function reviewAnswer(nonce: string): string {
  return "End with your verdict on a line of its own, outside any code block. When the item is done: " +
    `\`<review ${nonce}>APPROVE</review>\`. Otherwise one line for each thing that is wrong, with the file and what it ` +
    "should do, so that the author can fix it without asking you: `<review>REJECT: what is wrong, and where</review>`. " +
    "Without such a line your review does not count.";
}

/** An item as its reviewer sees it. Pure. */
export function reviewItem(item: Item | null): string {
  if (item === null) return "No item is named: judge the change by itself.";
  const { criteria = [] } = item;
  const asked = criteria.length === 0
    ? ["Its criteria are not written down: judge by what it says."]
    : ["Acceptance criteria:", ...criteria.map((criterion) => `- ${criterion}`)];
  return [`${item.id}: ${item.title}`, "", ...asked].join("\n");
}
