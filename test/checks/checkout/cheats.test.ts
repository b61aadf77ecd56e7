import { execFileSync } from "node:child_process";
import { chmod, mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { verify } from "../../../lib/checks/verify.ts";
import { type CheckoutWorld, checkoutWorld, outcomeIn, readyPlace } from "./checkout_world.ts";

const CHECK = "grep -q right product.txt";

/** A turn that makes the check green in the tree while HEAD has a stub. */
const CHEATS: Record<string, (world: CheckoutWorld) => Promise<void>> = {
  "nothing is committed": (world) => world.write("product.txt", "right\n"),
  "an index flag hides the change": async (world) => {
    await world.git("update-index", "--assume-unchanged", "product.txt");
    await world.write("product.txt", "right\n");
    await world.commit();
  },
  "a skipped file": async (world) => {
    await world.git("update-index", "--skip-worktree", "product.txt");
    await world.write("product.txt", "right\n");
    await world.commit();
  },
  "the exclude file of the git directory": async (world) => {
    await world.git("rm", "-q", "--cached", "product.txt");
    await world.write(".git/info/exclude", "product.txt\n");
    await world.write("product.txt", "right\n");
    await world.commit();
  },
  "a clean filter that is named in the git directory": async (world) => {
    await world.git("config", "filter.hide.clean", "sed s/right/stub/");
    await world.git("config", "filter.hide.smudge", "sed s/stub/right/");
    await world.write(".git/info/attributes", "product.txt filter=hide\n");
    await world.write("product.txt", "right\n# more\n");
    await world.commit();
  },
  "a commit of the index alone": async (world) => {
    await world.write("product.txt", "right\n");
    const blob = execFileSync("git", ["hash-object", "-w", "--stdin"], {
      cwd: world.root,
      input: "stub2\n",
      encoding: "utf8",
    });
    await world.git("update-index", "--cacheinfo", `100644,${blob.trim()},product.txt`);
    await world.git("commit", "-qm", "index");
  },
  "git replace": async (world) => {
    await world.write("product.txt", "stub2\n");
    await world.commit();
    const stub = await world.git("rev-parse", "HEAD:product.txt");
    const right = execFileSync("git", ["hash-object", "-w", "--stdin"], {
      cwd: world.root,
      input: "right\n",
      encoding: "utf8",
    });
    await world.git("replace", stub, right.trim());
    await world.write("product.txt", "right\n");
  },
  "a nested repository": async (world) => {
    await rm(join(world.root, "product.txt"));
    await mkdir(join(world.root, "lib"));
    const inside = { cwd: join(world.root, "lib") };
    await world.write("lib/product.txt", "right\n");
    execFileSync("git", ["init", "-q"], inside);
    execFileSync("git", ["add", "-A"], inside);
    execFileSync("git", ["-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "x"], inside);
    await world.git("-c", "advice.addEmbeddedRepo=false", "add", "-A");
    await world.git("commit", "-qm", "nested");
    await world.git("config", "-f", ".gitmodules", "submodule.lib.path", "lib");
  },
  "a tampered checkout": async (world) => {
    await world.write("product.txt", "right\n");
    const top = join(world.cache, "checkouts");
    const tree = execFileSync("sh", ["-c", `echo ${top}/*/tree/*`], { encoding: "utf8" }).trim();
    await writeFile(join(tree, "product.txt"), "right\n");
    await writeFile(join(tree, ".git/info/exclude"), "*\n");
    execFileSync("git", ["update-index", "--assume-unchanged", "product.txt"], {
      cwd: tree,
      env: { ...process.env, GIT_INDEX_FILE: join(dirname(dirname(tree)), "index") },
    });
  },
  "a forged object in the checkout": async (world) => {
    await world.write("product.txt", "right\n");
    const script = `cd ${world.cache}/checkouts/*/tree/* && mv .git/objects/pack ../pack && mkdir .git/objects/pack &&
      for pack in ../pack/*.pack; do git unpack-objects -q < $pack; done && rm -rf ../pack &&
      stub=$(git rev-parse HEAD:product.txt) && right=$(git hash-object -w ${world.root}/product.txt) && cd .git/objects &&
      chmod u+w "$(echo $stub | cut -c1-2)"/* &&
      cp "$(echo $right | sed 's,^..,&/,')" "$(echo $stub | sed 's,^..,&/,')" && echo changed > ../../product.txt`;
    execFileSync("sh", ["-c", script]);
  },
};

describe.each([true, false])("a check that is green in the tree alone (bubblewrap: %s)", (bubblewrap) => {
  test.each(Object.entries(CHEATS))("is red in the checkout: %s", async (_, cheat) => {
    await using world = await checkoutWorld({ files: { "product.txt": "stub\n" } }, bubblewrap);
    const checkout = await world.open();
    await readyPlace(checkout);
    await cheat(world);
    const check = `${CHECK} || grep -q right lib/product.txt`;

    const inTree = await verify(world.ralph, [check]);
    const inCheckout = await outcomeIn(world.ralph, await readyPlace(checkout), check);

    expect([inTree.status, inCheckout.ok]).toEqual(["passed", false]);
  });

  test("a forged object is refused", async () => {
    await using world = await checkoutWorld({ files: { "product.txt": "stub\n" } }, bubblewrap);
    const checkout = await world.open();
    await readyPlace(checkout);
    await world.write("product.txt", "stub2\n");
    await world.commit();
    const stub = await world.git("rev-parse", "HEAD:product.txt");
    const right = execFileSync("git", ["hash-object", "-w", "--stdin"], {
      cwd: world.root,
      input: "right\n",
      encoding: "utf8",
    });
    const file = (name: string): string => join(world.root, ".git/objects", name.slice(0, 2), name.trim().slice(2));
    await chmod(file(stub), 0o644);
    await writeFile(file(stub), execFileSync("cat", [file(right)]));
    await world.write("product.txt", "right\n");

    const up = await checkout.bringUp();

    expect(up).toMatchObject({
      status: "failed",
      reason: expect.stringMatching(/^`git index-pack` failed: did not receive expected object/),
    });
  });
});
