import { isAbsolute, join } from "node:path";
import { realPathOf } from "../host/bubblewrap.ts";
import { factsOf } from "../host/path_facts.ts";
import { commonDirectoryOf, guardsFor, outputFrom, partsOf, READING } from "./run_git.ts";
import type { WithIndex } from "./repository.ts";

/** A setting as git has it, keys in lower case; `value`: `null` where it is only named. */
export interface GitSetting {
  readonly key: string;
  readonly value: string | null;
  readonly scope: string;
  /** The file that it is in, relative to the top level, or absolute; otherwise where it comes from, in git's words. */
  readonly origin: string;
}

interface Listing {
  readonly settings: readonly GitSetting[];
  /** The files that they come from. */
  readonly files: readonly string[];
  readonly stamps: string;
}

const KNOWN = new Map<string, Listing>();

/** All settings in git's order, without Ralph's own. Git is asked again if a file that they come from has changed. */
export async function gitSettings(repository: WithIndex): Promise<readonly GitSetting[]> {
  const { gitDirectory } = repository;
  const known = KNOWN.get(gitDirectory);
  if (known !== undefined && known.stamps === stampsOf(known.files)) return known.settings;
  const common = await commonDirectoryOf(gitDirectory);
  const here = [join(common, "config"), join(gitDirectory, "config.worktree")];
  const before = stampsOf(here);
  const list = ["config", "--list", "-z", "--show-scope", "--show-origin"];
  const text = await outputFrom(repository, list, { environment: READING });
  const rows = rowsOf(text);
  const files = [...new Set([...rows.map(({ origin }) => origin).filter(isAbsolute), ...here])];
  const own = guardsFor(list).map((guard) => guard.toLowerCase());
  const settings = rows.filter(({ scope, key, value }) =>
    scope !== "command" || !own.includes(`${key}=${value}`.toLowerCase())
  );
  // a file that is included may be empty, and is no origin then
  const canChangeUnseen = rows.some(({ key }) => key.startsWith("include"));
  if (!canChangeUnseen && before === stampsOf(here)) {
    KNOWN.set(gitDirectory, { settings, files, stamps: stampsOf(files) });
  }
  return settings;
}

function stampsOf(files: readonly string[]): string {
  return files.map((file) => factsOf(realPathOf(file) ?? file)?.stamp).join(); // a person's may be a link
}

/** Three parts each: scope, origin, key and value. */
function rowsOf(text: string): readonly GitSetting[] {
  const parts = partsOf(text);
  return parts.flatMap((scope, index) => {
    if (index % 3 !== 0) return [];
    const [origin = "", entry = ""] = parts.slice(index + 1, index + 3);
    const [key = "", ...value] = entry.split(/\n(.*)/s); // one that is only named has no value
    return [{ scope, origin: origin.replace(/^file:/, ""), key, value: value[0] ?? null }];
  });
}

/** The value that counts; `undefined` where there is none. */
export function settingOf(settings: readonly GitSetting[], key: string): string | null | undefined {
  return settings.findLast((one) => one.key === key)?.value;
}
