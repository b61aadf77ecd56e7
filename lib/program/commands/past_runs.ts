import { join, resolve } from "node:path";
import { type KeptFile, readKept } from "../../checks/brief/kept.ts";
import { type Invocation, printed, styleFor, toJson, usage } from "../../cli/command.ts";
import { resolveRoot } from "../../cli/workspace.ts";
import { EXIT } from "../../errors/ralph_error.ts";
import { mergedText } from "../../git/merge_change.ts";
import { openRepository } from "../../git/open_repository.ts";
import { readFileState, writeFileState } from "../../host/file_state.ts";
import { copyPath, hashFile, isDirectory, readText, removePath, replaceText, writeAtomic } from "../../host/files.ts";
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
    else if (await isAsFound(folder, file)) continue;
    else if (await isAsRestored(file)) await bringBack(root, folder, file, out);
    else if (await isMerged(host, root, folder, file)) out(`${file.path}  with what the run found`);
    else {
      left += 1;
      say(`${file.path} has changed since: left as it is; what the run found is ${copyOf(folder, file) ?? "no file"}`);
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

async function isAsFound(folder: string, { file, copy }: KeptFile): Promise<boolean> {
  return copy !== null && await hashFile(join(folder, "restored", copy)) === await hashFile(file);
}

/** Newer work is not written over. */
async function isAsRestored({ file, restored }: KeptFile): Promise<boolean> {
  if (restored !== null && restored.length < 64) return true;
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
  else if (await isDirectory(place)) await copyPath(place, file);
  else {
    const found = readFileState(place, Infinity);
    await writeFileState(file, found.kind === "text" ? { ...found, executable: kept.executable } : found, root, where);
  }
  out(`${path}  ${place === null && target === undefined ? "removed" : "as the run found it"}`);
}
