import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { shellWord } from "../../lib/host/shell.ts";
import { describe, expect, test } from "vitest";
import { turnEnvironment } from "../../lib/agents/environment.ts";
import { turnFixture } from "./turn_fixture.ts";

describe("turnEnvironment()", () => {
  test("turnEnvironment() names the place, and puts this ralph first on PATH", async () => {
    await using fixture = turnFixture();
    const host = {
      ...fixture.host,
      environment: {
        ...fixture.host.environment,
        compiled: true,
        executable: "/bin/echo",
        variables: { PATH: "/usr/bin:/bin" },
      },
    };
    const place = { root: "/project", run: { id: "run-1" }, host, repository: { ralphDirectory: fixture.folder } };
    const item = { id: "US-001", kind: "story", title: "t", data: null };

    const environment = await turnEnvironment(place, item);

    expect(environment).toEqual({
      RALPH_ROOT: "/project",
      RALPH_RUN: "run-1",
      RALPH_CLAIMS: "",
      RALPH_ITEM: "US-001",
      PATH: `${fixture.folder}/bin:/usr/bin:/bin`,
    });
    const shim = join(fixture.folder, "bin/ralph");
    expect(statSync(shim).mode & 0o111).toBe(0o111);
    expect(execFileSync(shim, ["a b", "c'd"], { encoding: "utf8" })).toBe("a b c'd\n");
  });

  test("turnEnvironment() starts a script with the runtime that runs this one", async () => {
    await using fixture = turnFixture();
    const at = async (executable: string) => {
      const host = { ...fixture.host, environment: { ...fixture.host.environment, compiled: false, executable } };
      await turnEnvironment(
        { root: "/p", run: { id: "r" }, host, repository: { ralphDirectory: fixture.folder } },
        null,
      );
      return readFileSync(join(fixture.folder, "bin/ralph"), "utf8");
    };
    const program = shellWord(join(import.meta.dirname, "../../bin/ralph.ts"));

    expect(await at("/opt/it's/bun")).toBe(`#!/bin/sh\nexec '/opt/it'\\''s/bun' ${program} "$@"\n`);
    expect(await at("/opt/deno")).toBe(`#!/bin/sh\nexec /opt/deno run -A ${program} "$@"\n`);
  });

  test("turnEnvironment() leaves PATH alone outside a repository", async () => {
    await using fixture = turnFixture();

    const environment = await turnEnvironment(
      { root: "/p", run: { id: "r" }, host: fixture.host, repository: null },
      null,
    );

    expect(environment).toEqual({ RALPH_ROOT: "/p", RALPH_RUN: "r", RALPH_CLAIMS: "" });
  });
});
