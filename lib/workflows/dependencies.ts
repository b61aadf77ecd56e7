/** An item that waits for others. */
interface Dependent {
  readonly id: string;
  /** Ids; one that no item has counts as done. */
  readonly dependsOn: readonly string[];
}

/** Items each behind those that it depends on, else in their order; a circle stays as it is. Pure. */
export function inDependencyOrder<Item extends Dependent>(items: readonly Item[]): readonly Item[] {
  const rest = [...items];
  const sorted: Item[] = [];
  while (rest.length > 0) {
    const ready = rest.findIndex(({ id, dependsOn }) =>
      dependsOn.length === 0 || !rest.some((other) => other.id !== id && dependsOn.includes(other.id))
    );
    sorted.push(...rest.splice(Math.max(ready, 0), 1));
  }
  return sorted;
}

/** The circles in which items wait for each other, none of which shares an item with another. Pure. */
export function circlesOf(items: readonly Dependent[]): readonly (readonly string[])[] {
  const left = new Map(items.map(({ id, dependsOn }) => [id, dependsOn]));
  for (let size = -1; size !== left.size;) { // what waits for nothing that is left is in no circle
    size = left.size;
    for (const [id, dependsOn] of left) if (!dependsOn.some((one) => left.has(one))) left.delete(id);
  }
  const seen = new Set<string>();
  return [...left.keys()].flatMap((start) => {
    const path: string[] = [];
    let id: string | undefined = start;
    while (id !== undefined && !seen.has(id)) {
      seen.add(id);
      path.push(id);
      id = left.get(id)?.find((one) => left.has(one));
    }
    const at = path.indexOf(id ?? "");
    return at === -1 ? [] : [path.slice(at)];
  });
}
