import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createHost, isCompiled } from "../../lib/host/create_host.ts";
import { temporaryDirectory } from "../../lib/host/files.ts";
import { findExecutable, shellInvocation } from "../../lib/host/shell.ts";

const host = createHost();

describe("clock", () => {
  test("every() acts again and again until it is disposed of", async () => {
    const { clock } = createHost();
    let count = 0;
    await new Promise<void>((resolve) => {
      const ticker = clock.every(5, () => {
        count += 1;
        if (count < 3) return;
        ticker[Symbol.dispose]();
        resolve();
      });
    });

    await clock.sleep(50);

    expect(count).toBe(3);
  });

  test("sleep() ends at once when the signal aborts, before or meanwhile", async () => {
    const abort = new AbortController();
    const start = performance.now();
    setTimeout(() => abort.abort(), 20);

    await host.clock.sleep(60_000, abort.signal);
    await host.clock.sleep(60_000, abort.signal);

    expect(performance.now() - start).toBeLessThan(5000);
    expect(Math.abs(host.clock.now() - Date.now())).toBeLessThan(1000);
  });
});

describe("ids", () => {
  test("random() gives as many letters as asked for, and others each time", () => {
    const names = new Set(Array.from({ length: 500 }, () => host.ids.random(8)));

    expect(names.size).toBe(500);
    expect([...names].every((name) => /^[a-z0-9]{8}$/.test(name))).toBe(true);
    expect(host.ids.random(0)).toBe("");
  });
});

describe("environment", () => {
  test("tells this process", () => {
    expect(host.environment).toMatchObject({
      pid: process.pid,
      cwd: process.cwd(),
      compiled: false,
      platform: process.platform,
    });
    expect(host.environment.executable).toBe(process.execPath);
  });

  test.each([
    ["file:///$bunfs/root/ralph.js", true],
    ["/$bunfs/root/ralph", true],
    ["file:///B:/~BUN/root/ralph.js", true],
    ["file:///home/me/lib/host/environment.ts", false],
  ])("isCompiled(%s) is %s", (url, expected) => {
    expect(isCompiled(url)).toBe(expected);
  });
});

describe("findExecutable()", () => {
  test("looks along PATH, skips folders and files that may not be run", async () => {
    await using folder = await temporaryDirectory("ralph-path-");
    const at = (name: string): string => join(folder.path, name);
    for (const name of ["a", "b", "c"]) mkdirSync(at(name));
    mkdirSync(at("a/tool"));
    writeFileSync(at("b/tool"), "");
    chmodSync(at("b/tool"), 0o644);
    writeFileSync(at("c/tool"), "#!/bin/sh\n", { mode: 0o755 });
    const environment = { ...host.environment, variables: { PATH: `${at("a")}:${at("b")}:${at("c")}` } };

    expect(await findExecutable("tool", environment, "/")).toBe(at("c/tool"));
    expect(await findExecutable("./c/tool", environment, folder.path)).toBe(at("c/tool"));
    expect(await findExecutable("b/tool", environment, folder.path)).toBeNull();
    expect(await findExecutable("nothing", environment, "/")).toBeNull();
    expect(await findExecutable("", environment, "/")).toBeNull();
  });
});

describe("shellInvocation()", () => {
  test("is bash where there is bash, and a failure before a pipe is one", async () => {
    const shell = await shellInvocation("false | cat", host.environment);

    expect(shell.arguments.slice(0, -1)).toEqual(["--norc", "-c"]);
    expect((await host.processes.run({ ...shell, cwd: "/" })).exitCode).toBe(1);
  });

  test("is sh where there is no bash", async () => {
    const environment = { ...host.environment, variables: { PATH: "/nowhere" } };

    expect(await shellInvocation("true", environment)).toEqual({ file: "/bin/sh", arguments: ["-c", "true"] });
  });

  test("is cmd on a Windows without git", async () => {
    const environment = {
      ...host.environment,
      platform: "win32",
      variables: { Path: "C:\\nowhere", ComSpec: "C:\\cmd.exe" },
    };

    expect(await shellInvocation("dir", environment)).toEqual({
      file: "C:\\cmd.exe",
      arguments: ["/d", "/s", "/c", "dir"],
    });
  });
});
