import type { MarkdownLine } from "../../backlog/fences.ts";

/** The block between the two `---` at the top: scalars as written, so that `01` stays `01`. */
export interface FrontMatter {
  readonly values: Readonly<Record<string, string | readonly string[]>>;
  /** Number of its last line; 0 where there is none. */
  readonly end: number;
  /** It begins and does not end. */
  readonly unclosed: boolean;
}

const KEY_REGEXP = /^([A-Za-z_][\w-]*):[ \t]*(.*)$/;

/** Reads the first level of a front matter by lines: nested values are left out. */
export function readFrontMatter(lines: readonly MarkdownLine[]): FrontMatter {
  if (lines[0]?.text.trimEnd() !== "---") return { values: {}, end: 0, unclosed: false };
  const close = lines.findIndex(({ text }, index) => index > 0 && /^(---|\.\.\.)\s*$/.test(text));
  if (close === -1) return { values: {}, end: 0, unclosed: true };
  const values: Record<string, string | readonly string[]> = {};
  for (let index = 1; index < close; index++) {
    const [, key, rest = ""] = KEY_REGEXP.exec(lines[index]?.text ?? "") ?? [];
    if (key === undefined) continue;
    const value = uncommented(rest);
    const [, inside] = /^\[(.*)\]$/.exec(value) ?? [];
    const below = value === "" ? listBelow(lines.slice(index + 1, close)) : [];
    const listed = inside?.split(",").map((item) => unquoted(item.trim())).filter((item) => item !== "");
    values[key] = listed ?? (below.length > 0 ? below : unquoted(value));
  }
  return { values, end: close + 1, unclosed: false };
}

function listBelow(lines: readonly MarkdownLine[]): readonly string[] {
  const end = lines.findIndex(({ text }) => text.trim() !== "" && !/^(?:\s|-\s)/.test(text));
  return lines.slice(0, end === -1 ? lines.length : end).flatMap(({ text }) => {
    const item = /^\s*-\s+(.*)$/.exec(text)?.[1];
    return item === undefined ? [] : [unquoted(uncommented(item))];
  });
}

function uncommented(value: string): string {
  return /^["'[]/.test(value.trim()) ? value.trim() : value.replace(/\s+#.*$/, "").trim();
}

function unquoted(value: string): string {
  const [, , inside] = /^(["'])(.*)\1$/.exec(value.trim()) ?? [];
  return inside ?? value.trim();
}

/** A scalar of the front matter. */
export function scalar(values: FrontMatter["values"], key: string): string | null {
  const value = values[key];
  return typeof value === "string" && value !== "" ? value : null;
}

/** A list of the front matter; a scalar is a list of one. */
export function list(values: FrontMatter["values"], key: string): readonly string[] {
  const value = values[key];
  return typeof value === "string" ? (value === "" ? [] : [value]) : value ?? [];
}
