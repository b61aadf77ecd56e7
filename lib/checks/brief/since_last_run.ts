import { join } from "node:path";
import { note, type RalphContext } from "../../context/context.ts";
import type { BriefRecord } from "../../backlog/journal_types.ts";
import { CONFIG_FILE } from "../../config/load.ts";
import { blobBytes } from "../../git/kept.ts";
import { requireRepository } from "../../git/repository.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import { commonDirectoryOf } from "../../git/run_git.ts";
import { isObject, jsonIn } from "../../host/data.ts";
import { shownPath } from "./create_brief.ts";
import { settingsIn, settingsRecord } from "./settings.ts";

const DIFF_LINES = 60;

/**
 * Accepts a change since the last run's brief. After a run that ended in order it is a person's work: one line reports
 * it. After one that was killed it may be an agent's: it is shown, and a person agrees to it or not.
 *
 * @throws {RalphError} brief-changed
 */
export async function acceptChanges(ralph: RalphContext, record: BriefRecord): Promise<void> {
  const last = ralph.journal.lastBrief();
  if (last === null) return;
  const paths = changedPaths(last.record, record);
  if (paths.length === 0) return;
  const names: string[] = [];
  for (const path of paths) names.push(await nameOf(ralph, path, last.record, record));
  if (last.ended) return note(ralph, "info", `since the last run: ${names.join(", ")}`);
  const lines = await diffOf(ralph, paths, last.record, record);
  ralph.events.emit({
    type: "text",
    title: "Changed since the run that was killed began",
    lines: [...names, ...lines],
  });
  if (ralph.loop.acceptChanges) return note(ralph, "info", `agreed to: ${names.join(", ")}`);
  if (ralph.prompter.interactive) {
    const message = "The last run was killed. Did you make these changes yourself, and do they count?";
    const question = { id: "brief.accept", kind: "confirm", message, details: names, initial: false } as const;
    if ((await ralph.prompter.ask(question)).value === "yes") return;
  }
  throw new RalphError("brief-changed", { details: { paths: names.join(", ") } });
}

/** Files that both records know and that differ, and files that are new in a folder that both have read. Pure. */
export function changedPaths(before: BriefRecord, now: BriefRecord): readonly string[] {
  const isRead = ({ folders }: BriefRecord, path: string): boolean =>
    folders.some((folder) => folder === "" || path.startsWith(`${folder}/`));
  const hashIn = (record: BriefRecord, path: string): string | null | undefined =>
    Object.hasOwn(record.files, path) ? record.files[path] : isRead(record, path) ? null : undefined;
  const paths = new Set([...Object.keys(before.files), ...Object.keys(now.files)]);
  return [...paths].filter((path) => {
    const [one, other] = [hashIn(before, path), hashIn(now, path)];
    return one !== undefined && other !== undefined && one !== other;
  }).sort();
}

/** True if the address of a remote was another when the last run began; false where that is not known. */
export async function isElsewhere(ralph: RalphContext, remote: string): Promise<boolean> {
  const repository = requireRepository(ralph);
  const file = join(await commonDirectoryOf(repository.gitDirectory), "config");
  const settings = await settingsIn(repository, file);
  const last = ralph.journal.lastBrief();
  if (last === null || settings === null) return false;
  const path = shownPath(ralph, file);
  const own = [`${path}/remote.${remote}.url`, `${path}/remote.${remote}.pushurl`];
  return changedPaths(last.record, settingsRecord(path, settings))
    .some((one) => own.includes(one) || one.startsWith(`${path}/url.`));
}

/** `verify.default of ralph.config.json`, `hooks/pre-commit (new)`, `user.name of .git/config`. */
async function nameOf(ralph: RalphContext, path: string, before: BriefRecord, now: BriefRecord): Promise<string> {
  const [one, other] = [before.files[path] ?? null, now.files[path] ?? null];
  const isSetting = (one ?? other)?.startsWith("setting ") === true;
  const file = isSetting ? now.folders.find((folder) => path.startsWith(`${folder}/`)) : undefined;
  const name = file === undefined ? path : `${path.slice(file.length + 1)} of ${file}`;
  if (one === null) return `${name} (new)`;
  if (other === null) return `${name} (removed)`;
  if (isSetting) return name;
  if (path !== CONFIG_FILE) return path;
  const keys = differingKeys(await jsonOf(ralph, one), await jsonOf(ralph, other));
  return keys.length === 0 ? path : `${keys.join(", ")} of ${path}`;
}

async function jsonOf(ralph: RalphContext, object: string): Promise<unknown> {
  const bytes = await blobBytes(requireRepository(ralph), object);
  return jsonIn(Buffer.from(bytes ?? []).toString("utf8")); // without a value the file itself is named
}

/** Dotted paths of the values that differ, as deep as both are objects. Pure. */
function differingKeys(one: unknown, other: unknown): readonly string[] {
  if (!isObject(one) || !isObject(other)) return [];
  const keys = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return keys.flatMap((key) => {
    if (JSON.stringify(one[key]) === JSON.stringify(other[key])) return [];
    const deeper = differingKeys(one[key], other[key]);
    return deeper.length === 0 ? [key] : deeper.map((rest) => `${key}.${rest}`);
  });
}

async function diffOf(ralph: RalphContext, paths: readonly string[], before: BriefRecord, now: BriefRecord) {
  const lines: string[] = [];
  for (const path of paths) {
    const [one, other] = [before.files[path] ?? "", now.files[path] ?? ""];
    if (!isObjectId(one) || !isObjectId(other)) continue;
    const show = ["diff", "--no-ext-diff", "--no-textconv", "--no-color", one, other];
    const end = await requireRepository(ralph).git(show);
    if (end.exitCode === 0) lines.push(path, ...end.stdout.split("\n").filter((line) => /^[-+@ ]/.test(line)).slice(2));
  }
  const more = lines.length - DIFF_LINES;
  return more <= 0 ? lines : [...lines.slice(0, DIFF_LINES), `… ${more} more lines`];
}

function isObjectId(hash: string): boolean {
  return /^[0-9a-f]{40,64}$/.test(hash);
}
