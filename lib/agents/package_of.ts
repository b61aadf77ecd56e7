import { realPathOf } from "../host/bubblewrap.ts";

/** Where a program is installed: the folder of packages that its link leads into, or the program itself. */
export function packageOf(program: string): string {
  const real = realPathOf(program) ?? program;
  const at = real.indexOf("/node_modules/");
  return at < 0 ? real : real.slice(0, at + "/node_modules".length);
}
