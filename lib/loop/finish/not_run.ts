import { join, relative } from "node:path";
import { type CoverageReader, createCoverageReader } from "../../checks/lines_run/read_coverage.ts";
import type { CheckoutPlace } from "../../checks/checkout/place.ts";
import type { RalphContext } from "../../context/context.ts";
import { branchWork } from "../../git/branch_work.ts";
import { requireRepository } from "../../git/repository.ts";
import { outputFrom } from "../../git/run_git.ts";
import type { Notice } from "../policy/progress.ts";

/** Ralph reads in a checkout what its commands say that they ran. */
export function coverageIn(
  ralph: Pick<RalphContext, "repository" | "root">,
  { tree }: Pick<CheckoutPlace, "tree">,
): CoverageReader {
  const { topLevel } = requireRepository(ralph);
  return createCoverageReader({ cwd: join(tree, relative(topLevel, ralph.root)), topLevels: [tree, topLevel] });
}

/** Lines that the branch adds and of which a check's own coverage says that none ran them. */
export async function notRun(
  ralph: Pick<RalphContext, "repository" | "root">,
  commit: string,
  coverage: CoverageReader,
): Promise<readonly Notice[]> {
  if (!coverage.isKnown()) return [];
  const repository = requireRepository(ralph);
  const work = await branchWork(repository);
  if (work === null) return [];
  const words = ["-c", "core.quotePath=false", "diff", "-U0", "--no-renames", "--no-ext-diff", "--no-textconv"];
  const diff = await outputFrom(repository, [...words, "--no-color", "--dst-prefix=b/", work.from, commit]);
  const found = diff.split(/^\+\+\+ /m).slice(1).flatMap((part): readonly string[] => {
    const path = part.slice(2, part.indexOf("\n")).replace(/\t$/, "");
    const lines = coverage.of(path);
    if (!part.startsWith("b/") || lines === undefined) return [];
    const added = [...part.matchAll(/^@@ \S+ \+(\d+)(?:,(\d+))? @@/gm)].flatMap(([, start, count = "1"]) =>
      Array.from({ length: Number(count) }, (_, index) => Number(start) + index)
    );
    const missed = added.filter((line) => lines.get(line) === 0);
    return missed.length === 0 ? [] : [`${path}:${ranges(missed)}`];
  });
  if (found.length === 0) return [];
  return [{
    kind: "not-run",
    subject: found.join("; "),
    message: "added lines that no check ran, by their own coverage",
  }];
}

/** `3-5,9`. */
function ranges(lines: readonly number[]): string {
  const parts: [number, number][] = [];
  for (const line of lines) {
    const last = parts.at(-1);
    if (last?.[1] === line - 1) last[1] = line;
    else parts.push([line, line]);
  }
  return parts.map(([from, to]) => from === to ? `${from}` : `${from}-${to}`).join(",");
}
