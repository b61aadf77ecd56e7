import { chmodSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { createHost } from "../../lib/host/create_host.ts";
import { temporaryDirectory } from "../../lib/host/files.ts";
import { findBubblewrapProgram } from "../../lib/host/find_bubblewrap.ts";
import { needs } from "../needs.ts";

const BWRAP = "vendor/x86_64-unknown-linux-musl/codex-resources/bwrap";

function program(path: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, "#!/bin/sh\n");
  chmodSync(path, 0o755);
  return path;
}

/** codex as npm installs it, with the package of the platform at this place. @returns what PATH has to name */
function installCodex(root: string, platformPackage: string): string {
  const script = program(join(root, "lib/node_modules/@openai/codex/bin/codex.js"));
  program(join(root, "lib/node_modules/@openai", platformPackage, BWRAP));
  mkdirSync(join(root, "bin"));
  symlinkSync(script, join(root, "bin/codex"));
  return join(root, "bin");
}

describe("findBubblewrapProgram()", needs("Linux"), () => {
  test.each(["codex-linux-x64", "codex", "codex/node_modules/@openai/codex-linux-x64"])(
    "finds the one in %s where none is on PATH",
    async (place) => {
      await using folder = await temporaryDirectory("codex");
      const root = realpathSync(folder.path);
      const environment = { ...createHost().environment, variables: { PATH: installCodex(root, place) } };

      const found = await findBubblewrapProgram(environment);

      expect(found).toBe(join(root, "lib/node_modules/@openai", place, BWRAP));
    },
  );

  test("prefers the one on PATH", async () => {
    await using folder = await temporaryDirectory("codex");
    const bin = installCodex(folder.path, "codex");
    const own = program(join(folder.path, "own/bwrap"));
    const environment = { ...createHost().environment, variables: { PATH: `${bin}:${join(folder.path, "own")}` } };

    expect(await findBubblewrapProgram(environment)).toBe(own);
  });

  test("takes none that the project holds, which an agent could change, and none that cannot be started", async () => {
    await using folder = await temporaryDirectory("codex");
    const root = realpathSync(folder.path);
    const variables = { PATH: installCodex(root, "codex") };
    const { environment } = createHost();

    expect(await findBubblewrapProgram({ ...environment, variables, cwd: root })).toBeNull();
    chmodSync(join(root, "lib/node_modules/@openai/codex", BWRAP), 0o644);
    expect(await findBubblewrapProgram({ ...environment, variables })).toBeNull();
  });
});
