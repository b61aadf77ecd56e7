/** What was typed after the program's name and script. */
export function commandLine(): readonly string[] {
  return process.argv.slice(2);
}

/** The code that the process will end with, once nothing holds it any more. */
export function setExitCode(code: number): void {
  process.exitCode = code;
}
