import * as files from "../../host/files.ts";
import { dirname, join } from "node:path";
import { factsOf } from "../../host/path_facts.ts";
import { createSlots } from "../../host/slots.ts";
import { foldJournal, journalKey, type JournalState, keptLines, ofItem } from "./journal_fold.ts";
import { type JournalLine, keyOf, type LineFields, type LineType } from "./journal_record.ts";
import type { Journal, JournalKey } from "../../backlog/journal_types.ts";

/** Above this size a journal is started anew when a run ends; the old one stays beside it as `*.old`. */
const COMPACT_AT_BYTES = 1024 * 1024;

/**
 * On the disk before anything else happens: by them the next run knows, also after a power cut, what a turn may have
 * changed and what was about to be settled. The others only save it work.
 */
const DURABLE: ReadonlySet<JournalLine["type"]> = new Set([
  "begun",
  "kept",
  "settling",
  "reopened",
  "told",
  "run-ended",
]);

/** A line without its backlog. */
type Said = { [Type in LineType]: { readonly type: Type } & LineFields[Type] }[LineType];

/**
 * Opens the journal at `file`; without one, a journal in memory.
 *
 * A last line that was torn by a kill is left out, and the next append starts a line of its own.
 */
export async function openJournal(file: string | null): Promise<Journal> {
  const lines = file === null ? null : journalFile(file);
  let state = foldJournal(await lines?.read() ?? "", file ?? "");

  async function append(key: JournalKey, said: Said): Promise<void> {
    const line: JournalLine = { v: 1, key: keyOf(key), ...said };
    state.apply(line);
    await lines?.append(line);
  }

  return {
    async refresh() {
      if (lines !== null) state = foldJournal(await lines.hold(), file ?? "");
    },
    get isFixed() {
      return lines?.isFixed() ?? false;
    },
    history: (key, item) => state.slot(key).history.get(item.id) ?? [],
    open: (key) => [...state.slot(key).open.values()],
    interrupted: (backlog) =>
      [...state.slots].filter(([key]) => backlog === undefined || journalKey(key).backlog === backlog)
        .flatMap(([, { open }]) => [...open.values()]),
    parked: (key) => [...state.slot(key).parked.values()],
    passed: (key) => [...state.slot(key).passed.values()],
    allPassed: () => [...state.slots.values()].flatMap(({ passed }) => [...passed.values()]),
    clean: (key) => state.slot(key).clean,
    cleanStart: (key, absent) => append(key, { type: "clean-start", absent }),
    cleanFinding: (key, command, why) => append(key, { type: "clean-finding", command, why }),
    forgetClean: (key) => append(key, { type: "clean-forgotten" }),
    reopened: (key) => state.slot(key).reopened,
    leftovers: (key) => state.slot(key).leftovers,
    overwritten: (key) => state.slot(key).overwritten,
    judging: (key) => state.slot(key).judging,
    baseline(key, { id, fingerprint = null }) {
      const known = state.slot(key).baselines.get(id);
      return known?.fingerprint === fingerprint ? known.green : null;
    },
    baselineTaken: (key, item, green) => append(key, { type: "baseline", ...ofItem(item), green }),
    begun: (key, item, { id, ...attempt }) => append(key, { type: "begun", item, attemptId: id, ...attempt }),
    kept: (key, itemId, kept) => append(key, { type: "kept", itemId, ...kept }),
    stowed: (key) => state.slot(key).stowed,
    stow: (key, itemId, stowed) => append(key, { type: "stowed", itemId, ...stowed }),
    start: (key, itemId) => state.slot(key).started.get(itemId) ?? null,
    settling: (key, item, attempt, left) => append(key, { type: "settling", ...ofItem(item), attempt, ...left }),
    settled: (key, item, { id }, end) => append(key, { type: "settled", ...ofItem(item), attemptId: id, ...end }),
    reopen: (key, ids, reason) => append(key, { type: "reopened", ids, reason }),
    named: () => state.named,
    noticed: (key, notices, lack) => append(key, { type: "noticed", notices, lack }),
    told: (key) => state.slot(key).told,
    answered: (key) => state.slot(key).answered,
    tell: (key, itemId, text) => append(key, { type: "told", itemId, text }),
    unpark: (key, ids) => append(key, { type: "unparked", ...ids === undefined ? {} : { ids } }),
    lastBrief: () => state.brief,
    briefRead: (key, record) => append(key, { type: "brief", record }),
    briefRestored: (key) => append(key, { type: "brief-restored" }),
    async runEnded(key, passed, head = null, isDoubted = false) {
      await append(key, { type: "run-ended", passed, head, ...isDoubted ? { isDoubted } : {} });
      await lines?.letGo(state);
    },
  };
}

