import picomatch from "picomatch";
import type { Item } from "../../backlog/types.ts";

/** Two items say that they change the same paths. Pure. */
export function overlap(
  { touches: one = [] }: Pick<Item, "touches">,
  { touches: other = [] }: Pick<Item, "touches">,
): boolean {
  return one.some((glob) => other.some((second) => meet(glob, second)));
}

function meet(one: string, other: string): boolean {
  if (one === other || picomatch(one, { dot: true })(other) || picomatch(other, { dot: true })(one)) return true;
  const [left, right] = [picomatch.scan(one), picomatch.scan(other)];
  if (!left.isGlob || !right.isGlob) return false;
  // two globs: whether one's fixed beginning is the other's
  const [a, b] = [`${left.base}/`, `${right.base}/`];
  return a.startsWith(b) || b.startsWith(a);
}
