import { expect, it } from "vitest";
import { oldManifest } from "../../../lib/checks/experiment/manifest.ts";

async function package_(before: unknown, after: unknown): Promise<unknown> {
  return JSON.parse(await oldManifest("package.json", JSON.stringify(before), JSON.stringify(after)));
}

it("dependencies are new, scripts and settings of runners are old", async () => {
  const before = { scripts: { test: "node --test" }, jest: { bail: true } };
  const after = {
    scripts: { test: "exit 0", build: "tsc", pretest: "x" },
    dependencies: { a: "1" },
    jest: {},
    mocha: {},
  };
  expect(await package_(before, after)).toEqual({
    scripts: { test: "node --test", build: "tsc" },
    dependencies: { a: "1" },
    jest: { bail: true },
  });
});

it("a nested array of TOML stays one value", async () => {
  const nested = (word: string): string =>
    `[tool.tox]\nenvs = ["a"]\ncommands = [\n    ["${word}"],\n    ["pyright"],\n]\n`;
  const { parse } = await import("smol-toml");
  const laid = await oldManifest("pyproject.toml", nested("mypy"), nested("exit"));
  expect(parse(laid)).toEqual(parse(nested("mypy")));
});

it("Cargo's features that were there are old, new ones stay", async () => {
  const { parse } = await import("smol-toml");
  const before = '[package]\nname = "a"\n[features]\ndefault = ["full"]\nfull = []\n';
  const after = '[package]\nname = "a"\nversion = "2.0.0"\n[features]\ndefault = []\nfull = []\nmore = []\n';
  expect(parse(await oldManifest("Cargo.toml", before, after))).toEqual({
    package: { name: "a", version: "2.0.0" },
    features: { default: ["full"], full: [], more: [] },
  });
});

it("a manifest that does not parse is old as a whole", async () => {
  expect(await oldManifest("package.json", "{}", "{ not json")).toBe("{}");
  expect(await oldManifest("setup.cfg", "[a]\n", "[b]\n")).toBe("[a]\n");
});

it("a manifest in which only dependencies changed is not touched", async () => {
  const after = '{ "dependencies": { "a": "2" } }';
  expect(await oldManifest("package.json", '{ "dependencies": { "a": "1" } }', after)).toBe(after);
});

it("Cargo's old features do not name dependencies that are gone", async () => {
  const { parse } = await import("smol-toml");
  const before = '[features]\ndefault = ["unicode"]\nunicode = ["dep:words", "more/std"]\n' +
    "[dependencies]\nwords = { version = '1', optional = true }\nmore = '1'\n";
  const after = "[dependencies]\nmore = '2'\n";
  expect(parse(await oldManifest("Cargo.toml", before, after))).toEqual({
    features: { default: ["unicode"], unicode: ["more/std"] },
    dependencies: { more: "2" },
  });
});
