import type { Overview } from "../backlog/types.ts";
import { oneLine, type Style } from "../ui/printable.ts";

/** An item of a backlog, for `ralph status`. */
export interface ListedItem {
  readonly id: string;
  readonly title: string;
  readonly state: "passed" | "open" | "parked";
  /** Styled, behind the title. */
  readonly notes?: readonly string[];
  /** The item names no check and has not passed. @default false */
  readonly isUnchecked?: boolean;
}

/** `stories: 1/3 pass, 1 open, 1 parked`. Pure. */
export function countLine(
  { total, passed, open, parked }: Pick<Overview, "open" | "parked" | "passed" | "total">,
  { items, parked: word = "parked" }: { readonly items: string; readonly parked?: string },
  { warn }: Style,
): string {
  const left = [
    ...(open === null ? [] : [`${open} open`]),
    ...(parked === 0 ? [] : [warn(`${parked} ${word}`)]),
  ];
  return `${items}: ${[`${passed}${total === null ? "" : `/${total}`} pass`, ...left].join(", ")}`;
}

/** An item on a line, behind its mark. Pure. */
export function itemLine({ id, title, state, notes = [], isUnchecked = false }: ListedItem, style: Style): string {
  const { dim, good, warn, symbols } = style;
  const mark = { passed: good(symbols.passed), open: dim(symbols.open), parked: warn(symbols.warning) }[state];
  const unchecked = isUnchecked && state !== "passed" ? [warn("no check")] : [];
  return `${mark} ${[`${oneLine(id)}  ${oneLine(title)}`, ...notes, ...unchecked].join(" ")}`;
}
