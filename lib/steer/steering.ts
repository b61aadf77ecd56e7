import { dirname } from "node:path";
import { RalphError } from "../errors/ralph_error.ts";
import type { EventSink, Origin } from "../events/types.ts";
import { ensurePrivateDirectory, removePath, writeOwn } from "../host/files.ts";
import { processStart } from "../host/process_table.ts";
import type { Host, ProcessEnd, Processes, ProcessRequest } from "../host/types.ts";
import { watchPath } from "../host/watch_path.ts";
import * as runFiles from "./control.ts";

/** A person's changes to a run while it lasts. Every change is an event with its origin. */
export interface Steering {
  /** Aborts when the run is to end after the present turn. */
  readonly stopping: AbortSignal;
  /** Aborts when the run is to end now. */
  readonly now: AbortSignal;
  /** Before a turn: waits while the run is paused. @returns false: no turn follows */
  rest(signal: AbortSignal): Promise<boolean>;
  /** Takes what a person asks for by another way than the files. */
  ask(request: Omit<runFiles.SteerRequest, "origin">): Promise<void>;
  /** Milliseconds for which it has been paused so far: they count towards no limit. */
  pausedMs(): number;
  /** Texts that were told for the next prompt, or for this item's, as a section of it; "" if there are none. */
  told(item: string | null): string;
  /** Texts that were told and have been in no prompt. */
  unread(): readonly string[];
  /**
   * Keeps what is told for an item, or was read by one, now and from now on, so that later runs have it too.
   *
   * @param known the words that are kept already, by their items
   * @param keep returns false for an item that it does not know
   * @param ids what words may be for from now on; `null`: anything
   */
  keepTold(
    known: ReadonlyMap<string, readonly string[]>,
    keep: KeepWords,
    ids?: () => Promise<readonly string[] | null>,
  ): Promise<void>;
  /** Offers a question; resolves with an answer that the question accepts. Never without one. */
  offer(question: Omit<runFiles.OpenQuestion, "key" | "since">, accept: (text: string) => string | null): Offer;
}

type KeepWords = (item: string, text: string) => Promise<boolean>;

/** A question that is open, until disposed. */
export interface Offer extends Disposable {
  readonly answer: Promise<{ readonly value: string; readonly origin: Exclude<Origin, "terminal"> }>;
}

export interface SteeringOptions {
  readonly run: string;
  readonly root: string;
  /** Ralph's own folder; `null` outside a repository, where nothing can be steered. */
  readonly directory: string | null;
  readonly host: Host;
  readonly events: EventSink;
}

interface Told {
  readonly text: string;
  readonly item: string | null;
  /** The item in whose prompts it is; `undefined`: in none so far. */
  reader?: string | null;
  /** The file in which it waited for this run. */
  readonly file?: string;
  /** Later runs have it too. */
  isKept?: boolean;
}

const KEY_LENGTH = 24;
const LONG_MS = 3_600_000;
/** So many of the texts that a run was told outlive a kill, and so much of each: the file that holds them is small. */
const KEPT_TEXTS = 20;
const KEPT_LENGTH = 1000;
const NAMED_IDS = 6;
const NOT_BY_THE_RUN = "a process of the run wrote it, or one that cannot be seen from there";

function toldText({ text, item }: Told): string {
  return item === null ? text : `for ${item}: ${text}`;
}

function unknownItem(item: string, ids: readonly string[]): runFiles.SteerReply {
  const more = ids.length > NAMED_IDS ? `, … (${ids.length} in all)` : "";
  const message = `it has no item ${item}, it has ${ids.slice(0, NAMED_IDS).join(", ")}${more}`;
  return {
    status: "refused",
    message,
    hint: "`ralph status` lists them; without an item the next prompt has the words",
  };
}

