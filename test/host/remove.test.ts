import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { writeFileState } from "../../lib/host/file_state.ts";
import { removeOwn, removePath, temporaryDirectory } from "../../lib/host/files.ts";

const LIB = join(dirname(fileURLToPath(import.meta.url)), "../../lib");
const DELETING_REGEXP = /\b(?:rm|rmSync|rmdir|rmdirSync|remove|removeSync)\([^;]*?recursive: true|emptyDir|rimraf/;

describe("what Ralph did not make is not deleted with what is in it", () => {
  it("one file deletes recursively", () => {
    const files = readdirSync(LIB, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((path) => DELETING_REGEXP.test(readFileSync(path, "utf8")));
    expect(files.map((path) => path.slice(LIB.length + 1))).toEqual(["host/remove_path.ts"]);
  });

  it("a folder that holds something is refused, or renamed aside", async () => {
    await using lab = await temporaryDirectory("ralph-remove-");
    const at = (name: string): string => join(lab.path, name);
    mkdirSync(at("work/deep"), { recursive: true });
    writeFileSync(at("work/deep/x"), "mine");
    await expect(removePath(at("work"))).rejects.toMatchObject({ code: "file-unwritable" });
    await removePath(at("work"), at("aside"));
    expect(readFileSync(at("aside/work/deep/x"), "utf8")).toBe("mine");
    mkdirSync(at("work"));
    await removePath(at("work"), at("aside"));
    expect(existsSync(at("work"))).toBe(false);
  });

  it("a second folder of that name is kept beside the first", async () => {
    await using lab = await temporaryDirectory("ralph-remove-");
    for (const text of ["1", "2"]) {
      mkdirSync(join(lab.path, "work"));
      writeFileSync(join(lab.path, "work/x"), text);
      await removePath(join(lab.path, "work"), join(lab.path, "aside"));
    }
    expect(readFileSync(join(lab.path, "aside/work/x"), "utf8")).toBe("1");
    expect(readFileSync(join(lab.path, "aside/work-2/x"), "utf8")).toBe("2");
  });

  it("Ralph's own is deleted only below the folder that is Ralph's, by no link, and never the folder itself", async () => {
    await using lab = await temporaryDirectory("ralph-remove-");
    const at = (name: string): string => join(lab.path, name);
    for (const name of ["own/tree", "theirs/tree"]) {
      mkdirSync(at(name), { recursive: true });
      writeFileSync(join(at(name), "x"), name);
    }
    symlinkSync(at("theirs"), at("own/link"));
    for (const path of [at("theirs/tree"), at("own/link/tree"), at("own"), at("own/../theirs"), lab.path]) {
      await expect(removeOwn(path, at("own"))).rejects.toMatchObject({ code: "file-unwritable" });
    }
    await removeOwn(at("own/link"), at("own")); // the link itself
    await removeOwn(at("own/tree"), at("own"));
    expect(readdirSync(at("own"))).toEqual([]);
    expect(readFileSync(at("theirs/tree/x"), "utf8")).toBe("theirs/tree");
  });

  it("Ralph's own is deleted also where a tool has closed folders in it, and nothing behind a link is opened", async () => {
    await using lab = await temporaryDirectory("ralph-remove-");
    const at = (name: string): string => join(lab.path, name);
    mkdirSync(at("own/tree/work/work"), { recursive: true });
    mkdirSync(at("own/tree/cache"));
    mkdirSync(at("theirs"), { mode: 0o500 });
    writeFileSync(at("own/tree/cache/file"), "x");
    symlinkSync(at("theirs"), at("own/tree/cache/link"));
    for (const [name, mode] of [["work/work", 0], ["work", 0o500], ["cache", 0o500]] as const) {
      chmodSync(at(`own/tree/${name}`), mode);
    }

    await removeOwn(at("own/tree"), at("own"));

    expect(readdirSync(at("own"))).toEqual([]);
    expect(statSync(at("theirs")).mode & 0o777).toBe(process.platform === "win32" ? 0o777 : 0o500);
  });

  it("a file that is restored renames the folder in its place aside, a git directory too", async () => {
    await using lab = await temporaryDirectory("ralph-remove-");
    const at = (name: string): string => join(realpathSync(lab.path), name);
    mkdirSync(at(".git/objects"), { recursive: true });
    writeFileSync(at(".git/HEAD"), "ref: refs/heads/main\n");
    await writeFileState(at(".git"), { kind: "link", target: "../gd" }, at("."), { aside: at("aside") });
    expect(readFileSync(at("aside/.git/HEAD"), "utf8")).toBe("ref: refs/heads/main\n");
  });
});
