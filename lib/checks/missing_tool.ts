import type { CheckResult } from "../backlog/types.ts";
import { NOT_RUN } from "./shell.ts";

/** Shells and runners print this if a program, or the module that a runner runs, is not installed. */
const MISSING: readonly RegExp[] = [
  /No module named ['"]?(?<tool>[\w.]+)/,
  /no such (?:sub)?command: [`'"]?(?<tool>[\w.-]+)/i,
  /Failed to spawn: [`'"]?(?<tool>[\w./-]+)/,
  /command not found: (?<tool>[\w./-]+)/i,
  /(?:^|: |')(?<tool>[\w./+-]+)'?(?:: command not found|: not found| is not recognized as)/m,
  /^make(?:\[\d+\])?: (?<tool>[\w./-]+): No such file or directory/m,
  /(?:^|: )(?<tool>[\w./+-]+): (?:No such file or directory|cannot execute|Permission denied)$/m,
];

/**
 * The program or module that a failed command could not find; `null` where it ran. A thing in the project, such as
 * `./check.sh` or a module of its own, is none: the work may make it. Pure.
 */
export function missingTool(
  { exitCode, name, ok, tail }: Pick<CheckResult, "exitCode" | "name" | "ok" | "tail">,
): string | null {
  if (ok) return null;
  const notRun = exitCode !== null && NOT_RUN.includes(exitCode);
  for (const pattern of notRun ? MISSING : MISSING.slice(0, -1)) {
    const tool = pattern.exec(tail)?.groups?.["tool"];
    if (tool === undefined || (tool.includes("/") && !tool.startsWith("/"))) continue;
    if (pattern === MISSING[0] && !new RegExp(`-m\\s+${tool.replaceAll(".", "\\.")}(?:\\s|$)`).test(name)) continue;
    if (notRun || isRunner(tool, name, tail)) return tool;
  }
  return null;
}

/** A program that a test looks for in vain is no reason to stop: only one that is the command's own counts. */
function isRunner(tool: string, command: string, tail: string): boolean {
  return command.includes(tool) || /^make(?:\[\d+\])?: \S+: No such file/m.test(tail);
}
