import { TestRunner } from "vitest";
import { type Need, needs } from "./needs.ts";

/** Skips the test that calls it if the machine lacks one of these: for a program that a helper of many tests starts. */
export function skipWithout(...names: readonly Need[]): void {
  const { skip, meta } = needs(...names);
  const test = TestRunner.getCurrentTest();
  if (!skip || test === undefined) return;
  Object.assign(test.meta, meta);
  test.context.skip(meta.lacks);
}
