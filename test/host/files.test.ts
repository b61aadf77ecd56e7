import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { asNamed, machineError, unwritable } from "../../lib/host/file_errors.ts";
import { startOf } from "../../lib/host/process_table.ts";
import {
  appendText,
  copyPath,
  ensureDirectory,
  ensurePrivateDirectory,
  hashFile,
  hashText,
  listDirectory,
  openAppender,
  pathExists,
  readBytes,
  readStart,
  readText,
  removeOwn,
  removePath,
  renamePath,
  resolveInside,
  temporaryDirectory,
  writeAtomic,
} from "../../lib/host/files.ts";
import { fixtureCommand } from "../fixtures/processes/fixture_command.ts";
import { waitUntil } from "../fixtures/processes/survivors.ts";
import { needs, only } from "../needs.ts";

describe("reading", () => {
  test("readText(), readStart(), hashFile() give null for a missing file", async () => {
    const missing = "/nowhere/at/all";

    expect([await readText(missing), await readStart(missing, 5), await hashFile(missing)])
      .toEqual([null, null, null]);
    expect(await listDirectory(missing)).toEqual([]);
    expect(await pathExists(missing)).toBe(false);
    expect(await pathExists("/etc/passwd/below-a-file")).toBe(false);
  });

  test(
    "readText() reads regular files only, and does not wait for a pipe",
    needs("a POSIX system"),
    async () => {
      await using folder = await temporaryDirectory("ralph-files");
      const pipe = join(folder.path, "state.json");
      execFileSync("mkfifo", [pipe]);

      await expect(readText(pipe)).rejects.toThrow(/it is a pipe/);
      await expect(readText("/dev/zero")).rejects.toThrow(/it is a device/);
      await expect(readText(folder.path)).rejects.toThrow(/it is a folder/);
    },
  );

  test("readText() takes no more into memory than it is allowed to", async () => {
    await using folder = await temporaryDirectory("ralph-files-");
    const file = join(folder.path, "a");
    await writeAtomic(file, "x".repeat(2_000_000));

    await expect(readText(file, 1_000_000)).rejects.toThrow(/it has 2 MB, more than 1 MB/);
    expect((await readText(file))?.length).toBe(2_000_000);
  });

  test("readBytes() gives what was read before where the file holds the same, and else what it holds", async () => {
    await using folder = await temporaryDirectory("ralph-files-");
    const file = join(folder.path, "a");
    for (const size of [0, 1, 32 * 1024, 100_000]) {
      writeFileSync(file, Buffer.alloc(size, "a"));
      const known = await readBytes(file) as Buffer;
      expect(await readBytes(file, undefined, known)).toBe(known);
      for (const at of [0, size >> 1, size - 1].filter((index) => index >= 0 && index < size)) {
        const other = Buffer.alloc(size, "a").fill("b", at, at + 1);
        writeFileSync(file, other);
        expect((await readBytes(file, undefined, known))?.equals(other)).toBe(true);
      }
      for (const other of [Buffer.alloc(size + 1, "a"), Buffer.alloc(size >> 1, "a")]) {
        writeFileSync(file, other);
        expect((await readBytes(file, undefined, known))?.equals(other)).toBe(true);
      }
    }
  });

  test("logs and run folders are for their owner alone", needs("a POSIX system"), async () => {
    await using folder = await temporaryDirectory("ralph-files-");
    await ensurePrivateDirectory(join(folder.path, "runs", "one"));
    const appender = await openAppender(join(folder.path, "runs", "one", "a.log"));
    await appender.close();
    mkdirSync(join(folder.path, "old"), { mode: 0o755 });
    await ensurePrivateDirectory(join(folder.path, "old"));

    const mode = (path: string): string => (statSync(join(folder.path, path)).mode & 0o777).toString(8);
    expect([mode("runs/one"), mode("runs/one/a.log"), mode("old")]).toEqual(["700", "600", "700"]);
  });

  test.skipIf(process.platform === "win32").each([
    ["a link to a file", "ln -s ../out a.log"],
    ["a link to nothing", "rm ../out; ln -s ../out a.log"],
    ["another name of a file", "ln ../out a.log"],
  ])(
    "openAppender() adds to no file elsewhere: %s is set aside (skipped on Windows: links)",
    async (_what, command) => {
      await using temporary = await temporaryDirectory("ralph-files-");
      const folder = temporary.path;
      mkdirSync(join(folder, "run"));
      writeFileSync(join(folder, "out"), "mine");
      const file = join(folder, "run/a.log");
      const place = { cwd: join(folder, "run") };
      const bytes = new TextEncoder().encode("two");
      execFileSync("sh", ["-ec", command], place);

      const appender = await openAppender(file);
      appender.write(bytes);
      const first = readFileSync(file, "utf8");
      execFileSync("sh", ["-ec", `mv a.log moved; echo mine > ../out; ${command}`], place);
      appender.keep();
      appender.write(bytes);
      await appender.close();

      expect(first).toBe("two");
      expect(readFileSync(file, "utf8")).toBe("twotwo");
      if (existsSync(join(folder, "out"))) expect(readFileSync(join(folder, "out"), "utf8").trim()).toBe("mine");
      expect(readdirSync(join(folder, "run")).toSorted()).toEqual(["a.log", "a.log.aside", "a.log.aside-2", "moved"]);
    },
  );

  test("openAppender() keeps the order of large and small chunks", async () => {
    await using folder = await temporaryDirectory("ralph-files-");
    const path = join(folder.path, "a.log");
    const appender = await openAppender(path);
    const sizes = Array.from({ length: 300 }, (_, index) => (index % 7 === 0 ? 40_000 : index % 50));

    for (const [index, size] of sizes.entries()) {
      const chunk = Buffer.alloc(size, index % 256);
      appender.write(chunk);
      chunk.fill(0); // the giver may use its memory again
    }
    await appender.close();

    const written = readFileSync(path);
    expect(written.equals(Buffer.concat(sizes.map((size, index) => Buffer.alloc(size, index % 256))))).toBe(true);
  });

  test("hashFile() and hashText() are the same sha256", async () => {
    await using folder = await temporaryDirectory("ralph-files-");
    const text = "ä".repeat(400_000);
    await writeAtomic(join(folder.path, "a"), text);

    expect(await hashFile(join(folder.path, "a"))).toBe(hashText(text));
    expect(hashText("")).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  });
});

