import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { defineRecipe, recipeProblem } from "../../lib/recipe/define_recipe.ts";

describe("defineRecipe()", () => {
  test("gives back the very recipe, with a goal when it declares no arguments", () => {
    const recipe = {
      name: "mine",
      run: (_ralph: unknown, { goal }: { readonly goal: string }) => {
        expectTypeOf(goal).toBeString();
        return Promise.resolve({ status: "passed" } as const);
      },
    };

    expect(defineRecipe(recipe)).toBe(recipe);
  });

  test("types the arguments by the schema", () => {
    const recipe = defineRecipe({
      name: "typed",
      args: z.object({ count: z.number().default(1) }),
      run: (_ralph, args) => {
        const count: number = args.count;
        return Promise.resolve({ status: count > 0 ? "passed" : "failed" });
      },
    });

    expect(recipe.args?.["~standard"].validate({})).toEqual({ value: { count: 1 } });
  });

  test("refuses a recipe without a name", () => {
    const define = () => defineRecipe({ name: " ", run: () => Promise.resolve({ status: "passed" }) });

    expect(define).toThrow("defineRecipe(): `name` must be a text that is not empty");
  });
});

describe("recipeProblem()", () => {
  test.each<[unknown, string | null]>([
    [undefined, "a recipe must be an object (got: undefined)"],
    [null, "a recipe must be an object (got: null)"],
    [{ name: "x" }, "`run` must be a function"],
    [{ run: () => undefined }, "`name` must be a text that is not empty"],
    [() => undefined, "a function is no recipe: give it to `defineRecipe()` as `run`"],
    [{ name: "x", run: () => undefined }, null],
  ])("of %j is %j", (value, expected) => {
    expect(recipeProblem(value)).toBe(expected);
  });
});
