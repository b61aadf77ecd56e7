import picomatch from "picomatch";
import type { Config } from "../../config/types.ts";
import { holdsScripts } from "../integrity/check_scripts.ts";

/** What configures builds and runners, at any depth. */
const CONFIGURATION: readonly string[] = [
  "ralph.config.json",
  ".npmrc",
  ".yarnrc*",
  ".git{ignore,attributes,modules}",
  ".env*",
  "{deno,composer}.json*",
  "{bunfig,pyproject,Cargo}.toml",
  "*.lock",
  "{package-lock,npm-shrinkwrap}.json",
  "conftest.py",
  "{,.}pytest.ini",
  "tox.ini",
  "setup.cfg",
  "{sitecustomize,usercustomize}.py",
  "*.pth",
  "{vitest,jest,playwright,karma,ava}.config.*",
  "vitest.workspace.*",
  "tsconfig*.json",
  ".mocharc*",
  ".taprc",
  ".rspec",
  "phpunit.xml*",
  "pom.xml",
  "build.gradle*",
  "build.rs",
  "go.{mod,sum,work}",
];

/**
 * Says of a path, relative to the root, whether it is a test, a script that checks run, or configuration: part of what
 * judges an implementation, and not of the implementation.
 *
 * @param commands of the checks: a file that one of them names judges, unless the item is about that file
 * @param subject the item's own text
 */
export function judgeMatcher(
  { tests, protect }: Pick<Config, "tests" | "protect">,
  commands: readonly string[],
  subject: string,
): (path: string) => boolean {
  const named = picomatch([...tests.globs, ...protect], { dot: true });
  const configures = picomatch([...CONFIGURATION], { dot: true, basename: true });
  const words = new Set(commands.flatMap((command) => command.split(/[\s"'`;|&()<>=]+/)));
  return (path) =>
    named(path) || configures(path) || holdsScripts(path) ||
    ((words.has(path) || words.has(`./${path}`)) && !subject.includes(path));
}
