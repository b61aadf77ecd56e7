import { join, sep } from "node:path";
import { ADAPTERS } from "../../agents/adapters.ts";
import type { AsInstructed } from "../../backlog/check_types.ts";
import type { RalphContext } from "../../context/context.ts";
import { type FileState, isSameState, listFiles, readFileState, writeFileState } from "../../host/file_state.ts";
import { keepFound } from "./kept.ts";

/** A larger one is no instruction. */
const MAX_BYTES = 1024 * 1024;

/** Remembers the instruction files of all agents as they are now. */
export function createAsInstructed({ root, host }: RalphContext, runFolder: () => Promise<string>): AsInstructed {
  const names = [...new Set(ADAPTERS.flatMap(({ instructions }) => instructions))];
  const read = (): Map<string, FileState> => {
    const files = names.flatMap((name) =>
      name.endsWith("/") ? listFiles(join(root, name), () => true) : [join(root, name)]
    );
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
