import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";

/** A folder of the commit: its files by their ids, and the folders in it. */
interface Folder {
  readonly files: Map<string, Buffer>;
  readonly folders: Map<string, Folder>;
}

/**
 * The first commit of a repository, of plain files that nothing of git's settings changes: objects, index, branch and
 * reflog as `git add` and `git commit` write them, without their processes. Thousands of tests begin with one.
 */
export function writeFirstCommit(root: string, paths: readonly string[], person: string, subject: string): void {
  const store = new Store(join(root, ".git/objects"));
  const top: Folder = { files: new Map(), folders: new Map() };
  const entries = paths.toSorted(byBytes).map((path) => {
    const id = store.write("blob", readFileSync(join(root, path)));
    const names = path.split("/");
    const name = names.pop() ?? path;
    names.reduce(folderIn, top).files.set(name, id);
    return indexEntry(path, id, root);
  });
  const when = `${person} ${Math.floor(Date.now() / 1000)} +0000`;
  const tree = store.tree(top).toString("hex");
  const commit = store.write("commit", Buffer.from(`tree ${tree}\nauthor ${when}\ncommitter ${when}\n\n${subject}\n`));
  const written = { "refs/heads/main": `${commit.toString("hex")}\n`, COMMIT_EDITMSG: `${subject}\n` };
  const log = `${"0".repeat(40)} ${commit.toString("hex")} ${when}\tcommit (initial): ${subject}\n`;
  mkdirSync(join(root, ".git/logs/refs/heads"), { recursive: true });
  for (const [name, text] of Object.entries({ ...written, "logs/HEAD": log, "logs/refs/heads/main": log })) {
    writeFileSync(join(root, ".git", name), text);
  }
  const index = Buffer.concat([Buffer.from("DIRC"), numbers(2, entries.length), ...entries]);
  writeFileSync(join(root, ".git/index"), Buffer.concat([index, sha1(index)]));
}

/** Loose objects. */
class Store {
  readonly #root: string;
  readonly #written = new Set<string>();

  constructor(root: string) {
    this.#root = root;
  }

  write(kind: "blob" | "tree" | "commit", content: Buffer): Buffer {
    const whole = Buffer.concat([Buffer.from(`${kind} ${content.length}\0`), content]);
    const id = sha1(whole);
    const name = id.toString("hex");
    if (this.#written.has(name)) return id;
    this.#written.add(name);
    const folder = join(this.#root, name.slice(0, 2));
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, name.slice(2)), deflateSync(whole, { level: 1 }), { mode: 0o444 });
    return id;
  }

  tree({ files, folders }: Folder): Buffer {
    const rows = [
      ...[...files].map(([name, id]) => ({ order: name, mode: "100644", name, id })),
      ...[...folders].map(([name, folder]) => ({ order: `${name}/`, mode: "40000", name, id: this.tree(folder) })),
    ];
    const sorted = rows.toSorted((left, right) => byBytes(left.order, right.order));
    return this.write(
      "tree",
      Buffer.concat(sorted.flatMap(({ mode, name, id }) => [Buffer.from(`${mode} ${name}\0`), id])),
    );
  }
}

function folderIn({ folders }: Folder, name: string): Folder {
  const found = folders.get(name) ?? { files: new Map(), folders: new Map() };
  folders.set(name, found);
  return found;
}

/** An entry of the index: with the file's times and places, git need not read it again. */
function indexEntry(path: string, id: Buffer, root: string): Buffer {
  const { ctimeNs, mtimeNs, dev, ino, uid, gid, size } = statSync(join(root, path), { bigint: true });
  const times = [ctimeNs, mtimeNs].flatMap((ns) => [ns / 1_000_000_000n, ns % 1_000_000_000n]);
  const name = Buffer.from(path);
  const flags = Buffer.alloc(2);
  flags.writeUInt16BE(Math.min(name.length, 0xfff));
  const entry = Buffer.concat([numbers(...times, dev, ino, 0o100644, uid, gid, size), id, flags, name]);
  return Buffer.concat([entry, Buffer.alloc(8 - entry.length % 8)]);
}

/** Each in four bytes, of which a larger one keeps the last. */
function numbers(...values: readonly (number | bigint)[]): Buffer {
  const buffer = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) {
    buffer.writeUInt32BE(Number(BigInt.asUintN(32, BigInt(value))), index * 4);
  }
  return buffer;
}

function sha1(content: Buffer): Buffer {
  return createHash("sha1").update(content).digest();
}

function byBytes(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}
