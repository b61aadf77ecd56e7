import { dirname } from "node:path";
import type { TriedCheck } from "../host/confinement.ts";
import type { ProcessEnd } from "../host/types.ts";

const REFUSED_REGEXP =
  /read-only file system|permission denied|operation not permitted|resource busy|no new privileges|\b(EROFS|EACCES|EPERM|EBUSY)\b/i;
const READ_ONLY_REGEXP = /read-only file system|\bEROFS\b/i;
const PATH_REGEXP = /(?<=^|[\s'"`:=(])\/[^\s'"`:,;()]+/g;
const LONGEST_LINE = 200;

/** The two ways to run a check. */
export interface CheckWays {
  /** Paths that are not seen inside. */
  readonly hidden: readonly string[];
  readonly inside: () => Promise<ProcessEnd>;
  readonly outside: () => Promise<ProcessEnd>;
}

/**
 * `auto` runs a check inside, and outside from the first time on that it passes there alone. One that has passed inside
 * stays there: what fails it since came with the work.
 */
export class CheckTrials {
  readonly #known = new Map<string, "passes inside" | "fails both ways" | "outside">();
  readonly #onOutside: (message: string) => void;

  constructor(onOutside: (message: string) => void) {
    this.#onOutside = onOutside;
  }

  async run({ command, again }: TriedCheck, { hidden, inside, outside }: CheckWays): Promise<ProcessEnd> {
    const known = this.#known.get(command);
    if (known === "outside") return await outside();
    const end = await inside();
    if (end.exitCode === 0) this.#known.set(command, "passes inside");
    if (end.exitCode === 0 || end.reason === "aborted" || known === "passes inside") return end;
    const refused = refusedLine(end.tail, hidden);
    // without a reason it would take as long again, for nothing
    if (refused === null && (known !== undefined || end.reason === "timed-out")) return end;
    again();
    const last = await outside();
    this.#known.set(command, last.exitCode === 0 ? "outside" : "fails both ways");
    if (last.exitCode === 0) this.#onOutside(outsideText(command, refused, hidden));
    return last;
  }
}

/** The first line that tells of a thing that is not allowed. Pure. */
function refusedLine(output: string, hidden: readonly string[]): string | null {
  const lines = output.split("\n").map((line) => line.slice(0, LONGEST_LINE).trim());
  return lines.find((line) => REFUSED_REGEXP.test(line) || hidden.some((path) => line.includes(path))) ?? null;
}

function outsideText(command: string, refused: string | null, hidden: readonly string[]): string {
  const text = `the check \`${command}\` fails inside of the sandbox and runs outside`;
  if (refused === null) return text;
  const secret = hidden.find((path) => refused.includes(path));
  const path = READ_ONLY_REGEXP.test(refused) ? refused.match(PATH_REGEXP)?.at(-1) : undefined;
  const add = (value: string, key: string): string =>
    `; to run it inside, add ${JSON.stringify(value)} to \`sandbox.${key}\``;
  if (secret !== undefined) return `${text}: ${refused}${add(secret, "read")}`;
  return `${text}: ${refused}${path === undefined ? "" : add(dirname(path), "write")}`;
}
