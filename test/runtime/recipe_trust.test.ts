import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isTrusted, trust, trustFile } from "../../lib/recipe/trust.ts";
import { readText, temporaryDirectory, writeAtomic } from "../../lib/host/files.ts";
import type { Environment } from "../../lib/host/types.ts";

const ROOT = "/no/such/project";

function environment(home: string, variables: Record<string, string> = {}, platform = "linux"): Environment {
  return {
    variables,
    platform,
    home,
    cwd: home,
    pid: 1,
    executable: "/usr/bin/ralph",
    script: null,
    compiled: true,
  };
}

describe("trust()", () => {
  test("remembers a recipe until its content changes", async () => {
    await using folder = await temporaryDirectory("ralph-trust-");
    const host = { environment: environment(folder.path) };
    const recipe = join(folder.path, "ralph.recipe.ts");
    await writeAtomic(recipe, "export default 1;\n");

    const before = await isTrusted({ host, root: ROOT }, recipe);
    await trust({ host, root: ROOT }, recipe);
    const after = await isTrusted({ host, root: ROOT }, recipe);
    await writeAtomic(recipe, "export default 2;\n");
    const changed = await isTrusted({ host, root: ROOT }, recipe);

    expect([before, after, changed]).toEqual([false, true, false]);
  });

  test("asks again when a file that the recipe imports has changed", async () => {
    await using folder = await temporaryDirectory("ralph-trust-");
    const host = { environment: environment(folder.path) };
    const [recipe, steps] = [join(folder.path, "ralph.recipe.ts"), join(folder.path, "steps.ts")] as const;
    await writeAtomic(recipe, 'import { steps } from "./steps.ts";\nexport default steps;\n');
    await writeAtomic(steps, "export const steps = 1;\n");
    await trust({ host, root: ROOT }, recipe);

    const before = await isTrusted({ host, root: ROOT }, recipe);
    await writeAtomic(steps, "export const steps = 2;\n");

    expect([before, await isTrusted({ host, root: ROOT }, recipe)]).toEqual([true, false]);
  });

  test("does not believe a list inside of the project", async () => {
    await using folder = await temporaryDirectory("ralph-trust-");
    const host = { environment: environment("/no/home", { XDG_STATE_HOME: join(folder.path, "state") }) };
    const recipe = join(folder.path, "ralph.recipe.ts");
    await writeAtomic(recipe, "1");
    await trust({ host, root: ROOT }, recipe);

    expect(await isTrusted({ host, root: ROOT }, recipe)).toBe(true);
    expect(await isTrusted({ host, root: folder.path }, recipe)).toBe(false);
  });

  test("keeps the other recipes, and one entry a path", async () => {
    await using folder = await temporaryDirectory("ralph-trust-");
    const host = { environment: environment(folder.path) };
    const [first, second] = [join(folder.path, "a.ts"), join(folder.path, "b.ts")] as const;
    await writeAtomic(first, "1");
    await writeAtomic(second, "2");

    await trust({ host, root: ROOT }, first);
    await trust({ host, root: ROOT }, second);
    await trust({ host, root: ROOT }, second);

    expect(await isTrusted({ host, root: ROOT }, first)).toBe(true);
    const list = JSON.parse(await readText(trustFile(host.environment)) ?? "") as { recipes: unknown[] };
    expect(list.recipes).toHaveLength(2);
  });

  test("refuses a file that does not exist", async () => {
    await using folder = await temporaryDirectory("ralph-trust-");

    const trusting = trust(
      { host: { environment: environment(folder.path) }, root: ROOT },
      join(folder.path, "none.ts"),
    );

    await expect(trusting).rejects.toMatchObject({ code: "recipe-invalid", exitCode: 2 });
  });
});

describe("isTrusted()", () => {
  test("trusts nothing when the list is damaged", async () => {
    await using folder = await temporaryDirectory("ralph-trust-");
    const host = { environment: environment(folder.path) };
    const recipe = join(folder.path, "ralph.recipe.ts");
    await writeAtomic(recipe, "1");
    await trust({ host, root: ROOT }, recipe);
    await writeAtomic(trustFile(host.environment), "{ not json");

    expect(await isTrusted({ host, root: ROOT }, recipe)).toBe(false);
  });

  test("does not trust the same content at another path", async () => {
    await using folder = await temporaryDirectory("ralph-trust-");
    const host = { environment: environment(folder.path) };
    const [first, copy] = [join(folder.path, "a.ts"), join(folder.path, "b.ts")] as const;
    await writeAtomic(first, "1");
    await writeAtomic(copy, "1");

    await trust({ host, root: ROOT }, first);

    expect(await isTrusted({ host, root: ROOT }, copy)).toBe(false);
  });
});

describe("trustFile()", () => {
  test.each([
    ["linux", {}, join("/home/me", ".local", "state", "ralph", "trusted_recipes.json")],
    ["linux", { XDG_STATE_HOME: "/state" }, join("/state", "ralph", "trusted_recipes.json")],
    ["linux", { XDG_STATE_HOME: "" }, join("/home/me", ".local", "state", "ralph", "trusted_recipes.json")],
    ["win32", { LOCALAPPDATA: "/local" }, join("/local", "ralph", "trusted_recipes.json")],
    ["win32", {}, join("/home/me", "AppData", "Local", "ralph", "trusted_recipes.json")],
  ])("on %s with %j is %s", (platform, variables, expected) => {
    expect(trustFile(environment("/home/me", variables, platform))).toBe(expected);
  });
});
