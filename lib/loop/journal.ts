import {
  appendDurably,
  appendText,
  copyPath,
  ensurePrivateDirectory,
  LARGEST_LOG,
  PRIVATE_FILE,
  readText,
  writeAtomic,
} from "../host/files.ts";
import { dirname } from "node:path";
import { foldJournal, type JournalState, keptLines, keyOf } from "./journal_fold.ts";
import type { JournalLine } from "./journal_record.ts";
import type { BegunAttempt, Journal, JournalKey } from "../backlog/journal_types.ts";
import type { Item } from "../backlog/types.ts";

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
  let state = foldJournal("");
  let size = 0;
  let torn = false;

  async function refresh(): Promise<void> {
    if (file === null) return;
    const text = await readText(file, LARGEST_LOG) ?? "";
    state = foldJournal(text, file);
    size = text.length;
    torn = text !== "" && !text.endsWith("\n");
  }

  async function append(line: JournalLine): Promise<void> {
    state.apply(line);
    if (file === null) return;
    const written = `${torn ? "\n" : ""}${JSON.stringify(line)}\n`;
    torn = false;
    size += written.length;
    if (size === written.length) await ensurePrivateDirectory(dirname(file));
    await (DURABLE.has(line.type) ? appendDurably : appendText)(file, written, PRIVATE_FILE);
  }

  await refresh();
  return {
    refresh,
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
    begun: (key, item, attempt) => append(begunLine(key, item, attempt)),
    stowed: (key) => state.stowed(key),
    stow: (key, itemId, stowed) => append({ type: "stowed", ...named(key), itemId, ...stowed }),
    start: (key, itemId) => state.start(key, itemId),
    settling: (key, item, attempt, left) => append({ type: "settling", ...named(key), ...of(item), attempt, ...left }),
    settled: (key, item, attempt, end) =>
      append({ type: "settled", ...named(key), ...of(item), attemptId: attempt.id, ...end }),
    reopen: (key, ids, reason) => append({ type: "reopened", ...named(key), ids, reason }),
    unpark: (key) => append({ type: "unparked", ...named(key) }),
    lastBrief: () => state.brief,
    briefRead: (key, record) => append({ type: "brief", ...named(key), record }),
    briefRestored: (key) => append({ type: "brief-restored", ...named(key) }),
    async runEnded(key, passed, head = null) {
      await append({ type: "run-ended", ...named(key), passed, head });
      if (file !== null && size > COMPACT_AT_BYTES) size = await compact(file, state);
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

async function compact(file: string, state: JournalState): Promise<number> {
  const text = keptLines(state).map((line) => `${JSON.stringify(line)}\n`).join("");
  await copyPath(file, `${file}.old`); // a copy: killed in between, the journal is still there
  await writeAtomic(file, text);
  return text.length;
}
