/**
 * Runs the shell examples of the documentation that say so, in a copy of a small project:
 *
 *   <!-- example NAME -->         the block below runs in the project of test/fixtures/docs/NAME
 *   <!-- example NAME: PATH -->   it is written there as a file
 *
 * The fixture's `bin/` is on PATH, and `ralph` is the sources'. Its `check.sh` runs last.
 */
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { bunPath, environment, mustRun, ROOT, run } from "./runtimes.mjs";

const HEAD = /^<!-- example (?<name>[\w-]+)(?:: (?<file>\S+))? -->\n+/;
const FENCE = /```(?:sh|json|yaml|ts)\n(?<text>[\s\S]*?)^```$/;
const EXAMPLE_REGEXP = new RegExp(HEAD.source + FENCE.source, "gm");

/** The examples of a document, in its order. */
function examplesOf(path) {
  return [...readFileSync(join(ROOT, path), "utf8").matchAll(EXAMPLE_REGEXP)].map(({ groups }) => ({
    path,
    ...groups,
  }));
}

/** Runs all that these documents show. @returns exit code and, where it is not 0, what was printed */
export async function runShellExamples(paths) {
  const examples = paths.flatMap(examplesOf);
  if (examples.length === 0) return { code: 1, output: "no shell example was found" };
  for (const name of new Set(examples.map((example) => example.name))) {
    const failure = await runIn(name, examples.filter((example) => example.name === name));
    if (failure !== null) return { code: 1, output: failure };
  }
  return { code: 0, output: `${examples.length} shell examples` };
}

async function runIn(name, examples) {
  const fixture = join(ROOT, "test/fixtures/docs", name);
  const folder = mkdtempSync(join(tmpdir(), "ralph-docs-"));
  const project = join(folder, "project");
  try {
    const env = setUp(fixture, folder);
    await mustRun("git", ["init", "-q"], { cwd: project, env, capture: true });
    await mustRun("git", ["add", "-A"], { cwd: project, env, capture: true });
    await mustRun("git", ["commit", "-q", "-m", "start"], { cwd: project, env, capture: true });
    const check = join(fixture, "check.sh");
    const last = existsSync(check) ? [{ path: check, text: readFileSync(check, "utf8") }] : [];
    for (const { path, file, text } of [...examples, ...last]) {
      if (file !== undefined) {
        mkdirSync(dirname(join(project, file)), { recursive: true });
        writeFileSync(join(project, file), text);
        continue;
      }
      const { code, output } = await run("sh", ["-euc", text], { cwd: project, env, capture: true });
      if (code !== 0) return `${path}: exit ${code}\n${text}\n${output}`;
    }
    return null;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The project, the programs, and a git that knows its user. @returns the environment of the examples */
function setUp(fixture, folder) {
  const bin = join(folder, "bin");
  cpSync(join(fixture, "project"), join(folder, "project"), { recursive: true });
  cpSync(join(fixture, "bin"), bin, { recursive: true });
  writeFileSync(join(bin, "ralph"), `#!/bin/sh\nexec "${bunPath()}" "${join(ROOT, "bin/ralph.ts")}" "$@"\n`);
  chmodSync(join(bin, "ralph"), 0o755);
  const config = join(folder, "gitconfig");
  writeFileSync(config, "[user]\n\tname = Ada\n\temail = ada@example.com\n[init]\n\tdefaultBranch = main\n");
  const env = environment({ HOME: folder, TMPDIR: folder, GIT_CONFIG_GLOBAL: config, GIT_CONFIG_NOSYSTEM: "1" });
  return { ...env, PATH: `${bin}${delimiter}${env.PATH}` };
}
