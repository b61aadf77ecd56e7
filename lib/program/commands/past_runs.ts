import { join, resolve } from "node:path";
import { type KeptFile, readKept } from "../../checks/brief/kept.ts";
import { type Invocation, printed, styleFor, toJson, usage } from "../../cli/command.ts";
import { resolveRoot } from "../../cli/workspace.ts";
import { EXIT } from "../../errors/ralph_error.ts";
import { mergedText } from "../../git/merge_change.ts";
import { openRepository } from "../../git/open_repository.ts";
import { type FileState, readFileState, realPath, writeFileState } from "../../host/file_state.ts";
import { copyPath, hashFile, isDirectory, readText, removePath, replaceText, writeAtomic } from "../../host/files.ts";
import { foldersOf } from "../../host/folders_kept.ts";
import { orElse } from "../../host/looks.ts";
import type { Host } from "../../host/types.ts";
import { findRun, makeReport } from "../../report/make_report.ts";
import type { RunReport } from "../../report/types.ts";
import { resumeCommand, runFolders } from "../../workflows/table.ts";

/** `ralph report [RUN]`: what a run did, for a reader. Reads events and git, changes nothing. */
export async function report(invocation: Invocation): Promise<number> {
  const { arguments: [named], flags, host, out, say } = invocation;
  const root = await resolveRoot(invocation);
  const report = await makeReport(
    root,
    await findRun({ root, cwd: host.environment.cwd, folders: await runFolders(root) }, named),
    { host, resume: resumeCommand },
  );
  const file = flags.text("output");
  if (file === undefined) {
    const text = await rendered(report, invocation);
    const { paintMarkdown } = await import("../../report/markdown.ts");
    const isMarkdown = (flags.text("format") ?? "md") === "md";
    const shown = text.trimEnd();
    return printed(out, isMarkdown ? paintMarkdown(shown, styleFor(invocation, "stdout")) : shown);
  }
  await writeAtomic(resolve(host.environment.cwd, file), await rendered(report, invocation));
  return printed(say, `wrote ${file}`);
}

async function rendered(report: RunReport, invocation: Invocation): Promise<string> {
  if (invocation.flags.text("for") === "review") {
    return await (await import("../finish/branch_runs.ts")).reviewText(invocation.host, report);
  }
  switch (invocation.flags.text("format")) {
    case "json":
      return `${toJson(report)}\n`;
    case "html":
      return (await import("../../report/html.ts")).htmlReport(report);
    default: {
      const { markdownReport } = await import("../../report/markdown.ts");
      return markdownReport(report, styleFor(invocation, "stdout").symbols);
    }
  }
}

/** `ralph restore [RUN] [PATH…]`: brings back what a run found changed and restored; of each file the newest. */
export async function restore(invocation: Invocation): Promise<number> {
  const { arguments: [named, ...paths], flags, host, out, say } = invocation;
  const branch = flags.text("branch");
  if (branch !== undefined) return await (await import("../finish/set_aside.ts")).restoreBranch(invocation, branch);
  const root = await resolveRoot(invocation);
  const { id, folder } = await findRun({ root, cwd: host.environment.cwd, folders: await runFolders(root) }, named);
  const kept = await readKept(folder);
  const newest = new Map(kept.map((file) => [file.path, file]));
  const unknown = paths.find((path) => !newest.has(path));
  if (unknown !== undefined) {
    throw usage(`the run ${id} kept nothing of ${unknown}`, `\`ralph restore ${id} --dry-run\` shows what it kept`);
  }
  // Git may run a file that appeared in the git directory: a person names it.
  const wanted = [...newest.values()].filter(({ path, kind }) =>
    paths.length > 0 ? paths.includes(path) : kind !== "git"
  );
  if (kept.length === 0) say(`the run ${id} restored nothing`);
  let left = 0;
  for (const file of wanted) {
    if (flags.has("dry-run")) out(`${file.path}  ${copyOf(folder, file) ?? "it was gone"}`);
    else if (!await isThereAgain(file, { host, root, folder, out })) {
      left += 1;
      say(`${file.path} has changed since: left as it is; what the run found is ${copyOf(folder, file) ?? "no file"}`);
    }
    for (const earlier of kept.filter((one) => one.path === file.path && one !== file)) {
      const copy = copyOf(folder, earlier);
      if (copy !== null) out(`${file.path}  earlier: ${copy}`);
    }
  }
  for (const { path, kind } of newest.values()) {
    if (kind === "git" && !paths.includes(path)) say(`left out: ${path} (\`ralph restore ${id} ${path}\`)`);
  }
  return left === 0 ? EXIT.done : EXIT.failed;
}