/** The file of a journal, in which nobody else writes while a run lasts. */
function journalFile(path: string) {
  const oneAtATime = createSlots(1);
  let isFixed = false;
  let size = 0;
  let torn = false;
  /** The text that it holds, in pieces, and its stamp if it holds just that. */
  let held: { readonly pieces: string[]; readonly bytes: number; readonly stamp: string | null } | null = null;

  async function read(): Promise<string> {
    const text = await files.readText(path, files.LARGEST_LOG) ?? "";
    size = text.length;
    torn = text !== "" && !text.endsWith("\n");
    return text;
  }

  async function write(line: JournalLine): Promise<void> {
    const written = `${torn ? "\n" : ""}${JSON.stringify(line)}\n`;
    torn = false;
    size += written.length;
    await fix();
    if (size === written.length) await files.ensurePrivateDirectory(dirname(path));
    await (DURABLE.has(line.type) ? files.appendDurably : files.appendText)(path, written, files.PRIVATE_FILE);
    if (held === null) return;
    held.pieces.push(written);
    know(held.pieces, held.bytes + Buffer.byteLength(written));
  }

  /** A turn's writes here count in no later run; neither do its removals. */
  async function fix(): Promise<void> {
    if (held === null) return;
    const { pieces, bytes, stamp } = held;
    const facts = factsOf(path);
    if (facts === null ? bytes === 0 : facts.stamp === stamp) return;
    const isPlain = facts?.kind === "file";
    const text = pieces.join("");
    if (isPlain && facts.size === bytes && await files.readText(path, files.LARGEST_LOG) === text) return;
    isFixed = true;
    if (facts !== null && !isPlain) await files.removePath(path, join(dirname(path), "aside"));
    await files.ensurePrivateDirectory(dirname(path));
    await files.writeAtomic(path, text);
  }

  function know(pieces: string[], bytes: number): void {
    const facts = factsOf(path);
    held = { pieces, bytes, stamp: facts?.size === bytes ? facts.stamp : null };
  }

  return {
    /** Something else has changed it since it was held. */
    isFixed: () => isFixed,
    read,
    /** Reads it; what anything else writes from now on is undone. */
    async hold(): Promise<string> {
      const text = await read();
      const bytes = Buffer.byteLength(text);
      // a character that a kill tore reads as another one: from now on it is that one
      if (text !== "" && factsOf(path)?.size !== bytes) await files.writeAtomic(path, text);
      isFixed = false;
      await files.ensurePrivateDirectory(dirname(path));
      know([text], bytes);
      return text;
    },
    append: (line: JournalLine): Promise<void> => oneAtATime.run(() => write(line)),
    /** The run is over. */
    async letGo(state: JournalState): Promise<void> {
      held = null;
      if (size > COMPACT_AT_BYTES) size = await compact(path, state);
    },
  };
}

/** @returns the new length */
async function compact(path: string, state: JournalState): Promise<number> {
  const text = keptLines(state).map((line) => `${JSON.stringify(line)}\n`).join("");
  await files.copyPath(path, `${path}.old`); // a copy: killed in between, the journal is still there
  await files.writeAtomic(path, text);
  return text.length;
}
