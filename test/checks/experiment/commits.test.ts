import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { createCommits } from "../../../lib/checks/experiment/commits.ts";
import { checkoutWorld, printedIn, readyPlace } from "../checkout/checkout_world.ts";

const FILES = {
  "a.txt": "a\n",
  "a/b.txt": "b\n",
  "a-b/c.txt": "c\n",
  "a/d/é.txt": "é\n",
  "z\u{10000}/z": "z\n",
  "zﾰ": "y\n",
};

describe("commits of experiments", () => {
  test("have the names that git gives them, and are in no repository", async () => {
    await using world = await checkoutWorld({ files: FILES });
    const base = await world.commit();
    const commits = createCommits(world.ralph);
    const layers = [["a/d/é.txt", "new"], ["a", "a file in the place of a folder"], ["n/m/o.txt", "o"]] as const;
    const before = await world.git("count-objects");

    for (const layer of layers) {
      const [path, text] = layer;
      const laid = await commits.lay(base, new Map([[path, { mode: "100644", hash: commits.write(text, base) }]]));
      const place = await readyPlace(await world.open(), laid);

      expect(
        await printedIn(world.ralph, place, `git status --porcelain; git fsck --strict --no-dangling; cat ${path}`),
      ).toBe(text);
      expect(place.commit).toBe(laid);
      expect(await commits.containing(laid, [text])).toEqual([path]);
    }
    expect(await world.git("count-objects")).toBe(before);
  });

  test("come with files that are in nothing that the branch leads to, also over each other and in a partial clone", async () => {
    await using origin = await checkoutWorld({ files: FILES });
    const first = await origin.commit();
    await origin.git("config", "uploadpack.allowFilter", "true");
    await using world = await checkoutWorld();
    for (const more of [[], ["--filter=blob:none"]]) {
      execFileSync("rm", ["-rf", world.root]);
      execFileSync("git", ["clone", "-q", ...more, `file://${origin.root}`, world.root]);
      await world.git("config", "user.email", "a@example.com");
      await world.git("config", "user.name", "A");
      await world.write("a.txt", "gone\n");
      const gone = await world.commit();
      await world.git("reset", "-q", "--hard", first);
      const commits = createCommits(world.ralph);
      const over = await commits.lay(first, new Map([["a.txt", (await commits.entries(gone)).get("a.txt")!]]));
      const twice = await commits.lay(over, new Map([["b.txt", { mode: "100644", hash: commits.write("b", first) }]]));
      const checkout = await world.open();
      await readyPlace(checkout);

      const place = await readyPlace(checkout, twice);

      const look = "cat a.txt b.txt; git log --format=%s; git status --porcelain";
      expect(await printedIn(world.ralph, place, look)).toMatch(/^gone\nb\w+/);
    }
  });
});
