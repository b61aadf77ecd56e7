import { EXIT } from "../../errors/exit_codes.ts";
import type { Invocation } from "../../cli/command.ts";
import { resolveRoot } from "../../cli/root.ts";
import { styleFor, toJson } from "../../cli/show.ts";
import { validateFiles } from "../validate_files.ts";

/** `ralph validate`: the configuration and the state files, all problems at once. */
export async function run(invocation: Invocation): Promise<number> {
  const { flags, host, out } = invocation;
  const root = await resolveRoot(host.environment, flags.text("root"));
  const found = await validateFiles(root, {
    cwd: host.environment.cwd,
    config: flags.text("config"),
    workflow: flags.text("workflow"),
    feature: invocation.arguments[0],
  });
  const valid = found.every(({ problems }) => problems.length === 0);
  if (flags.has("json")) {
    out(toJson({ root, valid, files: found }));
    return valid ? EXIT.done : EXIT.usage;
  }
  const { good, bad, warn, dim, symbols } = styleFor(invocation, "stdout");
  for (const { path, present, problems, warnings } of found) {
    const mark = problems.length > 0 ? bad(symbols.failed) : present ? good(symbols.passed) : dim(symbols.open);
    out(`${mark} ${path}${present ? "" : dim(" (not there)")}`);
    for (const problem of problems) out(`    ${bad(problem)}`);
    for (const warning of warnings) out(`    ${warn(`warning: ${warning}`)}`);
  }
  return valid ? EXIT.done : EXIT.usage;
}
