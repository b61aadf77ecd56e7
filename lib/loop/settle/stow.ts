import type { JournalKey } from "../../backlog/journal_types.ts";
import type { Backlog, Item } from "../../backlog/types.ts";
import type { RalphContext } from "../../context/context.ts";
import { redactorFor } from "../../events/redact.ts";
import type { Mask } from "../../git/fold.ts";
import { type Fold, requireRepository, topLevelPaths } from "../../git/repository.ts";
import { WORK_REFS } from "../../git/run_git.ts";
import type { KeptWork } from "../../git/work_commit.ts";
import { keyOf } from "../journal/journal_record.ts";
import type { Ownership } from "./ownership.ts";

/** Paths relative to the top level that Ralph itself writes. */
export function ownPaths(
  ralph: Pick<RalphContext, "root" | "repository">,
  { stateFiles, ownFiles = [] }: Pick<Backlog, "stateFiles" | "ownFiles">,
): readonly string[] {
  return topLevelPaths(ralph, [...stateFiles, ...ownFiles]);
}

/** Turns at such an item judge or prepare: what they commit themselves does not stay. Pure. */
export function commitsNothing({ review, commitsNothing: asked = review === true }: Item): boolean {
  return asked;
}

/** Takes secrets out of what a turn said in its commits: Ralph repeats it in its own. */
export function maskOf({ host }: Pick<RalphContext, "host">): Mask {
  const redactor = redactorFor(host.environment.variables);
  return (text) => redactor.text(text);
}

/** Puts away what turns at an item left that is given up on, and reports where. @returns the ref, or `null`: nothing was left */
export async function stowParked(
  ralph: RalphContext,
  backlog: Backlog,
  { key, item, attemptId, fold, work }: {
    readonly key: JournalKey;
    readonly item: Item;
    readonly attemptId: string;
    readonly fold: Fold | null;
    /** The work that they left uncommitted. */
    readonly work: Readonly<Record<string, unknown>>;
  },
): Promise<string | null> {
  const repository = requireRepository(ralph);
  const { stowWork } = await import("../../git/stow.ts");
  const ref = `${WORK_REFS}${attemptId}`;
  const stowed = await stowWork(repository, {
    ref,
    subject: `${item.id} - ${item.title} (given up on)`,
    fold,
    paths: Object.keys(work),
    without: ownPaths(ralph, backlog),
    mask: maskOf(ralph),
    empty: commitsNothing(item),
  });
  if (stowed === null) return null;
  const last = ralph.journal.stowed(key).get(item.id);
  await ralph.journal.stow(key, item.id, { ref, isBack: false });
  if (last !== undefined && last.ref !== ref && !commitsNothing(item)) {
    await repository.git(["update-ref", "-d", last.ref]);
  }
  const message = `what the turns at ${item.id} left is kept as ${ref}, and out of the tree`;
  ralph.events.emit({ type: "note", level: "info", message });
  return ref;
}

/** The parts of a run, as far as work comes back in it. */
interface Bringing {
  readonly ralph: RalphContext;
  readonly key: JournalKey;
  readonly ownership: Ownership;
}

/** Brings back what was left of an item, when it is taken up again. @returns whether the tree was changed */
export async function bringBack(parts: Bringing, item: Item): Promise<boolean> {
  const { ralph, key } = parts;
  const stowed = ralph.journal.stowed(key).get(item.id);
  if (stowed === undefined || stowed.isBack || commitsNothing(item)) return false; // a review leaves nothing
  const back = await bringRef(parts, item, {
    ref: stowed.ref,
    left: `what earlier turns at ${item.id} left`,
    union: false, // it was rejected: joined to a person's repair it would be committed with it
  });
  await ralph.journal.stow(key, item.id, { ...stowed, isBack: true });
  return back === "back";
}

/** The work that runs with several workers kept of items, for a run with one. */
export class LeftByWorkers {
  readonly #parts: Bringing;
  #kept: KeptWork | null = null;

  constructor(parts: Bringing) {
    this.#parts = parts;
  }

  /** Brings it into the tree when the item is taken up. @returns whether the tree was changed */
  async bringBack(item: Item): Promise<boolean> {
    const { ralph, key } = this.#parts;
    const { createKeptWork, workRef } = await import("../../git/work_commit.ts");
    this.#kept ??= createKeptWork(requireRepository(ralph), keyOf(key), { alone: true });
    const ref = workRef(keyOf(key), item);
    if (await this.#kept.of(ref) === null) return false;
    const left = `what a run with several workers left of ${item.id}`;
    const back = await bringRef(this.#parts, item, { ref, left, union: true });
    if (back !== "differs") await this.#kept.drop(ref);
    return back === "back";
  }

  /** The item has passed. */
  async passed(item: Item): Promise<void> {
    if (this.#kept === null) return;
    const { workRef } = await import("../../git/work_commit.ts");
    await this.#kept.drop(workRef(keyOf(this.#parts.key), item));
  }
}

async function bringRef(
  { ralph, ownership }: Bringing,
  item: Item,
  { ref, left, union }: { readonly ref: string; readonly left: string; readonly union: boolean },
): Promise<"back" | "differs" | "gone"> {
  const repository = requireRepository(ralph);
  const { bringBackWork } = await import("../../git/stow.ts");
  const work = await bringBackWork(repository, ref, { union });
  if (work === null) return "gone";
  const isBack = work.conflict === null;
  if (isBack) ownership.afterTurn(item.id, work.paths, await repository.snapshot());
  const message = isBack
    ? `${left} is back in the tree`
    : `${left} stays at ${ref}: ${work.conflict} has changed in the same place`;
  ralph.events.emit({ type: "note", level: isBack ? "info" : "warn", message });
  return isBack ? "back" : "differs";
}
