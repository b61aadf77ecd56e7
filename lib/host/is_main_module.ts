import { realpath } from "node:fs/promises";
import { fileURLToPath } from "node:url";

/** True when the module is the program itself and was not imported. Node before 24 has no `import.meta.main`. */
export async function isMainModule(meta: { readonly url: string; readonly main?: boolean }): Promise<boolean> {
  if (meta.main !== undefined) return meta.main;
  const script = process.argv[1];
  if (script === undefined || !meta.url.startsWith("file:")) return false;
  return await realpath(script) === await realpath(fileURLToPath(meta.url));
}
