import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bunPath, denoPath, packageScript, ROOT } from "../../tools/runtimes.mjs";
import { finish } from "./runtimes.ts";

const project = mkdtempSync(join(tmpdir(), "ralph-consumer-"));
const installed = join(project, "node_modules", "ralph");
let packed: readonly string[] = [];

beforeAll(async () => {
  const pack = await finish(["npm"], [
    "pack",
    "--json",
    "--ignore-scripts",
    "--pack-destination",
    project,
    "--loglevel=error",
  ], ROOT);
  const [{ filename, files }] = JSON.parse(pack.stdout) as [{ filename: string; files: { path: string }[] }];
  packed = files.map(({ path }) => path);
  writeFileSync(join(project, "package.json"), '{ "name": "consumer", "private": true, "type": "module" }\n');
  const install = await finish(
    ["npm"],
    ["install", "--prefer-offline", "--loglevel=error", `ralph@file:${filename}`],
    project,
    { NODE_EXTRA_CA_CERTS: process.env["CERTIFICATES_OF_NPM"] ?? "" },
  );
  if (install.code !== 0) throw new Error(install.stderr);
});

afterAll(() => rmSync(project, { recursive: true, force: true }));

describe("the npm package", () => {
  test("holds the built files and no sources, tests or binary", () => {
    const folders = [...new Set(packed.map((path) => path.split("/").slice(0, 2).join("/")))].sort();

    expect(folders.filter((path) => path.startsWith("dist"))).toEqual([
      "dist/bin",
      "dist/lib",
      "dist/man",
      "dist/recipes",
    ]);
    expect(packed.filter((path) => /(?<!\.d)\.ts$|\.map$|^(?:test|tools)\//.test(path))).toEqual([]);
  });

  test("names no `@std/*`, neither as a dependency nor in a file", () => {
    const { dependencies } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8")) as {
      dependencies: Record<string, string>;
    };
    const naming = packed.filter((path) =>
      /\.(?:js|d\.ts)$/.test(path) && /["']@std\//.test(readFileSync(join(installed, path), "utf8"))
    );

    expect(Object.keys(dependencies).filter((name) => name.startsWith("@std/"))).toEqual([]);
    expect(naming).toEqual([]);
  });

  test("has an executable command with a shebang", () => {
    const file = join(installed, "dist", "bin", "ralph.js");

    expect(statSync(file).mode & 0o111).toBe(0o111);
    expect(readFileSync(file, "utf8").split("\n")[0]).toBe("#!/usr/bin/env node");
  });

  test.each([
    ["node", [process.execPath]],
    ["bun", [bunPath()]],
    ["deno", [denoPath(), "run", "-A"]],
  ])("is imported, `ralph/testing` too, and sees one copy of itself in %s", async (_name, launch) => {
    writeFileSync(
      join(project, "use.mjs"),
      `import { RalphError } from "ralph";
import * as testing from "ralph/testing";
const own = await import("./node_modules/ralph/dist/lib/errors/ralph_error.js");
console.log(new RalphError("interrupted").exitCode, own.RalphError === RalphError, Object.keys(testing).length > 0);
`,
    );

    const finished = await finish([launch[0] as string, ...launch.slice(1)], ["use.mjs"], project);

    expect(finished).toMatchObject({ code: 0, stdout: "130 true true\n" });
  });

  test("starts from node_modules/.bin", async () => {
    const finished = await finish([join(project, "node_modules", ".bin", "ralph")], ["--version"], project);

    expect(finished).toMatchObject({ code: 0, stderr: "" });
  });

  test("types a consumer's file", async () => {
    writeFileSync(
      join(project, "typed.ts"),
      `import { defineRecipe, RalphError } from "ralph";
export default defineRecipe({ name: "x", run: (_ralph, { goal }) => Promise.resolve({ status: goal === "" ? "failed" : "passed" }) });
// @ts-expect-error there is no such code
new RalphError("no-such-code");
`,
    );

    const flags = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2023", "typed.ts"];
    const finished = await finish([process.execPath, packageScript("typescript", "tsc")], flags, project);

    expect(finished).toMatchObject({ code: 0, stdout: "" });
  });
});
