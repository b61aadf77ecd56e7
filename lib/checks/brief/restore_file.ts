import type { RalphContext } from "../../context/context.ts";
import { requireRepository } from "../../git/require_repository.ts";
import { readFileState, writeFileState } from "../../host/file_state.ts";
import { readObject } from "./objects.ts";
import { decidingSettings, restoreSettings } from "./settings.ts";
import type { BriefChange, BriefEntry } from "./types.ts";

/** Makes one file what it was when the run began. @throws {RalphError} file-unwritable */
export async function restoreFile(ralph: RalphContext, change: BriefChange, entry: BriefEntry | null): Promise<void> {
  const { file, before, found } = change;
  const repository = requireRepository(ralph);
  if (entry?.settings && found.kind === "text") {
    const now = await decidingSettings(repository, file);
    if (now !== null && await restoreSettings(repository, file, { before: entry.settings, now })) {
      entry.before = readFileState(file, found.bytes.length * 2);
      return;
    }
  }
  const base = file.startsWith(ralph.root) ? ralph.root : repository.gitDirectory;
  if (before.kind !== "large") return await writeFileState(file, before, base);
  const object = entry?.object ?? null;
  const content = object === null ? null : await readObject(ralph, object);
  if (content === null) throw new Error(`the git object of ${file} is gone`);
  await writeFileState(file, before, base, content);
  if (entry !== null) entry.before = readFileState(file, -1);
}
