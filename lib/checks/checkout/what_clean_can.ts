import type { RalphContext } from "../../context/context.ts";
import type { CheckResult } from "../../backlog/types.ts";
import type { CheckLike } from "../types.ts";
import { verify } from "../verify.ts";
import { absentPaths } from "./absent_paths.ts";
import { classifyClean, type CleanFinding } from "./classify.ts";
import type { BroughtUp, Checkout } from "./types.ts";

/** A check with what it came to. */
export interface CleanCheck {
  readonly check: CheckLike;
  readonly finding: CleanFinding;
  /** In the checkout. */
  readonly result: CheckResult;
}

/** What all checks came to. */
export type WhatCleanCan =
  | { readonly status: "checked"; readonly checks: readonly CleanCheck[] }
  | { readonly status: "aborted" }
  /** The checkout could not be brought up. */
  | { readonly status: "unavailable"; readonly up: Exclude<BroughtUp, { readonly status: "ready" }> };

/**
 * Runs each check once in the checkout of HEAD, before anything is worked on, and what is red there once more in the
 * tree, to learn which checks a clean checkout can make at all.
 *
 * @throws {RalphError} what `verify()` throws
 */
export async function whatCleanCan(
  ralph: RalphContext,
  checkout: Checkout,
  checks: readonly CheckLike[],
  { logs, signal = ralph.signal }: { readonly logs?: string; readonly signal?: AbortSignal } = {},
): Promise<WhatCleanCan> {
  const up = await checkout.bringUp();
  if (up.status !== "ready") return { status: "unavailable", up };
  const inTree = { ...ralph, config: { ...ralph.config, verify: { ...ralph.config.verify, isolated: false } } };
  const logged = (name: string): { readonly logs?: string } => logs === undefined ? {} : { logs: `${logs}/${name}` };
  const found: CleanCheck[] = [];
  let absent: readonly string[] | null = null;
  for (const [index, check] of checks.entries()) {
    const clean = await verify(ralph, [check], { place: up.place, signal, ...logged(`clean-${index + 1}`) });
    const result = clean.results[0];
    if (clean.status === "aborted" || result === undefined) return { status: "aborted" };
    if (result.ok || result.timedOut === true) {
      found.push({ check, finding: classifyClean(result, null, []), result });
      continue;
    }
    const tree = await verify(inTree, [check], { signal, ...logged(`tree-${index + 1}`) });
    if (tree.status === "aborted") return { status: "aborted" };
    absent ??= await absentPaths(ralph, up.place.copied);
    found.push({ check, finding: classifyClean(result, tree.results[0] ?? null, absent), result });
  }
  return { status: "checked", checks: found };
}
