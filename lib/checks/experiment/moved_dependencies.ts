/**
 * Dependencies that were there before the work and are now another's: installed as they are, they judge the work too.
 *
 * @module
 */
import { posix } from "node:path";
import type { Question } from "./question.ts";

/** One dependency, as a manifest or npm's lock file has it. Other installers compare the hashes of their locks themselves. */
interface Pinned {
  readonly name: string;
  readonly version: string;
  readonly hashes: readonly string[];
  /** The folder, file or repository that it comes from; empty for a registry. */
  readonly local: string;
}

const NPM_REGEXP = /^(?:package-lock|npm-shrinkwrap)\.json$/;
const MANIFEST_REGEXP = /^(?:package|deno)\.jsonc?$/;
const DEPENDENCIES_REGEXP = /ependencies$|^(?:overrides|resolutions|imports)$/;
/** Files whose lines say where a dependency comes from. */
const LINES_REGEXP =
  /^(?:requirements[\w.-]*\.(?:txt|in)|go\.mod|go\.work|Cargo\.toml|pyproject\.toml|Pipfile|Gemfile)$/;
const LOCAL_REGEXP =
  /^\s*(?:-e\s|\.{1,2}\/|file:|git\+)|@\s*(?:file:|git\+|\.{0,2}\/)|=>\s*\.{0,2}\/|\b(?:path|git|url)\s*[:=]\s*["']/;
const ELSEWHERE_REGEXP =
  /^(?:\{.*":"\.{0,2}\/)|^(?:file:|link:|portal:|npm:|workspace:|git[+:@]|github:|https?:.*\.git|\.{0,2}\/)/;

/** Every dependency that the work moved to a folder, a link or git, or whose content changed under the same version. */
export async function movedDependencies({ commits, changed, old, now }: Question): Promise<readonly string[]> {
  const moved: string[] = [];
  for (const { path } of changed) {
    const [was, is] = [old.get(path), now.get(path)];
    const read = readerOf(posix.basename(path));
    if (was === undefined || is === undefined || read === null) continue;
    const before = read(await commits.read(was.hash));
    for (const one of read(await commits.read(is.hash))) {
      const how = howMoved(one, before.filter(({ name }) => name === one.name));
      if (how !== null) moved.push(`${shownName(one)}: ${how}`);
    }
  }
  return moved;
}

/** @param before entries of the same name */
function howMoved({ version, hashes, local }: Pinned, before: readonly Pinned[]): string | null {
  if (local !== "") {
    const isNew = before.length > 0 &&
      before.every((one) => one.local !== local || String(one.hashes) !== String(hashes));
    return isNew ? local : null;
  }
  const old = before.find((one) => one.version === version && one.hashes.length > 0);
  if (old === undefined || old.hashes.some((hash) => hashes.includes(hash))) return null;
  return hashes.length === 0 ? "no longer pinned" : "other content";
}

function shownName({ name, version }: Pinned): string {
  return `${name.replace(/^.*node_modules\//, "")} ${version}`.trim();
}

function readerOf(name: string): ((text: string) => readonly Pinned[]) | null {
  if (NPM_REGEXP.test(name)) return pinnedByNpm;
  if (MANIFEST_REGEXP.test(name)) return inManifest;
  return LINES_REGEXP.test(name) ? inLines : null;
}

function pinnedByNpm(text: string): readonly Pinned[] {
  return entriesOf(jsonOf(text)["packages"]).filter(([path]) => path !== "").map(([name, entry]) => {
    const { link, resolved, version, integrity } = Object(entry) as Readonly<Record<string, unknown>>;
    const [from, pin, number] = [resolved, integrity ?? resolved, version].map((one) =>
      typeof one === "string" ? one : ""
    );
    const isLocal = link === true || /^(?:file:|git)/.test(from ?? "");
    return { name, version: number ?? "", hashes: pin ? [pin] : [], local: isLocal ? from ?? "" : "" };
  });
}

function inManifest(text: string): readonly Pinned[] {
  return entriesOf(jsonOf(text)).filter(([key]) => DEPENDENCIES_REGEXP.test(key)).flatMap(([, value]) =>
    entriesOf(value).map(([name, given]) => {
      const source = typeof given === "string" ? given : JSON.stringify(given);
      return { name, version: "", hashes: [], local: ELSEWHERE_REGEXP.test(source) ? source : "" };
    })
  );
}

function inLines(text: string): readonly Pinned[] {
  return text.split("\n").map((line) => line.trim()).flatMap((line) => {
    const name = /[A-Za-z][\w./-]{2,}/.exec(line.replace(/^(?:replace|require|gem|path|url|-e)\b/, ""))?.[0];
    return name === undefined ? [] : [{ name, version: "", hashes: [], local: LOCAL_REGEXP.test(line) ? line : "" }];
  });
}

function entriesOf(value: unknown): readonly (readonly [string, unknown])[] {
  return typeof value === "object" && value !== null ? Object.entries(value) : [];
}

function jsonOf(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text)) as Readonly<Record<string, unknown>>;
  } catch {
    return {};
  }
}
