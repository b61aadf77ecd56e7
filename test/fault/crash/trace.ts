/** The file operations of a program and all that it starts, as strace sees them. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { runProgram } from "./run_program.ts";

/** One change of the file system, with absolute paths, in the order in which it took effect. */
export type Operation =
  | { readonly type: "create" | "truncate" | "mkdir" | "unlink" | "rmdir" | "sync"; readonly path: string }
  | { readonly type: "rename" | "exchange" | "link"; readonly from: string; readonly path: string }
  | { readonly type: "symlink"; readonly target: string; readonly path: string }
  | { readonly type: "resize"; readonly path: string; readonly size: number }
  /** `at`: its offset; `null` for the end of the file or for where the last write ended. */
  | { readonly type: "write"; readonly path: string; readonly bytes: Buffer; readonly at: number | null };

const CALLS =
  "openat,open,creat,write,pwrite64,writev,pwritev,pwritev2,ftruncate,truncate,rename,renameat,renameat2,link,linkat," +
  "symlink,symlinkat,unlink,unlinkat,mkdir,mkdirat,rmdir,fsync,fdatasync,sync,syncfs,copy_file_range,sendfile,chdir,fchdir," +
  "clone,clone3,fork,vfork,io_uring_setup";

/** Runs a program to its end. @returns its exit code and what it changed below `root` */
export async function traced(
  command: readonly string[],
  { root, environment, log }: { readonly root: string; readonly environment: NodeJS.ProcessEnv; readonly log: string },
): Promise<{ readonly exitCode: number | null; readonly operations: readonly Operation[]; readonly output: string }> {
  const options = ["-f", "-y", "-xx", "-s", "8000000", "-e", `trace=${CALLS}`, "-e", "signal=none", "-o", log];
  const { exitCode, output } = await runProgram(["strace", ...options, ...command], { cwd: root, environment });
  return { exitCode, output, operations: parseTrace(readFileSync(log, "latin1"), root) };
}

/** Pure. */
export function parseTrace(text: string, root: string): readonly Operation[] {
  const operations: Operation[] = [];
  const folders = new Map<string, string>();
  const unfinished = new Map<string, string>();
  let first: string | null = null;
  for (const line of text.split("\n")) {
    const match = /^(\d+) +(.*)$/.exec(line);
    if (match === null) continue;
    const [, pid = "", rest = ""] = match;
    first ??= pid;
    if (!folders.has(pid)) folders.set(pid, root);
    let call = rest;
    if (rest.endsWith("<unfinished ...>")) {
      unfinished.set(pid, rest.slice(0, -"<unfinished ...>".length));
      // a child of vfork works before its parent's call is finished
      continue;
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest);
    if (resumed !== null) {
      call = `${unfinished.get(pid) ?? ""}${resumed[1]}`;
      unfinished.delete(pid);
    }
    operations.push(...operationsOf(call, pid, folders, root));
  }
  return operations;
}

