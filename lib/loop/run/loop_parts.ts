import type { JournalKey } from "../../backlog/journal_types.ts";
import type { Backlog, Item } from "../../backlog/types.ts";
import type { Brief } from "../../checks/brief/types.ts";
import type { RalphContext } from "../../context/context.ts";
import type { LoopOptions, Stopped } from "./outcome.ts";
import type { Ownership } from "../settle/ownership.ts";
import type { Committer } from "../settle/committer.ts";

export interface LoopParts<Data = unknown, Findings = unknown> {
  readonly ralph: RalphContext;
  readonly backlog: Backlog<Data, Findings>;
  readonly options: LoopOptions;
  readonly key: JournalKey;
  readonly committer: Committer;
  readonly ownership: Ownership;
  readonly brief: Brief;
  /** Items worked on at once; with one, in the project's own tree. */
  readonly workers: number;
}

/** The next thing to work on. */
export type Picked<Data = unknown> =
  | { readonly status: "item"; readonly item: Item<Data> }
  /** Nothing starts before something that is in flight has ended. */
  | { readonly status: "waiting" }
  | Stopped;
