/**
 * Judges that agree with the old ones today, and would let pass tomorrow what those notice: a check that does nothing, a
 * test that is gone, or skips itself.
 *
 * @module
 */
import { posix } from "node:path";
import { type Bench, repeats } from "./bench.ts";
import { type Canaries, canaries, type Canary, laid, noLongerRead, testsOf } from "./canaries.ts";
import type { Question } from "./commits.ts";
import { NONSENSE } from "./literals.ts";
import { importsPath, isCode, kindOf } from "./product.ts";

/** Unchanged tests, tests that are gone, and files of the product that one of these was about: so many are tried. */
const [MOST_TESTS, MOST_GONE, MOST_PRODUCTS] = [4, 3, 3];

/**
 * Destroys what the old judges notice, one file at a time, and looks whether those of HEAD notice it as well.
 *
 * @param place HEAD with the old judges, where the checks are green
 */
export async function weakened(question: Question, bench: Bench, place: string): Promise<Canaries> {
  const { changed, head } = question;
  for (const file of [...await testsUnderNewSettings(question), ...await subjectsOfGone(question)]) {
    const found = await isMissed(question, bench, place, file);
    if (found === null) return { files: [], isCutShort: true };
    if (found) return { files: [noLongerRead(file.path)], isCutShort: false };
  }
  const edited = new Set(
    changed.filter(({ kind, how }) => kind === "test" && how === "changed").map(({ path }) => path),
  );
  if (edited.size === 0) return { files: [], isCutShort: false };
  const before = await canaries(question, bench, place, (path) => edited.has(path));
  const seen = new Set(before.files.filter(({ status }) => status === "seen").map(({ path }) => path));
  const { files, isCutShort } = await canaries(question, bench, head, (path) => seen.has(path));
  return { files: files.filter(isBlind), isCutShort: isCutShort || before.isCutShort };
}

/** The checks pass whatever the file expects, or holds. Pure. */
export function isBlind({ status }: Canary): boolean {
  return status === "blind" || status === "no longer read";
}

type Named = Parameters<typeof laid>[2][number];

/** Tests that are as they were, if something else that judges is not: a script may run fewer of them. */
async function testsUnderNewSettings(question: Question): Promise<readonly Named[]> {
  const isOther = question.changed.some(({ kind }) => kind === "judge" || kind === "manifest");
  if (!isOther) return [];
  const tests = await testsOf(question, question.head);
  return tests.filter(({ path, hash }) => question.old.get(path)?.hash === hash).slice(0, MOST_TESTS);
}

/** The code that tests were about which are gone. */
async function subjectsOfGone({ commits, changed, old, verified, now, files }: Question): Promise<readonly Named[]> {
  const gone = changed.filter(({ kind, how }) => kind === "test" && how === "deleted").slice(0, MOST_GONE);
  const product = [...now].flatMap(([path, { mode }]) =>
    mode.startsWith("100") && isCode(path) && kindOf(path, files) === "product" ? [{ path, mode }] : []
  );
  const found: Named[] = [];
  for (const { path } of gone) {
    const was = old.get(path) ?? verified.get(path);
    const text = was?.mode.startsWith("100") === true ? await commits.read(was.hash) : "";
    const imported = product.filter((file) => importsPath(text, file.path));
    const mentioned = product.filter((file) => text.includes(posix.parse(file.path).name));
    found.push(...(imported.length > 0 ? imported : mentioned).slice(0, MOST_PRODUCTS));
  }
  return [...new Map(found.map((file) => [file.path, file])).values()];
}

/** With the file destroyed the checks are red under the old judges, and green now; `null`: there was no answer. */
async function isMissed(question: Question, bench: Bench, place: string, file: Named): Promise<boolean | null> {
  const destroyed = await laid(question, question.head, [file], NONSENSE);
  const now = await bench.run(destroyed);
  if (now.status !== "green") return now.status === "unknown" ? null : false;
  if ((await bench.run(await laid(question, place, [file], NONSENSE), "again")).status !== "red") return false;
  return await repeats(bench, question.head, destroyed, "green");
}
