import { join, sep } from "node:path";
import { ADAPTERS } from "../../agents/adapters.ts";
import type { AsInstructed } from "../../backlog/check_types.ts";
import { jsonIn, objectOr } from "../../host/data.ts";
import type { RalphContext } from "../../context/context.ts";
import {
  type FileState,
  isSameState,
  listFiles,
  readFileState,
  realPath,
  writeFileState,
} from "../../host/file_state.ts";
import { appendText, copyPath, hashText, readText, writeOwn } from "../../host/files.ts";
import { orElse } from "../../host/looks.ts";
import type { Clock } from "../../host/types.ts";
import type { BriefChange } from "./types.ts";

/** A file that a run found in the place of one of its brief, and restored. */
export interface KeptFile extends Pick<BriefChange, "file" | "kind" | "path"> {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Name of the copy in the folder `restored`; `null` where the file was gone. */
  readonly copy: string | null;
  /** True if the found file was executable. */
  readonly executable: boolean;
  /** The path with every symbolic link in it followed; `null` where one leads back to itself. */
  readonly real?: string | null;
  /** The target, if a symbolic link was found. */
  readonly target?: string;
  /** Hash of what the file was restored to; `null` for absent. */
  readonly restored: string | null;
  /** The name of a copy of what a state file was restored to: Ralph goes on writing it. */
  readonly base?: string;
}

const INDEX = "restored.ndjson";

/** Keeps what was found in the folder of a run, before it is restored. */
export async function keepFound(clock: Clock, folder: string, change: BriefChange): Promise<void> {
  const { kind, path, file, found, before } = change;
  const known = (await readKept(folder)).length;
  const copy = `${String(known + 1).padStart(3, "0")}-${path.replaceAll(/[^\w.-]+/g, "-").slice(-80)}`;
  const place = join(folder, "restored", copy);
  if (found.kind === "text") await writeOwn(place, found.bytes);
  if (found.kind === "large" || found.kind === "folder") await copyPath(file, place);
  const base = kind === "state" && before.kind === "text" && found.kind === "text" ? `${copy}.before` : null;
  if (base !== null && before.kind === "text") await writeOwn(join(folder, "restored", base), before.bytes);
  const kept = found.kind === "text" || found.kind === "large" || found.kind === "folder";
  const entry: KeptFile = {
    kind,
    path,
    file,
    real: orElse(() => realPath(file), null),
    at: clock.now(),
    copy: kept ? copy : null,
    executable: "executable" in found && found.executable,
    ...(found.kind === "link" ? { target: found.target } : {}),
    restored: before.kind === "text" ? hashText(before.bytes) : before.kind === "missing" ? null : before.kind,
    ...(base === null ? {} : { base }),
  };
  await appendText(join(folder, INDEX), `${JSON.stringify(entry)}\n`);
}

/** The files that a run has kept, oldest first. */
export async function readKept(folder: string): Promise<readonly KeptFile[]> {
  const text = await readText(join(folder, INDEX)) ?? "";
  return text.split("\n").flatMap((line) => {
    const entry = objectOr(jsonIn(line)); // a run that was killed may have torn the last one
    return typeof entry["path"] === "string" && typeof entry["file"] === "string" ? [entry as unknown as KeptFile] : [];
  });
}

/** A larger one is no instruction. */
const MAX_BYTES = 1024 * 1024;

/** Remembers the instruction files of all agents as they are now. */
export function createAsInstructed({ root, host }: RalphContext, runFolder: () => Promise<string>): AsInstructed {
  const names = [...new Set(ADAPTERS.flatMap(({ instructions }) => instructions))];
  const read = (): Map<string, FileState> => {
    const files = names.flatMap((name) => name.endsWith("/") ? listFiles(join(root, name)) : [join(root, name)]);
    return new Map(files.map((file) => [file, readFileState(file, MAX_BYTES)]));
  };
  const start = read();
  return async (run) => {
    const now = read();
    const missing: FileState = { kind: "missing" };
    const changed = [...new Set([...start.keys(), ...now.keys()])].flatMap((file) => {
      const [before, found] = [start.get(file) ?? missing, now.get(file) ?? missing];
      const isKept = [before, found].every(({ kind }) => kind === "text" || kind === "link" || kind === "missing");
      return isKept && !isSameState(before, found) ? [{ file, before, found }] : [];
    });
    try {
      for (const { file, before, found } of changed) {
        // A run that is killed meanwhile leaves the old one in the tree.
        const path = file.slice(root.length + 1).replaceAll(sep, "/");
        await keepFound(host.clock, await runFolder(), { kind: "instructions", path, file, before, found });
        await writeFileState(file, before, root, { aside: await runFolder() });
      }
      return await run();
    } finally {
      for (const { file, found } of changed) await writeFileState(file, found, root, { aside: await runFolder() });
    }
  };
}
