import { linkSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { orUnwritable, unwritable } from "./file_errors.ts";
import { ensureDirectory, modifiedAt, readText } from "./files.ts";
import { hashText } from "./hash.ts";
import { processStart } from "./process_table.ts";
import { removeLeftOvers, temporaryName } from "./write_atomic.ts";
import type { Host } from "./types.ts";
import { bootedAt } from "./this_process.ts";
import { codeOf, ifThere, unless } from "./looks.ts";
import { jsonIn, objectOr, textOf } from "./data.ts";

/** How a lock is taken. */
interface LockOptions {
  /** Its purpose, in a word: `run`, `store`. */
  readonly purpose: string;
  readonly host: Host;
  /** Milliseconds to wait for a living holder. @default 0 */
  readonly waitMs?: number;
}

/** A lock that is ours, or whose it is. */
type LockResult =
  | {
    readonly status: "held";
    /** Who held it before and died, or `null`. */
    readonly tookOver: LockHolder | null;
    /** Milliseconds since 1970 at which nothing ran any more of what that one had started; `null`: not known. */
    readonly overAt: number | null;
    /** Lets go. The second call does nothing. */
    release(): Promise<void>;
  }
  | { readonly status: "busy"; readonly holder: LockHolder };

/** A lock file without a readable holder is a torn one when it stays as it is for so long. */
const TORN_AFTER_MS = 1000;
const WATCHDOG_MS = 1000;
const PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 40;

/**
 * Takes a lock file. It is created whole, so half of one is never seen. A holder is dead when its process is gone, or another
 * one has its pid by now; the lock of a dead holder is taken over by exactly one of those who try. A living holder's lock is
 * never taken over, whatever its age. Holders are distinguished on one machine only.
 *
 * @throws {RalphError} file-unwritable
 */
export async function takeLock(path: string, options: LockOptions): Promise<LockResult> {
  const { host, waitMs = 0 } = options;
  const deadline = performance.now() + waitMs;
  const content = await describeSelf(options);
  await ensureDirectory(dirname(path));
  removeLeftOvers(dirname(path));
  for (let pause = PAUSE_MS;; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    const found = await readText(path);
    if (found === null) {
      if (createWhole(path, content)) return held(path, content, null, null);
      continue;
    }
    const holder = parseHolder(found);
    if (await isDead(path, found, holder)) {
      const overAt = overSince(Date.parse(holder.since), await modifiedAt(path));
      if (await takeOver(path, found, content, options)) return held(path, content, holder, overAt);
      continue;
    }
    if (performance.now() >= deadline) return { status: "busy", holder };
    await host.clock.sleep(pause);
  }
}

async function describeSelf({ purpose, host }: LockOptions): Promise<string> {
  return formatHolder({
    pid: host.environment.pid,
    started: (await processStart(host.environment.pid)) ?? "",
    since: new Date(host.clock.now()).toISOString(),
    purpose,
    runToken: host.processes.runToken,
    nonce: host.ids.random(16),
  });
}

async function isDead(path: string, content: string, holder: LockHolder): Promise<boolean> {
  if (holder !== UNREADABLE_HOLDER) return await isGone(holder);
  await new Promise((resolve) => setTimeout(resolve, TORN_AFTER_MS));
  return (await readText(path)) === content;
}

/** One at a time works under a marker named by the dead content, so what one has taken over is never taken again. */
async function takeOver(path: string, dead: string, content: string, options: LockOptions): Promise<boolean> {
  const name = `.${basename(path)}.${hashText(dead).slice(0, 16)}.taking`;
  const marker = await takeLock(join(dirname(path), name), { ...options, waitMs: 10_000 });
  if (marker.status === "busy") return false;
  try {
    if ((await readText(path)) !== dead) return false;
    const temporary = join(dirname(path), temporaryName(basename(path)));
    writeFileSync(temporary, content, { flag: "wx" });
    renameSync(temporary, path);
    await removeDeadMarkers(path, name);
    return true;
  } catch (error) {
    throw unwritable(path, error);
  } finally {
    await marker.release();
  }
}

/** Markers of those that were killed while they took over, about contents that are gone by now. */
async function removeDeadMarkers(path: string, own: string): Promise<void> {
  for (const name of readdirSync(dirname(path))) {
    if (name === own || !name.startsWith(`.${basename(path)}.`) || !name.endsWith(".taking")) continue;
    const marker = join(dirname(path), name);
    const holder = parseHolder((await readText(marker)) ?? "");
    if (holder !== UNREADABLE_HOLDER && (await isGone(holder))) rmSync(marker, { force: true });
  }
}

/** Creates the file with its content in one step. False when there is one. */
function createWhole(path: string, content: string): boolean {
  const temporary = join(dirname(path), temporaryName(basename(path)));
  try {
    writeFileSync(temporary, content, { flag: "wx" });
    try {
      linkSync(temporary, path);
      return true;
    } finally {
      rmSync(temporary, { force: true });
    }
  } catch (error) {
    const code = codeOf(error);
    if (code === "EEXIST") return false;
    if (["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"].includes(code)) return createHere(path, content);
    throw unwritable(path, error);
  }
}

/** For file systems without hard links: the content follows a moment after the name. */
function createHere(path: string, content: string): boolean {
  const create = (): boolean => (writeFileSync(path, content, { flag: "wx" }), true);
  return orUnwritable(path, () => unless(["EEXIST"], create, false));
}

/** A watchdog touches the lock at the end, a second after its holder at the earliest; a machine that has started anew ran nothing before. */
function overSince(since: number, touchedAt: number | null): number | null {
  return [touchedAt ?? 0, bootedAt()].find((time) => time > since + WATCHDOG_MS) ?? null;
}

function held(path: string, content: string, tookOver: LockHolder | null, overAt: number | null): LockResult {
  async function release(): Promise<void> {
    orUnwritable(path, () => {
      if (ifThere(() => readFileSync(path, "utf8"), "") === content) rmSync(path, { force: true });
    });
  }
  return { status: "held", tookOver, overAt, release };
}

/** Who holds a lock, as the lock file names it. */
interface LockHolder {
  readonly pid: number;
  /** Start of that process; with the pid it names one process for good. */
  readonly started: string;
  /** When the lock was taken, ISO 8601. */
  readonly since: string;
  readonly purpose: string;
  /** The mark that the holder's children carry: `processes.sweep()` ends what a dead one left. */
  readonly runToken: string;
  readonly nonce: string;
}

/** The holder of a lock file that cannot be read: empty or torn. */
const UNREADABLE_HOLDER: LockHolder = { pid: 0, started: "", since: "", purpose: "", runToken: "", nonce: "" };

/** The holder in a lock file's text. */
function parseHolder(text: string): LockHolder {
  const { pid, started, since, purpose, cookie: runToken, nonce } = objectOr(jsonIn(text));
  if (typeof pid !== "number" || typeof started !== "string") return UNREADABLE_HOLDER;
  const texts = { since: textOf(since), purpose: textOf(purpose), runToken: textOf(runToken), nonce: textOf(nonce) };
  return { pid, started, ...texts };
}

/** The text of a lock file. The run token keeps the name that earlier versions gave it. */
function formatHolder({ runToken: cookie, nonce, ...rest }: LockHolder): string {
  return `${JSON.stringify({ ...rest, cookie, nonce })}\n`;
}

/** Who holds a lock at this moment, or `null` when no living process does. Takes and changes nothing. */
export async function readLockHolder(path: string): Promise<LockHolder | null> {
  const text = await readText(path);
  const holder = text === null ? UNREADABLE_HOLDER : parseHolder(text);
  if (holder === UNREADABLE_HOLDER) return null;
  return await isGone(holder) ? null : holder;
}

/** Its process runs no more, or another one has its pid by now. */
async function isGone({ pid, started }: LockHolder): Promise<boolean> {
  const found = await processStart(pid);
  return found === null || (started !== "" && found !== started);
}
