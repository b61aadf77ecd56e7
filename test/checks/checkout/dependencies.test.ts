import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { checkoutWorld, outcomeIn, printedIn, readyPlace } from "./checkout_world.ts";

const FILES = { ".gitignore": "node_modules\nlarge\n", "package-lock.json": "{}\n" };

describe.each([true, false])("the dependencies of a checkout (bubblewrap: %s)", (bubblewrap) => {
  test("are taken from the tree, and that is told, where a lock file differs or a folder came later", async () => {
    await using world = await checkoutWorld({ files: FILES }, bubblewrap);
    const checkout = await world.open();
    const before = await readyPlace(checkout);
    await world.write("node_modules/a.js", "late\n");

    const later = await readyPlace(checkout);
    const late = await printedIn(world.ralph, later, "cat node_modules/a.js");
    await world.write("package-lock.json", '{"x": 1}\n');
    await world.write("node_modules/a.js", "later\n");
    await world.commit();
    const last = await readyPlace(checkout);

    expect([before.dependencies, before.copied]).toEqual(["as at the start", []]);
    expect([later.dependencies, later.copied, late]).toEqual(["taken", ["node_modules"], "late"]);
    expect([last.dependencies, await printedIn(world.ralph, last, "cat node_modules/a.js")]).toEqual([
      "taken",
      "later",
    ]);
  });

  test("are installed in the checkout by `workspace.setup`, once for the same lock files", async () => {
    const setup = "mkdir -p node_modules && cat package-lock.json > node_modules/installed && echo x >> $COUNTED";
    await using world = await checkoutWorld({ files: FILES, config: { workspace: { setup } } }, bubblewrap);
    await world.write("node_modules/a.js", "a\n");
    const counted = join(world.cache, "counted");
    const environment = { ...world.ralph.host.environment };
    environment.variables = { ...environment.variables, COUNTED: counted };
    const checkout = await world.open({ host: { ...world.ralph.host, environment } });
    const before = await readyPlace(checkout);
    await world.write("package-lock.json", '{"x": 1}\n');
    await world.commit();

    const seen: string[] = [];
    for (const path of ["b.txt", "c.txt"]) {
      const place = await readyPlace(checkout);
      seen.push(place.dependencies, await printedIn(world.ralph, place, "ls node_modules; cat node_modules/installed"));
      await world.write(path, "x\n");
      await world.commit();
    }

    expect(before.dependencies).toBe("as at the start");
    expect(seen).toEqual(["installed", 'installed\n{"x": 1}', "installed", 'installed\n{"x": 1}']);
    expect(await readFile(counted, "utf8")).toBe("x\n");
  });

  test("a setup that fails is a value with the end of what it printed", async () => {
    const config = { workspace: { setup: "echo no network >&2; exit 3" } };
    await using world = await checkoutWorld({ files: FILES, config }, bubblewrap);
    const checkout = await world.open();
    await readyPlace(checkout);
    await world.write("package-lock.json", '{"x": 1}\n');
    await world.commit();

    expect(await checkout.bringUp()).toEqual({ status: "failed", reason: "workspace.setup: no network" });
  });

  test("a folder that `workspace.link` names is shared with the tree", async () => {
    await using world = await checkoutWorld({ files: FILES, config: { workspace: { link: ["large"] } } }, bubblewrap);
    await world.write("large/data", "x\n");
    const place = await readyPlace(await world.open());
    await writeFile(join(world.root, "large/data"), "now\n");

    expect(await outcomeIn(world.ralph, place, "cat large/data; git status --short")).toMatchObject({
      ok: true,
      tail: "now",
    });
  });
});
