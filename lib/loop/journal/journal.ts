import {
  appendDurably,
  appendText,
  copyPath,
  ensurePrivateDirectory,
  LARGEST_LOG,
  PRIVATE_FILE,
  readText,
  removePath,
  writeAtomic,
} from "../../host/files.ts";
import { dirname, join } from "node:path";
import { factsOf } from "../../host/path_facts.ts";
import { createSlots } from "../../host/slots.ts";
import { foldJournal, type JournalState, keptLines, keyOf } from "./journal_fold.ts";
import type { JournalLine } from "./journal_record.ts";
import type { BegunAttempt, Journal, JournalKey } from "../../backlog/journal_types.ts";
import type { Item } from "../../backlog/types.ts";

/** Above this size a journal is started anew when a run ends; the old one stays beside it as `*.old`. */
const COMPACT_AT_BYTES = 1024 * 1024;

/**
 * On the disk before anything else happens: by them the next run knows, also after a power cut, what a turn may have
 * changed and what was about to be settled. The others only save it work.
 */
const DURABLE: ReadonlySet<JournalLine["type"]> = new Set(["begun", "settling", "reopened", "run-ended"]);

/**
 * Opens the journal at `file`; without one, a journal in memory.
 *
 * A last line that was torn by a kill is left out, and the next append starts a line of its own.
 */
export async function openJournal(file: string | null): Promise<Journal> {
  const lines = file === null ? null : new JournalFile(file);
  let state = foldJournal(await lines?.read() ?? "", file ?? "");

  async function append(line: JournalLine): Promise<void> {
    state.apply(line);
    await lines?.append(line);
  }

  return {
    async refresh() {
      if (lines !== null) state = foldJournal(await lines.hold(), file ?? "");
    },
    get isFixed() {
      return lines?.isFixed ?? false;
    },
    history: (key, item) => state.history(key, item),
    open: (key) => state.open(key),
    interrupted: (backlog) => state.interrupted(backlog),
    parked: (key) => state.parked(key),
    passed: (key) => state.passed(key),
    allPassed: () => [...state.slots.values()].flatMap(({ passed }) => [...passed.values()]),
    clean: (key) => state.clean(key),
    cleanStart: (key, absent) => append({ type: "clean-start", ...named(key), absent }),
    cleanFinding: (key, command, why) => append({ type: "clean-finding", ...named(key), command, why }),
    forgetClean: (key) => append({ type: "clean-forgotten", ...named(key) }),
    reopened: (key) => state.reopened(key),
    leftovers: (key) => state.leftovers(key),
    judging: (key) => state.judging(key),
    baseline: (key, item) => state.baseline(key, item),
    baselineTaken: (key, item, green) => append({ type: "baseline", ...named(key), ...of(item), green }),
    begun: (key, item, attempt) => append(begunLine(key, item, attempt)),
    stowed: (key) => state.stowed(key),
    stow: (key, itemId, stowed) => append({ type: "stowed", ...named(key), itemId, ...stowed }),
    start: (key, itemId) => state.start(key, itemId),
    settling: (key, item, attempt, left) => append({ type: "settling", ...named(key), ...of(item), attempt, ...left }),
    settled: (key, item, attempt, end) =>
      append({ type: "settled", ...named(key), ...of(item), attemptId: attempt.id, ...end }),
    reopen: (key, ids, reason) => append({ type: "reopened", ...named(key), ids, reason }),
    named: () => state.named(),
    noticed: (key, notices, lack) =>
      append({ type: "noticed", ...named(key), notices, ...lack === undefined ? {} : { lack } }),
    unpark: (key) => append({ type: "unparked", ...named(key) }),
    lastBrief: () => state.brief,
    briefRead: (key, record) => append({ type: "brief", ...named(key), record }),
    briefRestored: (key) => append({ type: "brief-restored", ...named(key) }),
    async runEnded(key, passed, head = null, isDoubted = false) {
      await append({ type: "run-ended", ...named(key), passed, head, ...isDoubted ? { isDoubted } : {} });
      await lines?.letGo(state);
    },
  };
}