describe("writeAtomic()", () => {
  test("makes folders, writes, replaces, and leaves nothing beside it", async () => {
    await using folder = await temporaryDirectory("ralph-files-");
    const path = join(folder.path, "a", "b", "c.txt");

    await writeAtomic(path, "one");
    await writeAtomic(path, new Uint8Array([116, 119, 111]));

    expect(readFileSync(path, "utf8")).toBe("two");
    expect(readdirSync(join(folder.path, "a", "b"))).toEqual(["c.txt"]);
  });

  test("keeps the mode of an old file and gives a new one the mode asked for", async () => {
    await using folder = await temporaryDirectory("ralph-files-");
    const path = join(folder.path, "run.sh");
    writeFileSync(path, "");
    chmodSync(path, 0o751);

    await writeAtomic(path, "x", { mode: 0o600 });
    await writeAtomic(join(folder.path, "new"), "x", { mode: 0o600 });

    expect(statSync(path).mode & 0o777).toBe(0o751);
    expect(statSync(join(folder.path, "new")).mode & 0o777).toBe(0o600);
  });

  test("writes through symbolic links, also one whose file is not there yet", async () => {
    await using folder = await temporaryDirectory("ralph-files-");
    const at = (name: string): string => join(folder.path, name);
    mkdirSync(at("real"));
    symlinkSync("real/file", at("one"));
    symlinkSync("one", at("two"));

    await writeAtomic(at("two"), "text");

    expect(readFileSync(at("real/file"), "utf8")).toBe("text");
    expect([lstatSync(at("one")).isSymbolicLink(), lstatSync(at("two")).isSymbolicLink()]).toEqual([true, true]);
    expect(readdirSync(at("real"))).toEqual(["file"]);
  });

  test.each([
    ["a folder", (at: string) => mkdirSync(at), /EISDIR/, /a folder is where/],
    [
      "a read-only file",
      (at: string) => writeFileSync(at, "old", { mode: 0o444 }),
      /read-only/,
      /check owner and mode/,
    ],
    ["a link to itself", (at: string) => symlinkSync(at, at), /symbolic links|ELOOP/, /leads back to itself/],
  ])("refuses %s with a hint and leaves no temporary file", async (_, make, message, hint) => {
    await using folder = await temporaryDirectory("ralph-files-");
    const path = join(folder.path, "target");
    make(path);

    const error = await writeAtomic(path, "x").catch((caught) => caught);

    expect(error).toMatchObject({ code: "file-unwritable", exitCode: 1, details: { path } });
    expect(error.message).toMatch(message);
    expect(error.hint).toMatch(hint);
    expect(readdirSync(folder.path)).toEqual(["target"]);
  });

  test("a folder below a file is refused", async () => {
    await expect(writeAtomic("/etc/passwd/x", "x")).rejects.toMatchObject({ code: "file-unwritable" });
    await expect(writeAtomic("/proc/ralph", "x")).rejects.toMatchObject({ code: "file-unwritable" });
  });

  test("a writer killed at any moment leaves a whole file, and its left-over is taken away by the next", async () => {
    await using folder = await temporaryDirectory("ralph-files-");
    const path = join(folder.path, "state");
    const [file, ...arguments_] = fixtureCommand("write_forever.ts");
    for (let round = 0; round < 8; round++) {
      const child = spawn(file, [...arguments_, path], { stdio: ["ignore", "pipe", "inherit"] });
      let ready = false;
      child.stdout.on("data", () => (ready = true));
      await waitUntil(() => ready && existsSync(path), 20_000);
      await wait(20 + round * 7);
      child.kill("SIGKILL");
      await new Promise((resolve) => child.on("exit", resolve));

      const text = readFileSync(path, "utf8");

      expect(text).toBe(text[0]!.repeat(200_000));
    }
    const again = spawn(file, [...arguments_, path], { stdio: "ignore" });
    await waitUntil(
      () => !readdirSync(folder.path).some((name) => name.endsWith(".ralph-tmp") && !name.includes(`.${again.pid}-`)),
      20_000,
    );
    again.kill("SIGKILL");
    await new Promise((resolve) => again.on("exit", resolve));
    expect(readdirSync(folder.path).length).toBeLessThanOrEqual(2);
  });

  test("a left-over whose writer's number another process has by now is taken away once it is old", async () => {
    await using folder = await temporaryDirectory("ralph-files-");
    const [old, young] = ["1", "2"].map((name) => `.${name}.${process.pid}-0123abcd.ralph-tmp`);
    for (const name of [old!, young!]) writeFileSync(join(folder.path, name), "half");
    const before = new Date(Date.now() - 3_600_000);
    utimesSync(join(folder.path, old!), before, before);

    await writeAtomic(join(folder.path, "state"), "whole");

    expect(readdirSync(folder.path).toSorted()).toEqual([young, "state"]);
  });

  test(
    "a left-over whose writer is a zombie, or whose number another process has, is taken away at once",
    only(existsSync("/proc/self/stat"), "/proc"),
    async () => {
      await using folder = await temporaryDirectory("ralph-files-");
      const parent = spawn("sh", ["-c", "exec 3<&0; cat <&3 & echo $!; exec sleep 60"], {
        stdio: ["pipe", "pipe", "ignore"],
      });
      onTestFinished(() => void parent.kill("SIGKILL"));
      const [printed] = await once(parent.stdout, "data") as [Buffer];
      const zombie = printed.toString().trim();
      // a shell would reap its child
      await expect.poll(() => readFileSync(`/proc/${parent.pid}/comm`, "latin1")).toBe("sleep\n");
      parent.stdin.end();
      await expect.poll(() => readFileSync(`/proc/${zombie}/stat`, "latin1")).toMatch(/\) Z /);
      const names = [zombie, parent.pid, process.pid].map((pid, index) =>
        `.${index}.${pid}-${index === 2 ? startOf(process.pid) : 1}-0123abcd.ralph-tmp`
      );
      for (const name of names) writeFileSync(join(folder.path, name), "half");

      await writeAtomic(join(folder.path, "state"), "whole");

      expect(readdirSync(folder.path).toSorted()).toEqual([names[2], "state"]);
    },
  );
});

