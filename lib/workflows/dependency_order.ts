/** Items each behind those that it depends on, else in their order; a circle stays as it is. Pure. */
export function inDependencyOrder<Item extends { readonly id: string; readonly dependsOn: readonly string[] }>(
  items: readonly Item[],
): readonly Item[] {
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
