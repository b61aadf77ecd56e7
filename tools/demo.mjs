/** `npm run demo`: builds the binary where it is missing or older than the sources, and runs `ralph demo`. */
import { spawn } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { mustRun, ROOT } from "./runtimes.mjs";

const BINARY = join(ROOT, "dist", process.platform === "win32" ? "ralph.exe" : "ralph");

function modifiedAt(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function newestSource() {
  const files = ["bin", "lib", "prompts", "recipes"].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true }).map((name) => join(ROOT, folder, name))
  );
  return Math.max(...files.map(modifiedAt));
}

if (modifiedAt(BINARY) < newestSource()) {
  await mustRun(process.execPath, [join(ROOT, "tools", "build.mjs")], { capture: true });
}
const child = spawn(BINARY, ["demo", ...process.argv.slice(2)], { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => signal === "SIGTERM" && child.kill(signal));
child.on("close", (code) => process.exitCode = code ?? 1);
