import { words } from "../host/data.ts";
import { isTemporaryName } from "../host/write_atomic.ts";
import type { ChangedPath, TreeStatus } from "./repository.ts";

/** The arguments whose output `parseStatus()` reads: one process reports head, branch and every changed path. */
export const STATUS_ARGUMENTS: readonly string[] = words(`
  status --porcelain=v2 --branch -z --untracked-files=all --no-renames
`);

/** Reads `git status --porcelain=v2 --branch -z`. Temporary files of a write in progress and names that are not UTF-8 are left out. */
export function parseStatus(output: string): TreeStatus {
  const records = output.split("\0");
  let head: string | null = null;
  let branch: string | null = null;
  const changed: ChangedPath[] = [];
  for (let index = 0; index < records.length; index++) {
    const record = records[index]!;
    switch (record[0]) {
      case "#":
        if (record.startsWith("# branch.oid ")) head = valueOf(record, "(initial)");
        else if (record.startsWith("# branch.head ")) branch = valueOf(record, "(detached)");
        break;
      case "1":
        changed.push(tracked(record, 8));
        break;
      case "2":
        changed.push(tracked(record, 9));
        changed.push({ path: records[++index]!, code: "D ", untracked: false });
        break;
      case "u":
        changed.push(tracked(record, 10));
        break;
      case "?":
        changed.push({ path: record.slice(2), code: "??", untracked: true });
        break;
      default: // the empty text behind the last NUL
    }
  }
  const unreadable = changed.map(({ path }) => path).filter((path) => !isReadable(path));
  return {
    head,
    branch,
    changed: changed.filter(({ path }) => isReadable(path) && !isTemporaryName(path.slice(path.lastIndexOf("/") + 1))),
    ...(unreadable.length === 0 ? {} : { unreadable: [...new Set(unreadable)] }),
  };
}

/** A name that is not UTF-8 cannot be handed to git or opened: its bytes are lost when it is decoded. */
export function isReadable(path: string): boolean {
  return !path.includes("\uFFFD");
}

function tracked(record: string, fields: number): ChangedPath {
  let start = 0;
  for (let field = 0; field < fields; field++) start = record.indexOf(" ", start) + 1;
  const code = record.slice(2, 4).replaceAll(".", " ");
  const entry = {
    path: record.slice(start),
    code,
    untracked: false,
    ...(record[5] === "S" ? { submodule: record.slice(5, 9) } : {}),
  };
  if (record[0] === "u" || (code[0] === " " && code[1] !== "A")) return entry;
  const words = record.split(" ");
  return { ...entry, staged: `${words[4]} ${words[7]}${code[1] === "A" ? " N" : ""}` };
}

function valueOf(record: string, none: string): string | null {
  const value = record.slice(record.indexOf(" ", 2) + 1);
  return value === none ? null : value;
}
