import type { Repository } from "../../../git/types.ts";
import { refused } from "../refused.ts";

/** From when on. */
export type Since = { readonly kind: "commit"; readonly hash: string } | {
  readonly kind: "date";
  readonly seconds: number;
};

/** Words that git takes for a date; anything else without a digit it takes for now, silently. */
const WORDS =
  /\b(ago|yesterday|today|noon|midnight|tea|now|never|last|mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)/i;
const NUMBERS = /\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./]\d{1,2}[./]\d{2,4}|^\d{9,}$|^@\d+$|\d{1,2}:\d{2}/;

/** Reads `--since`: a commit if there is one of that name, else a date. @throws {RalphError} usage */
export async function readSince(repository: Repository, text: string): Promise<Since> {
  if (!text.startsWith("-")) {
    const commit = await repository.git(["rev-parse", "--verify", "--quiet", "--end-of-options", `${text}^{commit}`]);
    if (commit.exitCode === 0) return { kind: "commit", hash: commit.stdout.trim() };
  }
  if (WORDS.test(text) || NUMBERS.test(text)) {
    const { exitCode, stdout } = await repository.git(["rev-parse", `--since=${text}`]);
    const seconds = /--max-age=(\d+)/.exec(stdout)?.[1];
    if (exitCode === 0 && seconds !== undefined) return { kind: "date", seconds: Number(seconds) };
  }
  throw refused(
    `--since must be a date or a commit (got: ${text})`,
    "write `--since 2026-01-18`, `--since yesterday` or `--since main~20`",
  );
}
