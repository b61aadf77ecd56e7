import type { Bench } from "./bench.ts";
import type { Question } from "./question.ts";

/** The verdict of the checks on an item's tests without its work. */
export type WithoutWork =
  /** Red without the work: the tests depend on it. */
  | { readonly status: "red" }
  /** Green without it: a refactoring, a comment, or tests that prove nothing. */
  | { readonly status: "green" }
  /** It changed no product, or no tests. */
  | { readonly status: "nothing to try" }
  | { readonly status: "unknown"; readonly reason: string };

/** Takes the product back to what it was under the tests as they are now, and runs the checks. */
export async function withoutWork({ commits, head, old, changed }: Question, bench: Bench): Promise<WithoutWork> {
  const product = changed.filter(({ kind }) => kind === "product");
  const tests = changed.filter(({ kind, how }) => kind === "test" && how !== "deleted");
  if (product.length === 0 || tests.length === 0) return { status: "nothing to try" };
  const without = await commits.lay(head, new Map(product.map(({ path }) => [path, old.get(path) ?? null])));
  const result = await bench.run(without);
  return result.status === "unknown" ? result : { status: result.status };
}
