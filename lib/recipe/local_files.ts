import { dirname, resolve } from "node:path";
import { isDirectory, pathExists, readText } from "../host/files.ts";

const IMPORT_REGEXP = /\b(?:import|export)\b([^;'"]*?)\bfrom\s*["']([^"']+)["']/g;

const LOCAL_REGEXP = /\b(?:from|import|require)\s*\(?\s*["'](\.{1,2}\/[^"']+)["']/g;
const ENDINGS: readonly string[] = ["", ".ts", ".js", ".mjs", "/index.ts", "/index.js"];
/** A recipe's own files are few; a cycle or a large tree ends here. */
const MOST_FILES = 100;

/** The recipe and those of its own files that it imports, itself first. */
export async function localFiles(path: string): Promise<readonly string[]> {
  const files = [path];
  for (let index = 0; index < Math.min(files.length, MOST_FILES); index++) {
    const file = files[index] as string;
    const text = await isDirectory(file) ? null : await readText(file);
    for (const [, specifier = ""] of (text ?? "").matchAll(LOCAL_REGEXP)) {
      const local = await existing(resolve(dirname(file), specifier));
      if (!files.includes(local)) files.push(local);
    }
  }
  return files;
}

/** The file that an import without an ending means; the path itself where there is none. */
async function existing(path: string): Promise<string> {
  for (const ending of ENDINGS) {
    if (await pathExists(path + ending) && !await isDirectory(path + ending)) return path + ending;
  }
  return path;
}

/** A place in a source file. Lines and columns count from 1. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** Finds the place at which a recipe, or a file of its own that it imports, names an export; Bun does not report it. */
export async function findImportedName(path: string, name: string): Promise<Place | null> {
  const word = new RegExp(`(?<![\\w$])${name.replaceAll("$", "\\$")}(?![\\w$])`);
  for (const file of await localFiles(path)) {
    const text = await readText(file) ?? "";
    for (const match of text.matchAll(IMPORT_REGEXP)) {
      const names = match[1] as string;
      const found = word.exec(names);
      if (found !== null) return placeAt(file, text, match.index + match[0].indexOf(names) + found.index);
    }
  }
  return null;
}

function placeAt(file: string, text: string, offset: number): Place {
  const before = text.slice(0, offset).split("\n");
  return { file, line: before.length, column: (before.at(-1) as string).length + 1 };
}
