/** The program to run: `RALPH_E2E`, else the binary if it is newer than the sources, else the sources under Bun. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

export function ralphProgram(): readonly string[] {
  const named = process.env["RALPH_E2E"];
  if (named !== undefined && named !== "") {
    return named.split(" ").map((word) =>
      /[/.]/.test(word) && existsSync(resolve(ROOT, word)) ? resolve(ROOT, word) : word
    );
  }
  const binary = join(ROOT, "dist/ralph");
  if (existsSync(binary) && statSync(binary).mtimeMs > newest(["lib", "bin", "recipes"])) return [binary];
  return [join(ROOT, "node_modules/bun/bin/bun.exe"), join(ROOT, "bin/ralph.ts")];
}

function newest(folders: readonly string[]): number {
  let time = 0;
  for (const folder of folders) {
    for (const entry of readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })) {
      if (entry.isFile()) time = Math.max(time, statSync(join(entry.parentPath, entry.name)).mtimeMs);
    }
  }
  return time;
}
