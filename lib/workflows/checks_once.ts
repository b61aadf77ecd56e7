import type { Check } from "../backlog/types.ts";

/** Each check once, where it stands first; its scope names all that ask for it, commas between. Pure. */
export function checksOnce(checks: readonly Check[]): readonly Check[] {
  const byName = new Map<string, { readonly check: Check; readonly scopes: string[] }>();
  for (const check of checks) {
    const known = byName.get(check.name) ?? { check, scopes: [] };
    if (check.scope !== undefined) known.scopes.push(check.scope);
    byName.set(check.name, known);
  }
  return [...byName.values()].map(({ check, scopes }) =>
    scopes.length === 0 ? check : { ...check, scope: scopes.join(",") }
  );
}
