/** Part of the binary: imports what `tools/compile.mjs` packed. */
const imported = new Map();

/**
 * The modules of a packed file, the same ones each time.
 *
 * @param url of the module in whose place they are: the one of a blob has no folder
 */
export function unpack(file, url) {
  const known = imported.get(file);
  if (known !== undefined) return known;
  const modules = importPacked(file, url);
  imported.set(file, modules);
  return modules;
}

async function importPacked(file, url) {
  const code = Bun.zstdDecompressSync(await Bun.file(file).bytes());
  const blob = new Blob([`const MODULE_URL=${JSON.stringify(url)};`, code], { type: "text/javascript" });
  const place = URL.createObjectURL(blob);
  try {
    return await import(place);
  } finally {
    URL.revokeObjectURL(place);
  }
}
