/**
 * Says which programs of test/needs.ts this machine lacks, and fetches those that npm has.
 *
 *   bun tools/needs.ts [--apt | --fetch]     the table as JSON; Debian's packages of what is missing; from npm
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  createReadStream,
  createWriteStream,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import process from "node:process";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress } from "node:zlib";
import { fetchedFolder, type Part, TABLE } from "../test/needs.ts";

const FOLDER = fetchedFolder();
const PLATFORM = `${process.platform}-${process.arch}`;

/** How each package becomes a program in `bin`. */
const SET_UP: Readonly<Record<string, (folder: string) => Promise<void>>> = {
  chromium,
  postgresql,
  ripgrep: async (folder) => link(join(folder, "bin/rg"), "rg"),
};

/** Its own sandbox refuses root, and machines that allow no user namespaces. */
const START = `#!/bin/sh
export LD_LIBRARY_PATH='FOLDER/lib'
if [ ! -e /etc/fonts/fonts.conf ]; then export FONTCONFIG_FILE='FOLDER/fonts.conf'; fi
if [ "$(id -u)" = 0 ] || ! unshare -U true 2> /dev/null; then set -- --no-sandbox "$@"; fi
exec 'FOLDER/chromium' "$@"
`;

const FONTS = "<fontconfig><dir>FOLDER/fonts</dir><cachedir>FOLDER/fonts-cache</cachedir></fontconfig>\n";

/** The browser with its libraries and a font beside it, none of which has to be installed. */
async function chromium(folder: string): Promise<void> {
  for (const name of ["chromium", "al2023.tar", "swiftshader.tar", "fonts.tar"]) {
    const packed = createReadStream(join(folder, `bin/${name}.br`));
    await pipeline(packed, createBrotliDecompress(), createWriteStream(join(folder, name)));
    if (name.endsWith(".tar")) run("tar", ["-xf", name], folder);
  }
  chmodSync(join(folder, "chromium"), 0o755);
  writeFileSync(join(folder, "fonts.conf"), FONTS.replaceAll("FOLDER", folder));
  rmSync(join(folder, "bin"), { recursive: true });
  const program = join(folder, "start");
  writeFileSync(program, START.replaceAll("FOLDER", folder));
  chmodSync(program, 0o755);
  link(program, "chromium");
}

/** The links of its libraries are a list in the package, made by a script that npm may not run. */
async function postgresql(folder: string): Promise<void> {
  const list = JSON.parse(readFileSync(join(folder, "native/pg-symlinks.json"), "utf8")) as readonly {
    readonly source: string;
    readonly target: string;
  }[];
  for (const { source, target } of list) {
    rmSync(join(folder, target), { force: true });
    symlinkSync(basename(source), join(folder, target));
  }
  rmSync(join(FOLDER, "postgresql"), { force: true });
  symlinkSync(folder, join(FOLDER, "postgresql"));
}

function link(program: string, name: string): void {
  mkdirSync(join(FOLDER, "bin"), { recursive: true });
  rmSync(join(FOLDER, "bin", name), { force: true });
  symlinkSync(program, join(FOLDER, "bin", name));
}

function run(file: string, args: readonly string[], cwd: string): string {
  const done = spawnSync(file, args, { cwd, encoding: "utf8" });
  if (done.status !== 0) throw new Error(`${file} ${args.join(" ")}: ${done.stderr || done.error?.message}`);
  return done.stdout;
}

/** Downloads one package with the machine's own npm, compares it with its integrity, and makes it a program. */
async function fetchPart(need: string, { name, version, integrity }: Part): Promise<void> {
  const folder = join(FOLDER, `${need}-${version}`);
  const partial = mkdtempSync(join(FOLDER, ".partial-"));
  try {
    const packed = ["pack", `${name}@${version}`, "--ignore-scripts", "--silent", "--pack-destination", partial];
    const file = join(partial, run("npm", packed, partial).trim().split("\n").at(-1) ?? "");
    const found = `sha512-${createHash("sha512").update(readFileSync(file)).digest("base64")}`;
    if (found !== integrity) throw new Error(`${name}@${version} has the integrity ${found}, not ${integrity}`);
    run("tar", ["-xzf", file], partial);
    rmSync(folder, { recursive: true, force: true });
    renameSync(join(partial, "package"), folder);
    await SET_UP[need]?.(folder);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}

/** Fetches what the machine lacks. A program that cannot be fetched stays missing, and its tests are skipped. */
async function fetchAll(): Promise<void> {
  for (const [need, { has, npm }] of Object.entries(TABLE)) {
    const part = npm?.[PLATFORM];
    if (part === undefined || has()) continue;
    mkdirSync(FOLDER, { recursive: true });
    console.log(`${need} is not installed: fetching ${part.name}@${part.version}`);
    await fetchPart(need, part).catch((error: unknown) => console.log(`${need} was not fetched: ${String(error)}`));
  }
}

if (process.argv.includes("--fetch")) await fetchAll();
const rows = Object.entries(TABLE).map(([name, { has, apt, brew, given }]) => ({
  name,
  apt: apt ?? null,
  brew: brew ?? null,
  given: given ?? false,
  missing: !has(),
}));
const missing = rows.filter(({ missing, apt }) => missing && apt !== null);
if (process.argv.includes("--apt")) console.log(missing.map(({ apt }) => apt).join(" "));
else if (!process.argv.includes("--fetch")) console.log(JSON.stringify(rows));
