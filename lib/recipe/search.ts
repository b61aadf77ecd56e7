import { readText } from "../host/files.ts";
import { localFiles } from "./local_files.ts";

/** A place in a source file. Lines and columns count from 1. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

const IMPORT_REGEXP = /\b(?:import|export)\b([^;'"]*?)\bfrom\s*["']([^"']+)["']/g;

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

function placeAt(file: string, text: string, offset: number): Place {
  const before = text.slice(0, offset).split("\n");
  return { file, line: before.length, column: (before.at(-1) as string).length + 1 };
}