function begunLine(key: JournalKey, item: Item, { id, number, userPaths, head, apart }: BegunAttempt): JournalLine {
  const known = { ...(head === undefined ? {} : { head }), ...(apart === undefined ? {} : { apart }) };
  return { type: "begun", ...named(key), item, attemptId: id, number, userPaths, ...known };
}

function named(key: JournalKey): { readonly v: 1; readonly key: string } {
  return { v: 1, key: keyOf(key) };
}

function of(item: Item): { readonly itemId: string; readonly fingerprint: string | null } {
  return { itemId: item.id, fingerprint: item.fingerprint ?? null };
}

/** The file of a journal, in which nobody else writes while a run lasts. */
class JournalFile {
  /** Something else has changed it since it was held. */
  isFixed = false;
  readonly #path: string;
  readonly #oneAtATime = createSlots(1);
  #size = 0;
  #torn = false;
  /** The text that it holds, in pieces, and its stamp if it holds just that. */
  #held: { readonly pieces: string[]; readonly bytes: number; readonly stamp: string | null } | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  async read(): Promise<string> {
    const text = await readText(this.#path, LARGEST_LOG) ?? "";
    this.#size = text.length;
    this.#torn = text !== "" && !text.endsWith("\n");
    return text;
  }

  /** Reads it; what anything else writes from now on is undone. */
  async hold(): Promise<string> {
    const text = await this.read();
    const bytes = Buffer.byteLength(text);
    // a character that a kill tore reads as another one: from now on it is that one
    if (text !== "" && factsOf(this.#path)?.size !== bytes) await writeAtomic(this.#path, text);
    this.isFixed = false;
    await ensurePrivateDirectory(dirname(this.#path));
    this.#know([text], bytes);
    return text;
  }

  async append(line: JournalLine): Promise<void> {
    await this.#oneAtATime.run(() => this.#write(line));
  }

  /** The run is over. */
  async letGo(state: JournalState): Promise<void> {
    this.#held = null;
    if (this.#size <= COMPACT_AT_BYTES) return;
    const text = keptLines(state).map((line) => `${JSON.stringify(line)}\n`).join("");
    await copyPath(this.#path, `${this.#path}.old`); // a copy: killed in between, the journal is still there
    await writeAtomic(this.#path, text);
    this.#size = text.length;
  }

  async #write(line: JournalLine): Promise<void> {
    const written = `${this.#torn ? "\n" : ""}${JSON.stringify(line)}\n`;
    this.#torn = false;
    this.#size += written.length;
    await this.#fix();
    if (this.#size === written.length) await ensurePrivateDirectory(dirname(this.#path));
    await (DURABLE.has(line.type) ? appendDurably : appendText)(this.#path, written, PRIVATE_FILE);
    if (this.#held === null) return;
    const { pieces, bytes } = this.#held;
    pieces.push(written);
    this.#know(pieces, bytes + Buffer.byteLength(written));
  }

  /** A turn's writes here count in no later run; neither do its removals. */
  async #fix(): Promise<void> {
    if (this.#held === null) return;
    const { pieces, bytes, stamp } = this.#held;
    const facts = factsOf(this.#path);
    if (facts === null ? bytes === 0 : facts.stamp === stamp) return;
    const isPlain = facts?.kind === "file";
    const text = pieces.join("");
    if (isPlain && facts.size === bytes && await readText(this.#path, LARGEST_LOG) === text) return;
    this.isFixed = true;
    if (facts !== null && !isPlain) await removePath(this.#path, join(dirname(this.#path), "aside"));
    await ensurePrivateDirectory(dirname(this.#path));
    await writeAtomic(this.#path, text);
  }

  #know(pieces: string[], bytes: number): void {
    const facts = factsOf(this.#path);
    this.#held = { pieces, bytes, stamp: facts?.size === bytes ? facts.stamp : null };
  }
}
