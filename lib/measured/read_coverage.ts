import { isAbsolute, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { listDirectory, readText } from "../host/files.ts";
import { factsOf } from "../host/path_facts.ts";
import { type Hit, hitsIn } from "./coverage_formats.ts";

/** Tools write it there if they are not told otherwise; relative to the root. */
const FILES: readonly string[] = ["", "coverage/"].flatMap((folder) =>
  ["lcov.info", "coverage.xml", "cobertura.xml", "cobertura-coverage.xml", "coverage.out", "cover.out"]
    .map((name) => `${folder}${name}`)
);
const V8_REGEXP = /\bNODE_V8_COVERAGE=["']?([\w./-]+)/;

/** The folders of a checkout. Absolute paths. */
export interface CoveragePlace {
  /** The root in the checkout, which commands run in. */
  readonly cwd: string;
  /** Every path that commands may see it as: the project's own, the checkout's. */
  readonly topLevels: readonly string[];
}

/** The lines that the checks themselves say that they ran. */
export interface CoverageReader {
  /** Before the first command: what is there is nobody's word. */
  start(commands: readonly string[]): Promise<void>;
  /** After each command: what it has written. */
  read(): Promise<void>;
  /** How often each line of a file ran, by its path from the top level; `undefined`: not every check ran, or none speaks of it. */
  of(path: string): ReadonlyMap<number, number> | undefined;
  /** False: `of()` knows of no file. */
  isKnown(): boolean;
}

/** Reads what commands write of their coverage, and adds it up. */
export function createCoverageReader({ cwd, topLevels }: CoveragePlace): CoverageReader {
  const known = new Map<string, string>();
  const all = new Map<string, Map<number, number>>();
  let folders: readonly string[] = [];
  let missing = 0;

  /** Paths that are new or have changed since they were last looked at. */
  async function changed(): Promise<readonly string[]> {
    const listed = await Promise.all(
      folders.map(async (folder) =>
        (await listDirectory(join(cwd, folder)).catch(() => [])).filter((name) => name.endsWith(".json"))
          .map((name) => join(folder, name))
      ),
    );
    return [...FILES, ...listed.flat()].filter((path) => {
      const facts = factsOf(join(cwd, path));
      if (facts?.kind !== "file" || known.get(path) === facts.stamp) return false;
      known.set(path, facts.stamp);
      return true;
    });
  }

  /** From the top level. */
  function pathOf(name: string): string {
    const path = name.startsWith("file:") ? fileURLToPath(name) : isAbsolute(name) ? name : join(cwd, name);
    const top = topLevels.find((one) => path.startsWith(`${one}${sep}`));
    return top === undefined ? path : relative(top, path);
  }

  function add({ file, line, count }: Hit): void {
    const path = pathOf(file);
    const sum = all.get(path) ?? new Map<number, number>();
    all.set(path, sum.set(line, (sum.get(line) ?? 0) + count));
  }

  return {
    async start(commands) {
      missing = new Set(commands).size;
      folders = commands.flatMap((command) => V8_REGEXP.exec(command)?.[1] ?? []).filter((path) => !isAbsolute(path));
      await changed();
    },
    async read() {
      missing -= 1;
      for (const path of await changed()) {
        const text = await readText(join(cwd, path)).catch(() => null);
        if (text === null) continue;
        const module = /^module (\S+)/m.exec(await readText(join(cwd, "go.mod")) ?? "")?.[1] ?? "";
        const sources = new Map<string, string>();
        for (const [, url = ""] of text.matchAll(/"url":"(file:[^"]+)"/g)) {
          const inside = pathOf(url);
          const found = isAbsolute(inside) ? null : await readText(join(topLevels[0]!, inside));
          if (found !== null) sources.set(url, found);
        }
        for (const hit of hitsIn(text, { source: (name) => sources.get(name) ?? null, module })) add(hit);
      }
    },
    of: (path) => missing > 0 ? undefined : all.get(path),
    isKnown: () => missing === 0 && all.size > 0,
  };
}
