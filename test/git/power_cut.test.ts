import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { describe, expect, test } from "vitest";
import { temporaryRepository } from "./temporary_repository.ts";
import { needs } from "../needs.ts";

describe("what a power cut leaves", () => {
  test("a torn index is made anew from HEAD, and kept beside Ralph's own files", async () => {
    await using made = await temporaryRepository({ "a.txt": "a\n", "b.txt": "b\n" });
    const index = join(made.path, ".git/index");
    truncateSync(index, Math.floor(statSync(index).size / 2));

    const kept = await made.repository.ensureReady();

    expect(made.git("status", "--porcelain")).toBe("");
    expect(dirname(kept ?? "")).toBe(join(made.path, ".git/ralph/torn"));
    expect(existsSync(kept ?? "")).toBe(true);
  });

  test("a whole index is left as it is, what is staged included", async () => {
    await using made = await temporaryRepository({ "a.txt": "a\n" });
    made.write({ "new.txt": "new\n" });
    made.git("add", "new.txt");

    expect(await made.repository.ensureReady()).toBe(null);

    expect(made.git("status", "--porcelain")).toBe("A  new.txt\n");
  });

  test("an object that is empty is set aside, and the branch that needs it is back where it was", async () => {
    await using made = await temporaryRepository({ "a.txt": "a\n" });
    const since = Date.now();
    const head = made.git("rev-parse", "HEAD").trim();
    made.write({ "b.txt": "b\n" });
    made.git("add", "b.txt");
    made.git("commit", "-qm", "the agent's");
    const blob = made.git("rev-parse", "HEAD:b.txt").trim();
    const object = join(made.path, ".git/objects", blob.slice(0, 2), blob.slice(2));
    emptied(object);

    const repaired = await made.repository.repairDamage({ since, head });

    expect(repaired).toMatchObject({ objects: 1, branch: "main" });
    expect(made.git("rev-parse", "HEAD").trim()).toBe(head);
    expect(readFileSync(join(made.path, "b.txt"), "utf8")).toBe("b\n");
    expect(readdirSync(join(made.path, ".git/ralph/torn"))).toContain(blob);
    expect(existsSync(repaired.index ?? "")).toBe(true);
    made.git("add", "b.txt"); // git writes the object again
    made.git("fsck", "--no-dangling");
  });

  test("a branch that was written as nothing is back where it was", async () => {
    await using made = await temporaryRepository({ "a.txt": "a\n" });
    const head = made.git("rev-parse", "HEAD").trim();
    writeFileSync(join(made.path, ".git/refs/heads/main"), "");

    const repaired = await made.repository.repairDamage({ since: Date.now(), head });

    expect(repaired).toEqual({ objects: 0, branch: "main", index: null });
    expect(made.git("rev-parse", "HEAD").trim()).toBe(head);
  });

  test("a whole repository is left as it is, an agent's commit included", async () => {
    await using made = await temporaryRepository({ "a.txt": "a\n" });
    const head = made.git("rev-parse", "HEAD").trim();
    const since = Date.now();
    made.write({ "b.txt": "b\n" });
    made.git("add", "b.txt");
    made.git("commit", "-qm", "the agent's");
    const after = made.git("rev-parse", "HEAD").trim();

    expect(await made.repository.repairDamage({ since, head })).toEqual({ objects: 0, branch: null, index: null });
    expect(made.git("rev-parse", "HEAD").trim()).toBe(after);
  });

  test(
    "hundreds of files are waited for by one call for their file system",
    needs("Linux"),
    async () => {
      const folder = mkdtempSync(join(tmpdir(), "ralph-sync-"));
      const log = join(folder, "log");
      writeFileSync(join(folder, "sync"), `#!/bin/sh\necho "$*" >> '${log}'\nexec /bin/sync "$@"\n`, { mode: 0o755 });
      await using made = await temporaryRepository({ "a.txt": "a\n" }, { PATH: `${folder}:${process.env["PATH"]}` });
      const paths = Array.from({ length: 600 }, (_, index) => `many/${index}.txt`);
      made.write(Object.fromEntries(paths.map((path) => [path, "x\n"])));

      await made.repository.persist(paths.slice(0, 100));
      expect(existsSync(log)).toBe(false);
      await made.repository.persist([...paths, "gone.txt", "a.txt/below.txt"]);

      expect(readFileSync(log, "utf8")).toBe(`-f ${made.path}\n`);
      rmSync(folder, { recursive: true });
    },
  );
});

/** Objects are read-only: made anew. */
function emptied(path: string): void {
  rmSync(path);
  writeFileSync(path, "");
}
