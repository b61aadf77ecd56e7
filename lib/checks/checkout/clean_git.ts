import { join } from "node:path";
import { createGit, type Git, QUIET } from "../../git/run_git.ts";
import type { Host } from "../../host/types.ts";

/** A clone of a large repository takes its time. */
const TIMEOUT_MS = 600_000;

/** These variables show who runs a check, or would lead its git elsewhere. */
const HIDDEN_REGEXP = /^(RALPH_|GIT_|BUN_|npm_(?!config_)|INVOCATION_ID$|_$)/;

/** Laid over every git command of a checkout, which no power cut has to spare: no program of the repository's configuration but its filters. */
const ALWAYS = [
  "core.alternateRefsCommand=",
  "gc.auto=0",
  "maintenance.auto=false",
  "core.fsync=none",
].flatMap((entry) => ["-c", entry]);

/** Lays over an environment that its hidden variables are absent. */
export function hiddenVariables(variables: Readonly<Record<string, string | undefined>>): Record<string, undefined> {
  return Object.fromEntries(
    Object.keys(variables).filter((name) => HIDDEN_REGEXP.test(name)).map((name) => [name, undefined]),
  );
}

/**
 * Git that believes neither replaced objects nor the person's configuration as it is now: `home` holds the attributes
 * as they were when the checkout was opened, and the one setting without which git reads no other user's repository.
 */
export function cleanGit(host: Host, cwd: string, home: string): Git {
  const git = createGit(host, cwd);
  const environment = {
    ...hiddenVariables(host.environment.variables),
    ...QUIET,
    GIT_CONFIG_GLOBAL: join(home, "config"),
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_NO_LAZY_FETCH: "1",
    GIT_ALLOW_PROTOCOL: "file",
  };
  const attributes = ["-c", `core.attributesFile=${join(home, "attributes")}`];
  return (arguments_, options = {}) =>
    git([...ALWAYS, ...attributes, ...arguments_], {
      timeoutMs: TIMEOUT_MS,
      ...options,
      environment: { ...environment, ...options.environment },
    });
}
