/**
 * Puts the real programs and the scripted model server in place, and takes them away again.
 *
 *   RALPH_SHARED           folder that holds mock-llm/ (default: ../shared beside the project)
 *   RALPH_AGENTS           which programs, with commas (default: all nine)
 *   RALPH_AGENTS_PREFIX    where they are installed and stay (default: a temporary folder, about 2.5 GB for all)
 */
import { spawn, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const NAMES = ["claude", "codex", "opencode", "gemini", "qwen", "copilot", "cline", "pi", "amp", "builtin"];

export default async function setup(): Promise<() => void> {
  const mock = join(process.env["RALPH_SHARED"] ?? resolve(import.meta.dirname, "../../../shared"), "mock-llm");
  if (!existsSync(mock)) throw new Error(`no scripted model server in ${mock}: set RALPH_SHARED`);
  const names = process.env["RALPH_AGENTS"]?.split(",") ?? NAMES;
  const folder = mkdtempSync(join(tmpdir(), "ralph-agents-"));
  const prefix = process.env["RALPH_AGENTS_PREFIX"] ?? join(folder, "prefix");
  if (names.some((name) => !installed(prefix, name))) {
    const done = spawnSync("bash", [join(mock, "install.sh"), prefix, ...names.filter((name) => name !== "builtin")], {
      stdio: "inherit",
    });
    if (done.status !== 0) throw new Error("the programs could not be installed");
  }
  ampProgram(prefix);

  const script = join(folder, "script.json");
  copyFileSync(join(import.meta.dirname, "cases.json"), script);
  const server = spawn(join(prefix, "bin/node"), [join(mock, "mock-llm.mjs"), "--port", "0", "--script", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const url = await new Promise<string>((found, failed) => {
    server.once("exit", () => failed(new Error("the model server ended")));
    server.stdout.once("data", (line: Buffer) => found((JSON.parse(line.toString("utf8")) as { url: string }).url));
  });
  process.env["RALPH_REAL"] = JSON.stringify({ prefix, url, script, names });
  return () => {
    server.kill();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
}

function installed(prefix: string, name: string): boolean {
  if (name === "builtin") return true;
  return existsSync(
    join(prefix, name === "amp" ? "amp-local/node_modules/@sourcegraph/amp" : `node_modules/.bin/${name}`),
  );
}

/** The newest build whose loop runs in the program itself lies in a folder of its own. */
function ampProgram(prefix: string): void {
  const main = join(prefix, "amp-local/node_modules/@sourcegraph/amp/dist/main.js");
  if (!existsSync(main)) return;
  mkdirSync(join(prefix, "ralph-bin"), { recursive: true });
  writeFileSync(join(prefix, "ralph-bin/amp"), `#!/bin/sh\nexec node ${main} "$@"\n`, { mode: 0o755 });
}
