/**
 * Files in which a check says which lines it ran: lcov, Cobertura, Go's coverprofile, and the JSON of `NODE_V8_COVERAGE`.
 * Told apart by what is in them, not by their names. Pure.
 *
 * @module
 */

/** How often each line ran, by its number from 1; a line that cannot run is not there. By files as the format names them. */
export type Hits = ReadonlyMap<string, ReadonlyMap<number, number>>;

/** Beside the text of a file. */
export interface Surroundings {
  /** The source of a file, by its address or path; `null` where it cannot be read. */
  readonly source: (name: string) => string | null;
  /** The name of the Go module. */
  readonly module: string;
}

/** @returns `null` for what is none of these formats */
export function hitsIn(text: string, surroundings: Surroundings): Hits | null {
  if (/^mode: \w+$/m.test(text.slice(0, 40))) return ofProfile(text, surroundings);
  if (/^SF:/m.test(text)) return ofLcov(text);
  if (/<coverage[\s>]/.test(text)) return ofCobertura(text);
  return text.startsWith("{") ? ofV8(text, surroundings) : null;
}

/** Counts of the same line are added up. */
class Tally {
  readonly files: Map<string, Map<number, number>> = new Map();

  add(file: string, line: number, count: number): void {
    const lines = this.files.get(file) ?? new Map<number, number>();
    this.files.set(file, lines.set(line, (lines.get(line) ?? 0) + count));
  }
}

function ofLcov(text: string): Hits {
  const tally = new Tally();
  let file = "";
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith("SF:")) file = line.slice(3);
    const [, number, count] = /^DA:(\d+),(\d+)/.exec(line) ?? [];
    if (number !== undefined) tally.add(file, Number(number), Number(count));
  }
  return tally.files;
}

function ofCobertura(text: string): Hits {
  const tally = new Tally();
  const [source = ""] = [...text.matchAll(/<source>([^<]*)<\/source>/g)].map(([, path = ""]) => path.trim());
  for (const [, head = "", body = ""] of text.matchAll(/<class\s([^>]*)>(.*?)<\/class>/gs)) {
    const name = attribute(head, "filename");
    const file = name.startsWith("/") || source === "" ? name : `${source}/${name}`;
    const lines = body.replaceAll(/<methods>.*?<\/methods>/gs, ""); // the class names them again
    for (const [, line = ""] of lines.matchAll(/<line\s([^>]*)>/g)) {
      tally.add(file, Number(attribute(line, "number")), Number(attribute(line, "hits")));
    }
  }
  return tally.files;
}

function attribute(text: string, name: string): string {
  return new RegExp(`\\b${name}="([^"]*)"`).exec(text)?.[1] ?? "";
}

function ofProfile(text: string, { module }: Surroundings): Hits {
  const tally = new Tally();
  for (const [, path = "", from = "", to = "", column = "", count = ""] of text.matchAll(PROFILE_REGEXP)) {
    const file = path.startsWith(`${module}/`) ? path.slice(module.length + 1) : path;
    const last = column === "1" ? Number(to) - 1 : Number(to);
    for (let line = Number(from); line <= last; line++) tally.add(file, line, Number(count));
  }
  return tally.files;
}

/** `file:line.column,line.column statements count`. */
const PROFILE_REGEXP = /^(.+):(\d+)\.\d+,(\d+)\.(\d+) \d+ (\d+)$/gm;

interface Script {
  readonly url: string;
  readonly functions: readonly {
    readonly ranges: readonly { readonly startOffset: number; readonly endOffset: number; readonly count: number }[];
  }[];
}

/** A line has the count of its innermost range: the least one of its characters, where it holds more than brackets. */
function ofV8(text: string, { source }: Surroundings): Hits | null {
  let scripts: readonly Script[];
  try {
    scripts = (JSON.parse(text) as { readonly result?: readonly Script[] }).result ?? [];
  } catch {
    return null;
  }
  const tally = new Tally();
  for (const { url, functions } of scripts.filter((script) => script.url.startsWith("file:"))) {
    const code = source(url);
    if (code === null) continue;
    const counts = new Int32Array(code.length).fill(1);
    for (const { startOffset, endOffset, count } of functions.flatMap(({ ranges }) => ranges)) {
      counts.fill(count, startOffset, endOffset);
    }
    let at = 0;
    for (const [index, line] of code.split("\n").entries()) {
      const first = at + line.search(/\S/);
      if (/\w/.test(line) && !/^\s*(?:\/\/|\/?\*)/.test(line)) tally.add(url, index + 1, counts[first] ?? 1);
      at += line.length + 1;
    }
  }
  return tally.files;
}
