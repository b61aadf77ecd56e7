import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory, writeAtomic } from "../../../lib/host/files.ts";
import { findSpec } from "../../../lib/workflows/spec/find_spec.ts";

test("a spec has the shortest name that leads to it, and outside of the root its whole path", async () => {
  await using folder = await temporaryDirectory("ralph-spec-");
  const root = join(folder.path, "root");
  for (const path of ["root/specs/a.md", "root/ralph/specs/b.md", "root/specs/b.md", "c.md"]) {
    await writeAtomic(join(folder.path, path), "# a\n");
  }

  const nameOf = async (given: string): Promise<string | undefined> => (await findSpec(root, given))?.name;
  expect(await nameOf("a.md")).toBe("a.md");
  expect(await nameOf("b.md")).toBe("b.md");
  expect(await nameOf("specs/b.md")).toBe("specs/b.md");
  expect(await nameOf("../c.md")).toBe(join(folder.path, "c.md"));
  expect(await nameOf("d.md")).toBe(undefined);
});
