import { describe, expect, test } from "vitest";
import { loopWorld } from "../loop/loop_world.ts";

describe("putBack()", () => {
  test("puts back what Ralph wrote, or what the backlog makes of both; what stays as found is not told", async () => {
    await using world = await loopWorld(async () => {}, { files: { a: "a1", b: "b1", c: "c1" } });
    const { state } = world.ralph;
    await state.adopt(["a", "b", "c"]);
    for (const name of ["a", "b", "c"]) await world.write(name, `${name}2`);

    const restore = ({ path, found, written }: { path: string; found: string; written: string }): string =>
      path === "a" ? written : path === "b" ? `${found}+${written}` : found;
    const takenBack = await state.putBack(await state.edited(["a", "b", "c"]), restore);

    expect(takenBack).toEqual(["a", "b"]);
    expect([await state.read("a"), await state.read("b"), await state.read("c")]).toEqual(["a1", "b2+b1", "c2"]);
    expect(await state.edited(["a", "b", "c"])).toEqual([]);
  });
});
