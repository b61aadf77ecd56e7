import { dirname, join } from "node:path";
import { realPathOf } from "./bubblewrap.ts";
import { namesIn } from "./looks.ts";
import { findExecutable } from "./shell.ts";
import type { Environment } from "./types.ts";

/**
 * bubblewrap on PATH, or else the one that an installed codex brings.
 *
 * @returns an absolute path, or `null`
 */
export async function findBubblewrapProgram(environment: Environment): Promise<string | null> {
  if (environment.platform !== "linux") return null;
  const found = await findExecutable("bwrap", environment, "/");
  if (found !== null) return found;
  const codex = realPathOf(await findExecutable("codex", environment, "/") ?? "");
  // an agent can change what is in the project, and this program decides what a check sees
  if (codex === null || codex.startsWith(`${environment.cwd}/`)) return null;
  const scope = dirname(dirname(dirname(codex))); // …/@openai of …/@openai/codex/bin/codex.js
  for (const folder of [...below(scope), ...below(join(scope, "codex/node_modules/@openai"))]) {
    for (const platform of below(join(folder, "vendor"))) {
      const program = await findExecutable(join(platform, "codex-resources/bwrap"), environment, "/");
      if (program !== null) return program;
    }
  }
  return null;
}

function below(folder: string): readonly string[] {
  return namesIn(folder).map((name) => join(folder, name)); // none where codex was installed in another way
}