describe("unwritable()", () => {
  test.each([
    ["ENOSPC", /the disk is full/],
    ["EROFS", /mounted read-only/],
    ["EACCES", /check owner and mode/],
    ["EWHATEVER", /check the disk/],
  ])("has a hint for %s", (code, hint) => {
    const cause = Object.assign(new Error(`${code}: it did not work, open '/x'`), { code });

    const error = unwritable("/x", cause);

    expect(error.message).toBe(`could not write /x: ${code}: it did not work`);
    expect(error.hint).toMatch(hint);
    expect(error.cause).toBe(cause);
  });
});

describe("removePath()", () => {
  test("says which file it could not take away, and why", needs("Linux"), async () => {
    await expect(removePath("/proc/self/status")).rejects.toMatchObject({
      code: "file-unwritable",
      message: expect.stringMatching(/^could not write \/proc\/self\/status: E(PERM|ACCES): /) as string,
    });
  });
});

describe("asNamed()", () => {
  test("names the first of two errors, where cleaning up has failed as well", () => {
    const first = unwritable("/a", Object.assign(new Error("ENOSPC: no space left"), { code: "ENOSPC" }));
    const both = Object.assign(new Error(""), { error: new Error("later"), suppressed: first });

    expect(asNamed(both)).toBe(first);
    expect(asNamed(new TypeError("not a function"))).toMatchObject({ code: "internal", message: "not a function" });
  });
});