function copyOf(folder: string, { copy, target }: KeptFile): string | null {
  return copy === null ? target ?? null : join(folder, "restored", copy);
}

interface Places {
  readonly host: Host;
  readonly root: string;
  /** The folder of the run. */
  readonly folder: string;
  readonly out: (line: string) => void;
}

/** Newer work is not written over. @returns whether the path holds what the run found */
async function isThereAgain(file: KeptFile, { host, root, folder, out }: Places): Promise<boolean> {
  if (!isInPlace(root, file)) return false;
  if (await isAsFound(folder, file)) return true;
  if (await isAsRestored(file)) await bringBack(root, folder, file, out);
  else if (await isMerged(host, root, folder, file)) out(`${file.path}  with what the run found`);
  else return false;
  return true;
}

/** No folder has taken the place of the file, and no file or new link that of a folder above it. */
function isInPlace(root: string, { file, real, restored }: KeptFile): boolean {
  const kind = kindAt(file);
  const above = foldersOf(root, [file]).map(kindAt);
  if (kind === "folder" || kind === "special") return false;
  if (above.some((one) => one === "large" || one === "special")) return false;
  const isLinked = above.includes("link") || (kind === "link" && restored !== "link");
  return !isLinked || orElse(() => realPath(file), undefined) === real;
}

/** `large` for every file, `special` for what cannot be looked at. */
function kindAt(path: string): FileState["kind"] {
  return orElse(() => readFileState(path, -1).kind, "special");
}

async function isAsFound(folder: string, { file, copy }: KeptFile): Promise<boolean> {
  if (copy === null || await isDirectory(join(folder, "restored", copy))) return false;
  return await hashFile(join(folder, "restored", copy)) === await hashFile(file);
}

async function isAsRestored({ file, restored }: KeptFile): Promise<boolean> {
  if (restored !== null && restored.length < 64) return kindAt(file) === restored;
  return await hashFile(file) === restored;
}

/** Ralph has gone on writing the state: what the run found is added to it. @returns whether both fit */
async function isMerged(host: Host, root: string, folder: string, { base, copy, file }: KeptFile): Promise<boolean> {
  const repository = await openRepository(host, root);
  if (repository === null || base === undefined || copy === null) return false;
  const kept = [base, copy].map((name) => join(folder, "restored", name));
  const [ours = null, before = null, theirs = null] = await Promise.all([file, ...kept].map((path) => readText(path)));
  if (ours === null || before === null || theirs === null) return false;
  const text = await mergedText(repository, [ours, before, theirs]);
  return text !== null && (await replaceText(file, text, ours)).status === "written";
}

async function bringBack(root: string, folder: string, kept: KeptFile, out: (line: string) => void): Promise<void> {
  const { file, path, copy, target } = kept;
  const place = copy === null ? null : join(folder, "restored", copy);
  const where = { aside: join(folder, "aside") };
  if (target !== undefined) await writeFileState(file, { kind: "link", target }, root, where);
  else if (place === null) await removePath(file);
  else if (await isDirectory(place)) {
    await removePath(file);
    await copyPath(place, file);
  } else {
    const found = readFileState(place, Infinity);
    await writeFileState(file, found.kind === "text" ? { ...found, executable: kept.executable } : found, root, where);
  }
  out(`${path}  ${place === null && target === undefined ? "removed" : "as the run found it"}`);
}
