import type { ClaimLine } from "../../backlog/claims.ts";
import type { StateFiles } from "../../backlog/state_files.ts";
import type { Backlog, Item, Turn } from "../../backlog/types.ts";

/** The parts of a turn that matter: its words and changes, and its requests by `ralph task …`, `issue …`, `step …`. */
export interface ContractTurn extends Partial<Turn> {
  /** @default none */
  readonly claims?: readonly ClaimLine[];
}

/** A fresh store with the backlog on it. Disposed after the case. */
export interface OpenedBacklog<Data, Findings> extends Partial<AsyncDisposable> {
  readonly backlog: Backlog<Data, Findings>;
  /** The same store, read by a backlog made anew: as after a kill. Absent: the store is lost with the process. */
  readonly reopen?: () => Promise<Backlog<Data, Findings>>;
  /** The store's content, to be compared: without times. */
  readonly snapshot: () => Promise<string>;
  /** Absolute path of the folder that holds the store's files; `null`: it has none. */
  readonly root: string | null;
  /** The store by which the backlog reads and writes its files; needed where only a part of a file is state. */
  readonly state?: StateFiles;
  /**
   * Does in the tree `cwd` what an agent does for the item, and gives what matters of the turn.
   * @default it says `<ralph>DONE</ralph>`
   */
  readonly turn?: (item: Item<Data>, cwd: string) => Promise<ContractTurn>;
}

/**
 * `checked`: at least two open items where the format has room for them, each with a check. `unchecked`: the first item
 * names no check at all.
 */
export type ContractStore = "checked" | "unchecked";

/** A backlog under test, and how to begin anew. */
export interface BacklogContract<Data, Findings> {
  /** A fresh store. `unchecked` is asked for only where the backlog blocks what no check has seen. */
  open(store: ContractStore): Promise<OpenedBacklog<Data, Findings>>;
}

/** One thing that every backlog owes, to be run by the test runner of your choice. Throws when it is not kept. */
export interface ContractCase {
  readonly name: string;
  run(): Promise<void>;
}