describe("machineError()", () => {
  const thrown = (code: string, syscall: string, path?: string): Error =>
    Object.assign(new Error(`${code}: it failed, ${syscall}${path === undefined ? "" : ` '${path}'`}`), {
      code,
      syscall,
      path,
    });

  test("an error of the disk that nobody has named is the machine's, with the path, and no bug", () => {
    expect(machineError(thrown("EIO", "scandir", "/a"))).toMatchObject({
      code: "file-unreadable",
      message: "could not read /a: EIO: it failed",
    });
    expect(machineError(thrown("EIO", "rename", "/a"))).toMatchObject({ code: "file-unwritable" });
    expect(machineError(thrown("ENOSPC", "open", "/a"))?.hint).toContain("make room");
  });

  test("what only Ralph can have done wrong stays an error of its own", () => {
    expect(machineError(thrown("ENOSPC", "write"))?.message).toContain("an open file");
    expect(machineError(thrown("ENOENT", "open", "/a"))).toBeNull();
    expect(machineError(thrown("EIO", "read"))).toBeNull();
    expect(machineError(new TypeError("not a function"))).toBeNull();
  });
});

describe("adding, moving, copying", () => {
  test("appendText() and openAppender() make what is missing and add", async () => {
    await using folder = await temporaryDirectory("ralph-files-");
    const path = join(folder.path, "logs", "a.log");

    await appendText(path, "one\n");
    const appender = await openAppender(path);
    appender.write(new TextEncoder().encode("two\n"));
    appender.write(new Uint8Array(0));
    await appender.close();
    await appendText(path, "three\n");

    expect(await readText(path)).toBe("one\ntwo\nthree\n");
  });

  test("renamePath(), copyPath(), removePath() work on files and folders", async () => {
    await using folder = await temporaryDirectory("ralph-files-");
    const at = (name: string): string => join(folder.path, name);
    await writeAtomic(at("a/x"), "1");
    await ensureDirectory(at("a/empty"));

    await copyPath(at("a"), at("b/copy"));
    await copyPath(at("a/x"), at("b/copy/y"));
    await renamePath(at("a"), at("c/moved"));
    await removePath(at("b/copy/x"));
    await removePath(at("never there"));

    expect(await listDirectory(at("b/copy"))).toEqual(["empty", "y"]);
    expect(await listDirectory(at("c/moved"))).toEqual(["empty", "x"]);
    expect(await pathExists(at("a"))).toBe(false);
    await expect(removePath(at("b"))).rejects.toMatchObject({ code: "file-unwritable" });
    await removeOwn(at("b"), folder.path);
    expect(await pathExists(at("b"))).toBe(false);
  });
});

describe("resolveInside()", () => {
  test("gives the real path of what is, or will be, inside", async () => {
    await using folder = await temporaryDirectory("ralph-files-");
    mkdirSync(join(folder.path, "real"));
    symlinkSync("real", join(folder.path, "link"));

    expect(await resolveInside(folder.path, "link/new/file")).toBe(join(folder.path, "real/new/file"));
    expect(await resolveInside(folder.path, ".")).toBe(folder.path);
    expect(await resolveInside(folder.path, "..name")).toBe(join(folder.path, "..name"));
  });

  test("takes `..` away before links are followed", async () => {
    await using folder = await temporaryDirectory("ralph-files-");
    symlinkSync("/usr/lib", join(folder.path, "out"));

    expect(await resolveInside(folder.path, "out/../x")).toBe(join(folder.path, "x"));
  });

  test.each([["../x"], ["/etc/passwd"], ["out/x"], ["dangling"], ["a/../../b"]])("refuses %s", async (path) => {
    await using folder = await temporaryDirectory("ralph-files-");
    const root = join(folder.path, "root");
    mkdirSync(root);
    symlinkSync("/usr/lib", join(root, "out"));
    symlinkSync("../elsewhere", join(root, "dangling"));

    await expect(resolveInside(root, path)).rejects.toMatchObject({ code: "path-outside-root" });
  });
});
