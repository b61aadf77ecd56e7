/** The state of a backlog. */
export interface Overview {
  /** `null`: not known, a free loop. */
  readonly total: number | null;
  /** The ids of all items: words that are told for another one are refused. @default words for any item are taken */
  readonly ids?: readonly string[];
  /** Items that have passed. */
  readonly passed: number;
  /** Items that are left, parked ones not among them. */
  readonly open: number | null;
  /** Items given up on. */
  readonly parked: number;
  /** Open items that may be in flight together at most, where the backlog is concurrent and knows. @default all */
  readonly atOnce?: number;
  /** How an item of this format names a check, for messages. @default in a criterion, as Verify: `npm test` */
  readonly checkForm?: string;
  /** Ids of open items that name no check at all: asked about before the first turn. */
  readonly unchecked: readonly string[];
}
