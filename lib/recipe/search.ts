import { dirname, resolve } from "node:path";
import { readText } from "../host/files.ts";

/** A place in a source file. Lines and columns count from 1. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

const IMPORT_REGEXP = /\b(?:import|export)\b([^;'"]*?)\bfrom\s*["']([^"']+)["']/g;
/** A recipe's own files are few; a cycle or a large tree ends here. */
const MOST_FILES = 100;

/** Where a recipe, or a file of its own that it imports, names an export; Bun does not tell. */
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

/** The recipe and those of its own files that it imports, itself first. */
export async function localFiles(path: string): Promise<readonly string[]> {
  const files = [path];
  for (let index = 0; index < Math.min(files.length, MOST_FILES); index++) {
    const file = files[index] as string;
    for (const match of (await readText(file) ?? "").matchAll(IMPORT_REGEXP)) {
      const specifier = match[2] as string;
      const local = resolve(dirname(file), specifier);
      if (specifier.startsWith(".") && !files.includes(local)) files.push(local);
    }
  }
  return files;
}

function placeAt(file: string, text: string, offset: number): Place {
  const before = text.slice(0, offset).split("\n");
  return { file, line: before.length, column: (before.at(-1) as string).length + 1 };
}
