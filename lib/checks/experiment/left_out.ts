/**
 * A test that new settings leave out, and that fails: the old settings disagree, and only for it.
 *
 * @module
 */
import { posix } from "node:path";
import type { Bench } from "./bench.ts";
import { laid, testsOf } from "./canaries.ts";
import type { Question } from "./commits.ts";
import { NONSENSE } from "./literals.ts";

/** So many tests are tried, those first that the failure names. */
const MOST_TESTS = 6;

type Named = Awaited<ReturnType<typeof testsOf>>[number];

/**
 * The tests that a check does not read with the settings of HEAD, if it fails with the old ones by nothing but these.
 *
 * @param place HEAD with the old settings, where the check is red
 * @param failure the check that fails there, and what it printed
 */
export async function leftOutTests(
  question: Question,
  bench: Bench,
  place: string,
  failure: { readonly name: string; readonly tail: string },
): Promise<readonly string[]> {
  const check = [failure.name];
  const isNamed = ({ path }: Named): boolean => failure.tail.includes(posix.basename(path));
  const tests = await testsOf(question, question.head);
  const tried = [...tests].sort((one, other) => Number(isNamed(other)) - Number(isNamed(one))).slice(0, MOST_TESTS);
  const unread: Named[] = [];
  for (const test of tried) {
    const destroyed = await laid(question, question.head, [test], NONSENSE);
    if ((await bench.run(destroyed, "again", check)).status === "green") unread.push(test);
  }
  if (unread.length === 0) return [];
  const paths = unread.map(({ path }) => path);
  const passesIn = async (place: string): Promise<boolean> =>
    (await bench.run(place, "again", check)).status === "green";
  const isEmptied = await passesIn(await laid(question, place, unread, ""));
  const gone = new Map(paths.map((path) => [path, null]));
  return isEmptied || await passesIn(await question.commits.lay(place, gone)) ? paths : []; // a runner may need a test
}
