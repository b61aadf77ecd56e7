/**
 * Looks at new work alone: subjects of commits, and sentences of comments.
 *
 *   node tools/check_new.mjs [BASE]     BASE: else the newest tag, the fork from upstream or main, or the commit before
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { freeRelativesOf } from "./comments.mjs";
import { ROOT, run } from "./runtimes.mjs";

const MOST_CHARACTERS = 72;
/** Changes of the product name the room; others may. */
const PRODUCT_TYPES = ["feat", "fix", "perf", "refactor"];
const OTHER_TYPES = ["docs", "test", "build", "ci", "chore", "revert"];
const SUBJECT_REGEXP = /^(?<type>[a-z]+)(?<room>\([a-z\d_/-]+\))?!?: \S/;

function isConventional(subject) {
  const { type, room } = SUBJECT_REGEXP.exec(subject)?.groups ?? {};
  return room === undefined ? OTHER_TYPES.includes(type) : [...PRODUCT_TYPES, ...OTHER_TYPES].includes(type);
}

async function git(...args) {
  const { code, output } = await run("git", ["-C", ROOT, ...args], { capture: true });
  return code === 0 ? output.trimEnd() : null;
}

async function newSince() {
  const head = await git("rev-parse", "HEAD");
  const candidates = [["describe", "--tags", "--abbrev=0"], ["merge-base", "HEAD", "@{upstream}"], [
    "merge-base",
    "HEAD",
    "main",
  ]];
  for (const command of candidates) {
    const base = await git(...command);
    if (base !== null && await git("rev-parse", `${base}^{commit}`) !== head) return base;
  }
  return await git("rev-parse", "--verify", "HEAD~1") ?? await git("rev-list", "--max-parents=0", "-1", "HEAD");
}

async function wrongSubjects(base) {
  const subjects = (await git("log", "--no-merges", "--format=%h %s", `${base}..HEAD`)).split("\n").filter(Boolean);
  return subjects.flatMap((line) => {
    const subject = line.slice(line.indexOf(" ") + 1);
    if (subject.length > MOST_CHARACTERS) return [`${line}: ${subject.length} characters, at most ${MOST_CHARACTERS}`];
    return isConventional(subject) ? [] : [`${line}: not \`type(room): change\``];
  });
}

/** A sentence that moved is not new. */
async function wrongSentences(base) {
  const changed = (await git("diff", "--name-only", "--no-renames", base, "--", "*.ts", "*.mjs")).split("\n").filter(
    Boolean,
  );
  const untracked = (await git("ls-files", "--others", "--exclude-standard", "--", "*.ts", "*.mjs")).split("\n");
  const paths = [...changed, ...untracked.filter(Boolean)];
  const before = await Promise.all(
    paths.map(async (path) => freeRelativesOf(path, await git("show", `${base}:${path}`) ?? "")),
  );
  const known = new Set(before.flat());
  return paths.filter((path) => existsSync(join(ROOT, path))).flatMap((path) =>
    freeRelativesOf(path, readFileSync(join(ROOT, path), "utf8")).filter((sentence) => !known.has(sentence))
      .map((sentence) => `${path}: ${sentence}\n  hint: begin with the subject, such as Ralph, the run or you`)
  );
}

const base = process.argv[2] ?? await newSince();
const problems = [...await wrongSubjects(base), ...await wrongSentences(base)];
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;
