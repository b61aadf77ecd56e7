/** `npm run demo`: `ralph demo` from the sources. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { bunPath, ROOT } from "./runtimes.mjs";

const child = spawn(bunPath(), [join(ROOT, "bin", "ralph.ts"), "demo", ...process.argv.slice(2)], { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => signal === "SIGTERM" && child.kill(signal));
child.on("close", (code) => process.exitCode = code ?? 1);
