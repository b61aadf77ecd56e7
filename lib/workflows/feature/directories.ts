import { join } from "node:path";
import { usage } from "../../cli/command.ts";
import type { RalphError } from "../../errors/ralph_error.ts";
import { listDirectory, makeInside, presentPaths } from "../../host/files.ts";
import { isCalendarDay } from "../../host/local_date.ts";

/** Features live here, relative to the root. */
export const FEATURES_FOLDER = ".ralph";

/** This file keeps git from seeing locks and runs, relative to the root. */
export const IGNORE_FILE: string = `${FEATURES_FOLDER}/.gitignore`;

/** Git need not see these files of the features' folder. */
const IGNORED = "ralph.lock\nprd.json.lock\n*.tmp\nscreenshots/\nruns/\n";

/** Makes `.ralph/.gitignore` where it is missing. @returns the paths that were made, relative to the root */
export async function scaffoldFeature(root: string): Promise<readonly string[]> {
  return await makeInside(root, IGNORE_FILE, IGNORED) ? [IGNORE_FILE] : [];
}

/** One feature's directory. */
export interface FeatureDirectory {
  /** The part after the date: `auth`. */
  readonly name: string;
  /** `2024-01-15`, however the directory writes it. */
  readonly date: string;
  /** Name of the directory: `2024-01-15-auth`, `20240115-auth`. */
  readonly directory: string;
  /** Paths relative to the root. */
  readonly path: string;
  /** `prd.json`, relative to the root. */
  readonly prdFile: string;
  /** `prd.md`, relative to the root. */
  readonly markdownFile: string;
}

const DIRECTORY_REGEXP = /^(\d{4})(-?)(\d{2})\2(\d{2})-(.+)$/;
const NAME_REGEXP = /^[A-Za-z0-9][\w.-]*$/;

/** True for what a feature may be called: letters, digits, `_`, `.`, `-`, and not digits alone. */
export function isFeatureName(name: string): boolean {
  return NAME_REGEXP.test(name) && !/^\d+$/.test(name);
}

/** The feature that a directory's name gives, or `null`. Pure. */
export function parseDirectory(directory: string): FeatureDirectory | null {
  const [, year, , month, day, name] = DIRECTORY_REGEXP.exec(directory) ?? [];
  if (name === undefined || !isFeatureName(name)) return null;
  const date = `${year}-${month}-${day}`;
  if (!isCalendarDay(date)) return null;
  const path = `${FEATURES_FOLDER}/${directory}`;
  return { name, date, directory, path, prdFile: `${path}/prd.json`, markdownFile: `${path}/prd.md` };
}

/** The directory of a feature that is begun on this day. */
export function newDirectory(name: string, date: string): FeatureDirectory {
  const found = parseDirectory(`${date}-${name}`);
  if (found === null) throw nameInvalid(name);
  return found;
}

/** Every feature that has a directory with a PRD in one of its forms, oldest first. */
export async function listFeatures(root: string): Promise<readonly FeatureDirectory[]> {
  const named = (await listDirectory(join(root, FEATURES_FOLDER))).flatMap((entry) => parseDirectory(entry) ?? []);
  const present = await presentPaths(root, named.flatMap(({ markdownFile, prdFile }) => [prdFile, markdownFile]));
  return named.filter(({ markdownFile, prdFile }) => [prdFile, markdownFile].some((path) => present.includes(path)))
    .toSorted((one, other) => one.date.localeCompare(other.date));
}

/**
 * The directory of a feature: its whole name, ignoring case; of several the newest. With the date in front it is that one,
 * as a job for another machine names it. Pure.
 *
 * @returns `null` where there is none
 * @throws {RalphError} usage for a name that no feature can have, and for two directories of the same day
 */
export function matchFeature(features: readonly FeatureDirectory[], name: string): FeatureDirectory | null {
  if (!isFeatureName(name)) throw nameInvalid(name);
  const named = features.find(({ directory }) => directory === name);
  if (named !== undefined) return named;
  const same = features.filter((feature) => feature.name.toLowerCase() === name.toLowerCase());
  const newest = same.reduce<string>((date, feature) => feature.date > date ? feature.date : date, "");
  const [feature, other] = same.filter(({ date }) => date === newest);
  if (other !== undefined && feature !== undefined) {
    const both = `${feature.path}, ${other.path}`;
    throw usage(`two directories are named ${name} and of the same day: ${both}`, "rename one of them");
  }
  return feature ?? null;
}

function nameInvalid(name: string): RalphError {
  const allowed = "letters, digits, `_`, `.` and `-`, not digits alone";
  return usage(`\`${name}\` is no name for a feature: ${allowed}`, "`ralph prd auth`");
}