/** A run that can be paused, resumed, stopped, told something, and answered. */
export class SteeredRun implements Steering, AsyncDisposable {
  readonly #options: SteeringOptions;
  readonly #stopper = new AbortController();
  readonly #ender = new AbortController();
  readonly #told: Told[] = [];
  #keep: KeepWords | null = null;
  #ids: () => Promise<readonly string[] | null> = () => Promise.resolve(null);
  /** Files of words for a run: they are here since before this one began. */
  readonly #waiting = new Set<string>();
  #alive = 0;
  #live: runFiles.LiveRun | null = null;
  #watcher: Disposable | null = null;
  #resumed: (() => void) | null = null;
  #resting: Promise<void> | null = null;
  #pausedSince: number | null = null;
  #pausedMs = 0;
  #open: { readonly key: string; take(text: string, origin: runFiles.SteerRequest["origin"]): string | null } | null =
    null;
  /** One after the other: what is written, and what is taken. */
  #queue: Promise<void> = Promise.resolve();
  #isTaking = false;

  constructor(options: SteeringOptions) {
    this.#options = options;
  }

  get stopping(): AbortSignal {
    return this.#stopper.signal;
  }

  get now(): AbortSignal {
    return this.#ender.signal;
  }

  /** From now on commands and the page find it. @param folder absolute path of the folder of its events */
  async begin(folder: string): Promise<void> {
    const { directory, host, run, root } = this.#options;
    if (directory === null || this.#live !== null) return;
    const { pid } = host.environment;
    const started = await processStart(pid) ?? "";
    const since = new Date(host.clock.now()).toISOString();
    this.#live = { v: 1, run, root, folder, pid, started, since, asks: null, pause: null, stopping: false };
    const control = runFiles.controlFolder(directory);
    await ensurePrivateDirectory(control);
    const lost = await runFiles.sweepControl(control);
    for (const [file, { runs, origin, text = "", item = "" }] of await runFiles.toldNext(control)) {
      this.#waiting.add(file);
      if (runs !== dirname(folder)) continue;
      this.#options.events.emit({ type: "steered", action: "tell", origin, text, item });
      this.#told.push({ text, item, file });
    }
    this.#watcher = watchPath(control, () => this.#look(control));
    this.#change(() => ({}));
    this.#look(control);
    await this.#queue;
    for (const text of lost) {
      this.#warn(`told to a run that was killed, and in no prompt of this one: ${text} (\`ralph tell\` says it again)`);
    }
  }

  async ask(request: Omit<runFiles.SteerRequest, "origin">): Promise<void> {
    this.#enqueue(async () => void await this.#take({ request: { ...request, origin: "file" }, outside: null }));
    await this.#queue;
  }

  async rest(signal: AbortSignal): Promise<boolean> {
    await this.#queue; // what was asked before the turn's end counts
    const pauses = this.#live !== null && this.#live.pause !== null && !this.stopping.aborted && !signal.aborted;
    if (pauses) await (this.#resting ??= this.#pause(signal));
    return !this.stopping.aborted;
  }

  async #pause(signal: AbortSignal): Promise<void> {
    const { host, events } = this.#options;
    const since = this.#pausedSince = host.clock.steady();
    events.emit({ type: "pause-start" });
    const over = new AbortController();
    this.#resumed = () => over.abort();
    const ends = AbortSignal.any([over.signal, signal, this.stopping]);
    this.#change(({ pause }) => ({ pause: pause === null ? null : { ...pause, state: "paused" } }));
    await this.#queue;
    // a timer, since nothing else holds the process up meanwhile
    while (this.#live?.pause !== null && !ends.aborted) await host.clock.sleep(LONG_MS, ends);
    this.#resumed = null;
    this.#resting = null;
    this.#change(() => ({ pause: null }));
    const pausedMs = host.clock.steady() - since;
    this.#pausedSince = null;
    this.#pausedMs += pausedMs;
    events.emit({ type: "pause-end", pausedMs });
  }

  pausedMs(): number {
    return this.#pausedMs + (this.#pausedSince === null ? 0 : this.#options.host.clock.steady() - this.#pausedSince);
  }

  told(item: string | null): string {
    const texts = this.#told.filter((one) => {
      if (one.item !== null ? one.item !== item : one.reader !== undefined && one.reader !== item) return false;
      one.reader = item;
      return true;
    });
    this.#enqueue(() => this.#keepAll());
    if (texts.length === 0) return "";
    const lines = texts.map(({ text }) => text.trim()).join("\n\n");
    return `\n\n## From the person who watches this run\n\nSaid since the task was written. It adds to the task above; what has to pass stays as it is.\n\n${lines}\n`;
  }