function operationsOf(call: string, pid: string, folders: Map<string, string>, root: string): readonly Operation[] {
  const match = /^(\w+)\((.*)\) += (-?\d+)(.*)$/.exec(call);
  if (match === null) return [];
  const [, name = "", rest = "", code = ""] = match;
  const result = Number(code);
  if (result < 0) return [];
  const args = argumentsOf(rest);
  const cwd = folders.get(pid) ?? root;
  const at = (folder: Argument | undefined, path: Argument | undefined): string =>
    resolve(folder?.path ?? cwd, path?.text?.toString("utf8") ?? "");
  const here = (path: Argument | undefined): string => resolve(cwd, path?.text?.toString("utf8") ?? "");
  const inside = (path: string): boolean => path === root || path.startsWith(`${root}/`);
  const [a, b, c, d] = args;
  const file = a?.path ?? "";
  switch (name) {
    case "clone":
    case "clone3":
    case "fork":
    case "vfork":
      if (!folders.has(code) || folders.get(code) === root) folders.set(code, cwd);
      return [];
    case "chdir":
      folders.set(pid, here(a));
      return [];
    case "fchdir":
      folders.set(pid, file);
      return [];
    case "io_uring_setup":
      throw new Error("the program uses io_uring, whose writes strace does not show");
    case "open":
      return opened(here(a), b?.raw ?? "", inside);
    case "creat":
      return opened(here(a), "O_CREAT|O_TRUNC", inside);
    case "openat":
      return opened(at(a, b), c?.raw ?? "", inside);
    case "write":
    case "pwrite64": {
      if (!inside(file)) return [];
      const bytes = (b?.text ?? Buffer.alloc(0)).subarray(0, result);
      return [{ type: "write", path: file, bytes, at: name === "pwrite64" ? Number(d?.raw) : null }];
    }
    case "writev":
    case "pwritev":
    case "pwritev2": {
      if (!inside(file)) return [];
      const bytes = Buffer.concat(
        [...(b?.raw ?? "").matchAll(/iov_base="([^"]*)"/g)].map(([, hex]) => unhex(hex ?? "")),
      );
      const offset = name === "writev" ? null : Number(d?.raw);
      return [{ type: "write", path: file, bytes: bytes.subarray(0, result), at: offset === -1 ? null : offset }];
    }
    case "copy_file_range":
    case "sendfile":
      if (inside((name === "sendfile" ? a : c)?.path ?? "")) throw new Error(`not understood: ${call.slice(0, 200)}`);
      return [];
    case "ftruncate":
      return inside(file) ? [{ type: "resize", path: file, size: Number(b?.raw) }] : [];
    case "truncate":
      return inside(here(a)) ? [{ type: "resize", path: here(a), size: Number(b?.raw) }] : [];
    case "rename":
      return moved("rename", here(a), here(b), inside);
    case "renameat2":
      return moved(call.includes("RENAME_EXCHANGE") ? "exchange" : "rename", at(a, b), at(c, d), inside);
    case "renameat":
      return moved("rename", at(a, b), at(c, d), inside);
    case "link":
      return moved("link", here(a), here(b), inside);
    case "linkat":
      return moved("link", at(a, b), at(c, d), inside);
    case "symlink":
      return inside(here(b)) ? [{ type: "symlink", target: a?.text?.toString("utf8") ?? "", path: here(b) }] : [];
    case "symlinkat":
      return inside(at(b, c)) ? [{ type: "symlink", target: a?.text?.toString("utf8") ?? "", path: at(b, c) }] : [];
    case "unlink":
      return inside(here(a)) ? [{ type: "unlink", path: here(a) }] : [];
    case "unlinkat": {
      const type = (c?.raw ?? "").includes("AT_REMOVEDIR") ? "rmdir" : "unlink";
      return inside(at(a, b)) ? [{ type, path: at(a, b) }] : [];
    }
    case "mkdir":
      return inside(here(a)) ? [{ type: "mkdir", path: here(a) }] : [];
    case "mkdirat":
      return inside(at(a, b)) ? [{ type: "mkdir", path: at(a, b) }] : [];
    case "rmdir":
      return inside(here(a)) ? [{ type: "rmdir", path: here(a) }] : [];
    case "fsync":
    case "fdatasync":
      return inside(file) ? [{ type: "sync", path: file }] : [];
    case "sync":
    case "syncfs":
      return [{ type: "sync", path: "" }];
    default:
      return [];
  }
}

function opened(path: string, flags: string, inside: (path: string) => boolean): readonly Operation[] {
  if (!inside(path)) return [];
  const operations: Operation[] = [];
  if (flags.includes("O_CREAT")) operations.push({ type: "create", path });
  if (flags.includes("O_TRUNC")) operations.push({ type: "truncate", path });
  return operations;
}

function moved(
  type: "rename" | "exchange" | "link",
  from: string,
  path: string,
  inside: (path: string) => boolean,
): readonly Operation[] {
  if (inside(from) && inside(path)) return [{ type, from, path }];
  if (inside(from) || inside(path)) throw new Error(`${type} across the border: ${from} -> ${path}`);
  return [];
}

interface Argument {
  readonly raw: string;
  /** The content of a string. */
  readonly text?: Buffer;
  /** The path of a file descriptor. */
  readonly path?: string;
}

/** Splits at commas outside of quotes, brackets and the paths of descriptors. */
function argumentsOf(text: string): readonly Argument[] {
  const parts: string[] = [];
  let depth = 0;
  let quoted = false;
  let start = 0;
  for (let index = 0; index < text.length; index++) {
    const letter = text[index];
    if (letter === '"') quoted = !quoted;
    else if (quoted) continue;
    else if (letter === "[" || letter === "{" || letter === "<") depth += 1;
    else if (letter === "]" || letter === "}" || (letter === ">" && text[index - 1] !== "=")) depth -= 1;
    else if (letter === "," && depth === 0) {
      parts.push(text.slice(start, index).trim());
      start = index + 1;
    }
  }
  parts.push(text.slice(start).trim());
  return parts.map((raw) => {
    const string = /^"([^"]*)"/.exec(raw);
    if (string !== null) return { raw, text: unhex(string[1] ?? "") };
    const descriptor = /^(?:\d+|AT_FDCWD)<(.*)>$/.exec(raw);
    if (descriptor === null) return { raw };
    const path = unhex(descriptor[1] ?? "").toString("utf8").replace(/>?\(deleted\)$/, "");
    return { raw, path };
  });
}

/** `-xx` writes every byte of a string as `\x41`; a descriptor's path may be plain. */
function unhex(text: string): Buffer {
  if (!text.startsWith("\\x")) return Buffer.from(text, "latin1");
  return Buffer.from(text.replaceAll("\\x", ""), "hex");
}

/** For messages. */
export function named(operation: Operation, root: string): string {
  const short = (path: string): string => path.slice(root.length + 1);
  const from = "from" in operation ? `${short(operation.from)} -> ` : "";
  return `${operation.type} ${from}${short(operation.path)}`;
}
