import { dirname, join } from "node:path";
import { jsonIn, objectOr } from "../host/data.ts";
import type { TriedCheck } from "../host/confinement.ts";
import { ensurePrivateDirectory, readText, writeAtomic } from "../host/files.ts";
import type { ProcessEnd } from "../host/types.ts";

const REFUSED_REGEXP =
  /read-only file system|permission denied|operation not permitted|resource busy|no new privileges|\b(EROFS|EACCES|EPERM|EBUSY)\b/i;
const READ_ONLY_REGEXP = /read-only file system|\bEROFS\b/i;
const PATH_REGEXP = /(?<=^|[\s'"`:=(])\/[^\s'"`:,;()]+/g;
const LONGEST_LINE = 200;
const FILE = "checks.json";

/** The two ways to run a check. */
export interface CheckWays {
  /** Paths that are not seen inside. */
  readonly hidden: readonly string[];
  readonly inside: () => Promise<ProcessEnd>;
  readonly outside: () => Promise<ProcessEnd>;
}

export interface CheckTrialsOptions {
  /** Keeps the answers between runs, where no turn sees it. */
  readonly folder: string;
  /** Turns on its items wrote what is in the tree. */
  readonly branch: string;
  readonly onOutside: (message: string) => void;
}

/**
 * `light` tries a check outside if it fails inside, as long as no turn has run on the branch. One that passes outside alone
 * runs there from then on. All others stay inside: what fails them there may be what a turn wrote.
 */
export class CheckTrials {
  readonly #options: CheckTrialsOptions;
  readonly #inside = new Set<string>();
  readonly #outside = new Set<string>();
  readonly #branches = new Set<string>();
  readonly #told = new Set<string>();
  #closed = false;

  private constructor(options: CheckTrialsOptions) {
    this.#options = options;
  }

  static async open(options: CheckTrialsOptions): Promise<CheckTrials> {
    const trials = new CheckTrials(options);
    const kept = objectOr(jsonIn(await readText(join(options.folder, FILE))));
    const texts = (value: unknown): readonly string[] => Array.isArray(value) ? value.map(String) : [];
    for (const command of texts(kept["outside"])) trials.#outside.add(command);
    for (const branch of texts(kept["branches"])) trials.#branches.add(branch);
    trials.#closed = trials.#branches.has(options.branch);
    return trials;
  }

  /** A turn begins: from now on no other check leaves. @param item what it works on, if its work stays on the branch */
  async close(item: string | undefined): Promise<void> {
    this.#closed = true;
    if ((item ?? "") === "" || this.#branches.has(this.#options.branch)) return;
    this.#branches.add(this.#options.branch);
    await this.#keep();
  }

  async run({ command, again }: TriedCheck, { hidden, inside, outside }: CheckWays): Promise<ProcessEnd> {
    if (this.#outside.has(command)) return await outside();
    const end = await inside();
    const refused = refusedLine(end.tail, hidden);
    if (end.exitCode === 0 || end.reason === "aborted") return end;
    if (this.#closed || this.#inside.has(command)) {
      if (refused !== null) this.#tell(`the check \`${command}\` fails inside of the sandbox: ${refused}`);
      return end;
    }
    this.#inside.add(command);
    if (refused === null && end.reason === "timed-out") return end; // it would take as long again
    again();
    const there = await outside();
    if (there.exitCode !== 0) return there;
    if (refused === null) {
      again();
      const more = await inside();
      if (more.exitCode === 0) return more; // it is unsteady
    }
    this.#outside.add(command);
    await this.#keep();
    this.#tell(outsideText(command, refused, hidden));
    return there;
  }

  #tell(message: string): void {
    if (!this.#told.has(message)) this.#options.onOutside(message);
    this.#told.add(message);
  }

  async #keep(): Promise<void> {
    const text = JSON.stringify({ outside: [...this.#outside], branches: [...this.#branches] });
    await ensurePrivateDirectory(this.#options.folder);
    await writeAtomic(join(this.#options.folder, FILE), `${text}\n`);
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
  const add = (value: string, key: string) => `; to run it inside, add ${JSON.stringify(value)} to \`sandbox.${key}\``;
  if (secret !== undefined) return `${text}: ${refused}${add(secret, "read")}`;
  return `${text}: ${refused}${path === undefined ? "" : add(dirname(path), "write")}`;
}
