import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { createCommits } from "../../../lib/checks/experiment/commits.ts";
import process from "node:process";
import { type CheckoutWorld, checkoutWorld, printedIn, readyPlace } from "../checkout/checkout_world.ts";

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

  test("are nothing to another repository that has a commit of the same name", async () => {
    const dated = { GIT_AUTHOR_DATE: "2026-01-01T00:00:00Z", GIT_COMMITTER_DATE: "2026-01-01T00:00:00Z" };
    const start = async (world: CheckoutWorld, text: string): Promise<string> => {
      await world.write("a.txt", text);
      execFileSync("git", ["add", "--all"], { cwd: world.root });
      execFileSync("git", ["commit", "-q", "--amend", "--reset-author", "-m", "start"], {
        cwd: world.root,
        env: { ...process.env, ...dated },
      });
      return await world.git("rev-parse", "HEAD");
    };
    await using one = await checkoutWorld();
    await using other = await checkoutWorld();
    const base = await start(one, "a\n");
    const head = await start(other, "b\n");
    const commits = createCommits(one.ralph);
    const laid = await commits.lay(base, new Map([["a.txt", { mode: "100644", hash: commits.write("b\n", base) }]]));
    expect(laid).toBe(head);

    const place = await readyPlace(await other.open(), head);

    expect(await printedIn(other.ralph, place, "cat a.txt")).toBe("b");
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
