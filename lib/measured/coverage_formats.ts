/**
 * Files in which a check says which lines it ran: lcov, Cobertura, Go's coverprofile, and the JSON of `NODE_V8_COVERAGE`.
 * Told apart by what is in them, not by their names. Pure.
 *
 * @module
 */
import { jsonIn, objectOr } from "../host/data.ts";

/** How often a line ran, in one part of the file: parts add up. A line that cannot run is in none. */
export interface Hit {
  /** As the format names it. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly count: number;
}

/** Beside the text of a file. */
export interface Surroundings {
  /** The source of a file, by its address or path; `null` where it cannot be read. */
  readonly source: (name: string) => string | null;
  /** The name of the Go module. */
  readonly module: string;
}

/** Nothing for what is none of these formats. */
export function hitsIn(text: string, surroundings: Surroundings): Iterable<Hit> {
  if (/^mode: \w+$/m.test(text.slice(0, 40))) return ofProfile(text, surroundings);
  if (/^SF:/m.test(text)) return ofLcov(text);
  if (/<coverage[\s>]/.test(text)) return ofCobertura(text);
  return ofV8(text, surroundings);
}

function* ofLcov(text: string): Iterable<Hit> {
  let file = "";
  for (const [, named, line, count] of text.matchAll(/^(?:SF:(.*?)|DA:(\d+),(\d+).*)\r?$/gm)) {
    if (named !== undefined) file = named;
    else yield { file, line: Number(line), count: Number(count) };
  }
}

function* ofCobertura(text: string): Iterable<Hit> {
  const [source = ""] = [...text.matchAll(/<source>([^<]*)<\/source>/g)].map(([, path = ""]) => path.trim());
  for (const [, head = "", body = ""] of text.matchAll(/<class\s([^>]*)>(.*?)<\/class>/gs)) {
    const name = attribute(head, "filename");
    const file = name.startsWith("/") || source === "" ? name : `${source}/${name}`;
    const lines = body.replaceAll(/<methods>.*?<\/methods>/gs, ""); // the class names them again
    for (const [, line = ""] of lines.matchAll(/<line\s([^>]*)>/g)) {
      yield { file, line: Number(attribute(line, "number")), count: Number(attribute(line, "hits")) };
    }
  }
}

function attribute(text: string, name: string): string {
  return new RegExp(`\\b${name}="([^"]*)"`).exec(text)?.[1] ?? "";
}

function* ofProfile(text: string, { module }: Surroundings): Iterable<Hit> {
  for (const [, path = "", from = "", to = "", column = "", count = ""] of text.matchAll(PROFILE_REGEXP)) {
    const file = path.startsWith(`${module}/`) ? path.slice(module.length + 1) : path;
    const last = column === "1" ? Number(to) - 1 : Number(to);
    for (let line = Number(from); line <= last; line++) yield { file, line, count: Number(count) };
  }
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
function* ofV8(text: string, { source }: Surroundings): Iterable<Hit> {
  const { result: scripts = [] } = objectOr(jsonIn(text)) as { readonly result?: readonly Script[] };
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
      if (/\w/.test(line) && !/^\s*(?:\/\/|\/?\*)/.test(line)) {
        yield { file: url, line: index + 1, count: counts[first] ?? 1 };
      }
      at += line.length + 1;
    }
  }
}
