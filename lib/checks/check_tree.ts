import { ownCommit } from "../git/own_commit.ts";
import { ownTree } from "../git/own_index.ts";
import { requireRepository } from "../git/repository.ts";
import { RalphError } from "../errors/ralph_error.ts";
import { outputFrom } from "../git/run_git.ts";
import { type CheckoutContext, openCheckout } from "./checkout/open_checkout.ts";
import type { BroughtUp, Checkout, CheckoutPlace } from "./checkout/types.ts";

/** The checkout to use, and what ends its setup. */
export interface CheckTreeOptions {
  /** @default one of its own, which is closed when this is disposed of */
  readonly checkout?: Checkout;
  readonly signal: AbortSignal;
}

/**
 * A clean checkout of what would be committed now: tracked files as they are, untracked ones, and nothing that git
 * ignores but what `workspace` names.
 *
 * @throws {RalphError} not-a-repository, git-failed
 */
export async function openCheckTree(
  ralph: CheckoutContext,
  { checkout, signal }: CheckTreeOptions,
): Promise<{ readonly place: CheckoutPlace } & AsyncDisposable> {
  const used = checkout ?? await openCheckout(ralph, { signal });
  const dispose = async (): Promise<void> => checkout === undefined ? await used[Symbol.asyncDispose]() : undefined;
  try {
    const up = await used.bringUp(await commitOfTree(ralph));
    if (up.status === "ready") return { place: up.place, [Symbol.asyncDispose]: dispose };
    throw new RalphError("git-failed", {
      details: {
        command: "checkout",
        reason: whyNotReady(up),
        hint: "set `verify.isolated` to false to run the checks in the tree",
      },
    });
  } catch (error) {
    await dispose();
    throw error;
  }
}

/** The tree as it would be committed, as a commit that no branch has; HEAD and index stay as they are. */
export async function commitOfTree(place: CheckoutContext): Promise<string> {
  const repository = requireRepository(place);
  const { head, changed } = await repository.status();
  if (head !== null && changed.length === 0) return head;
  const tree = await ownTree(
    repository,
    "copied",
    (environment) => outputFrom(repository, ["add", "--all"], { environment }),
  );
  return await ownCommit(repository, tree, { parents: head === null ? [] : [head], message: "work in progress\n" });
}

/** Why a checkout could not be brought up, in words. Pure. */
export function whyNotReady(up: Exclude<BroughtUp, { readonly status: "ready" }>): string {
  switch (up.status) {
    case "failed":
      return up.reason;
    case "links-outside":
      return `new links lead out of the repository: ${up.links.join(", ")}`;
    case "nothing-committed":
      return "nothing is committed";
  }
}