  unread(): readonly string[] {
    return this.#told.filter(({ reader }) => reader === undefined).map(toldText);
  }

  async keepTold(...[known, keep, ids]: Parameters<Steering["keepTold"]>): Promise<void> {
    for (const [item, texts] of known) {
      const here = this.#told.filter((one) => (one.item ?? one.reader) === item).map(({ text }) => text);
      this.#told.push(
        ...texts.filter((text) => !here.includes(text)).map((text) => ({ text, item, reader: item, isKept: true })),
      );
    }
    this.#keep = keep;
    if (ids !== undefined) this.#ids = ids;
    this.#enqueue(() => this.#keepAll());
    await this.#queue;
  }

  async #keepAll(): Promise<void> {
    let changes = false;
    for (const one of this.#told) {
      const item = one.item ?? one.reader ?? null;
      if (item === null || one.isKept === true || await this.#keep?.(item, one.text) !== true) continue;
      changes = one.isKept = true;
      if (one.file !== undefined) await removePath(one.file);
    }
    if (changes) await this.#write({ told: this.#losable() });
  }

  /** The words that a kill would lose, cut: the next run names them. */
  #losable(): string[] {
    return this.#told.filter(({ isKept, file }) => isKept !== true && file === undefined).slice(-KEPT_TEXTS)
      .map((one) => toldText(one).slice(0, KEPT_LENGTH));
  }

  offer(question: Omit<runFiles.OpenQuestion, "key" | "since">, accept: (text: string) => string | null): Offer {
    const { host } = this.#options;
    const key = host.ids.random(KEY_LENGTH);
    const since = new Date(host.clock.now()).toISOString();
    const answer: Offer["answer"] = new Promise((resolve) => {
      this.#open = {
        key,
        take(text, origin) {
          const value = accept(text);
          if (value !== null) resolve({ value, origin });
          return value;
        },
      };
    });
    this.#change(() => ({ asks: { ...question, key, since } }));
    return {
      answer,
      [Symbol.dispose]: () => {
        if (this.#open?.key !== key) return;
        this.#open = null;
        this.#change(() => ({ asks: null }));
      },
    };
  }

  /** Processes as they are, counted while what an agent has written runs in them. */
  counted(processes: Processes): Processes {
    const run = async (request: ProcessRequest): Promise<ProcessEnd> => {
      const counts = request.guarded !== false && request.sandbox?.role !== "service"; // git runs unguarded
      if (counts) this.#alive += 1;
      try {
        return await processes.run(request);
      } finally {
        if (counts) this.#alive -= 1;
      }
    };
    return { ...processes, run };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#watcher?.[Symbol.dispose]();
    const { directory, run } = this.#options;
    const began = this.#live !== null;
    this.#live = null;
    await this.#queue;
    const unknown = this.#keep === null ? [] : this.#told.filter(({ isKept }) => isKept !== true);
    for (const { file } of unknown) if (file !== undefined) await removePath(file); // no item of the loop
    if (began && directory !== null) await removePath(runFiles.liveFile(runFiles.controlFolder(directory), run));
  }

  /** A change of the folder: what waits is taken in its turn. */
  #look(control: string): void {
    if (this.#isTaking) return;
    this.#isTaking = true;
    this.#enqueue(async () => {
      this.#isTaking = false;
      const { run, host } = this.#options;
      for (const arrived of await runFiles.takeRequests(control, run, host.processes.runToken)) {
        await arrived.reply(await this.#take(arrived));
      }
      for (const file of (await runFiles.toldNext(control)).keys()) {
        if (this.#waiting.has(file)) continue;
        await removePath(file); // who may tell the run something asks it
        this.#warn("not taken, from outside: words for the next run, written while this one is at work");
      }
    });
  }

  async #take({ request, outside }: Omit<runFiles.ArrivedRequest, "reply">): Promise<runFiles.SteerReply> {
    const refused = this.#refusal(request, outside);
    if (refused !== null) {
      this.#warn(`not taken, from outside: ${request.action}: ${refused}`);
      return { status: "refused", message: refused };
    }
    const { action, origin, text = "", item } = request;
    const ids = action === "tell" && item !== undefined ? await this.#ids().catch(() => null) : null;
    if (item !== undefined && ids?.includes(item) === false) return unknownItem(item, ids);
    if (action === "answer") {
      const value = this.#open?.take(text, origin) ?? null;
      return value === null
        ? { status: "refused", message: "the question does not accept this answer" }
        : { status: "taken", message: `answered: ${value}` };
    }
    const told = action === "tell" ? text : null;
    this.#options.events.emit({ type: "steered", action, origin, text: told, item: item ?? null });
    return { status: "taken", message: await this.#act(request) };
  }

  /** Why a request does not count. An agent of the same user can write files too: it must not answer for the person. */
  #refusal({ action, key, text = "" }: runFiles.SteerRequest, outside: boolean | null): string | null {
    if (outside === false) return NOT_BY_THE_RUN;
    switch (action) {
      case "answer":
        if (this.#open === null || key !== this.#open.key) return "the question is no longer open";
        return this.#alive > 0 ? "an agent, a check or a hook is at work: answer when it has ended" : null;
      case "resume":
        if (this.#live?.pause === null || this.#live?.pause.key !== key) return "the run is not paused";
        return outside === null && this.#alive > 0 ? "a turn is at work: resume when it has ended" : null;
      case "pause":
        return this.#live?.pause === null ? null : "the run pauses already";
      case "tell":
        return text.trim() === "" ? "nothing was told" : null;
      case "stop":
      case "stop-now":
        return null;
    }
  }

  async #act({ action, text = "", item }: runFiles.SteerRequest): Promise<string> {
    switch (action) {
      case "pause": {
        const { host } = this.#options;
        const since = new Date(host.clock.now()).toISOString();
        await this.#write({ pause: { state: "asked", key: host.ids.random(KEY_LENGTH), since } });
        return this.#alive > 0 ? "it pauses after the present turn" : "it pauses before the next turn";
      }
      case "resume":
        await this.#write({ pause: null });
        this.#resumed?.();
        return "it continues";
      case "stop":
        await this.#write({ stopping: true });
        this.#stopper.abort();
        return this.#alive > 0 ? "it stops after the present turn" : "it stops";
      case "stop-now":
        await this.#write({ stopping: true });
        this.#stopper.abort();
        this.#ender.abort(new RalphError("interrupted"));
        return "it ends now";
      case "tell":
        this.#told.push({ text, item: item ?? null });
        await this.#keepAll();
        await this.#write({ told: this.#losable() });
        return item === undefined ? "it will be in the next prompt" : `it will be in the next prompt for ${item}`;
      case "answer":
        return "";
    }
  }

  #change(change: (live: runFiles.LiveRun) => Partial<runFiles.LiveRun>): void {
    this.#enqueue(async () => {
      if (this.#live !== null) await this.#write(change(this.#live));
    });
  }

  async #write(change: Partial<runFiles.LiveRun>): Promise<void> {
    const { directory, run } = this.#options;
    if (this.#live === null || directory === null) return;
    this.#live = { ...this.#live, ...change };
    await writeOwn(runFiles.liveFile(runFiles.controlFolder(directory), run), JSON.stringify(this.#live));
  }

  #enqueue(act: () => Promise<void>): void {
    this.#queue = this.#queue.then(act).catch((error: unknown) => {
      this.#warn(`the run cannot be steered from outside: ${error instanceof Error ? error.message : String(error)}`);
    });
  }

  #warn(message: string): void {
    this.#options.events.emit({ type: "note", level: "warn", message });
  }
}
