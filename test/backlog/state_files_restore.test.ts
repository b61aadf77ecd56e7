import { mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "../../lib/host/files.ts";
import { loopWorld } from "../loop/loop_world.ts";

describe("restore()", () => {
  test("puts back what Ralph wrote, or what the backlog makes of both; what stays as found is not told", async () => {
    await using world = await loopWorld(async () => {}, { files: { a: "a1", b: "b1", c: "c1" } });
    const { state } = world.ralph;
    await state.adopt(["a", "b", "c"]);
    for (const name of ["a", "b", "c"]) await world.write(name, `${name}2`);

    state.parts.set("b", ({ found, written }) => `${found}+${written}`);
    state.parts.set("c", ({ found }) => found);
    const restored = await state.restore(await state.edited(["a", "b", "c"]));

    expect(restored).toEqual(["a", "b"]);
    expect([await state.read("a"), await state.read("b"), await state.read("c")]).toEqual(["a1", "b2+b1", "c2"]);
    expect(await state.edited(["a", "b", "c"])).toEqual([]);
  });

  test("a folder, and a link that leads out of the root, give way to the file", async () => {
    await using world = await loopWorld(async () => {}, { files: { a: "a1", b: "b1" } });
    await using outside = await temporaryDirectory("ralph-outside");
    const { state } = world.ralph;
    await state.adopt(["a", "b"]);
    for (const name of ["a", "b"]) await rm(join(world.root, name));
    await mkdir(join(world.root, "a/inner"), { recursive: true });
    await writeFile(join(outside.path, "b"), "theirs");
    await symlink(join(outside.path, "b"), join(world.root, "b"));

    await state.restore(await state.edited(["a", "b"]));

    expect([await state.read("a"), await state.read("b")]).toEqual(["a1", "b1"]);
    expect(await readFile(join(outside.path, "b"), "utf8")).toBe("theirs");
  });
});
