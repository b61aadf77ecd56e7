/**
 * The updates that a tracker has not been told yet. Each is on the disk before anything is sent, and everything in it
 * may be sent twice: a run that is killed, offline or at a limit loses nothing.
 *
 * @module
 */
import { z } from "zod";
import { RalphError } from "../errors/ralph_error.ts";
import type { Redactor } from "../events/redact.ts";
import { jsonIn } from "../host/data.ts";
import { readText, writeOwn } from "../host/files.ts";
import { createSlots } from "../host/slots.ts";
import type { Claimed, Claims, Hold } from "./claims.ts";
import type { IssueState, Tracker } from "./types.ts";

/** One issue's newest news. */
export interface Update extends Claimed {
  readonly state: IssueState;
  readonly text: string;
  /** Not pushed yet; `null`: nothing is. */
  readonly branch: { readonly name: string; readonly commit: string } | null;
}

const UPDATE: z.ZodType<Update> = z.object({
  id: z.string(),
  asks: z.string(),
  state: z.enum(["open", "working", "review", "blocked"]),
  text: z.string(),
  branch: z.object({ name: z.string(), commit: z.string() }).nullable(),
});

export interface OutboxOptions {
  /** Absolute path. */
  readonly file: string;
  readonly tracker: Tracker;
  readonly claims: Claims;
  /** No secret leaves with a comment. */
  readonly redactor: Redactor;
  readonly warn: (message: string) => void;
  /** Another runner has the issue: its work is nobody's to propose. */
  readonly onLost: (update: Update) => Promise<void>;
}

/** The updates in a file. */
export async function readOutbox(file: string): Promise<readonly Update[]> {
  const read = z.array(UPDATE).safeParse(jsonIn(await readText(file)));
  return read.success ? read.data : [];
}

/** The updates of one clone. */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #oneAtATime = createSlots(1);
  #updates: readonly Update[] | null = null;
  /** Why the last one was not sent. */
  reason: string | null = null;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** The ones that wait. */
  async waiting(): Promise<readonly Update[]> {
    return this.#updates ??= await readOutbox(this.#options.file);
  }

  /** Replaces what was to be said of the issue before. */
  async put(update: Update): Promise<void> {
    await this.#oneAtATime.run(async () => {
      const others = (await this.waiting()).filter(({ id }) => id !== update.id);
      await this.#keep([...others, update]);
    });
  }

  /** Sends what can be sent. */
  async send(): Promise<void> {
    await this.#oneAtATime.run(async () => {
      this.reason = null;
      for (const update of await this.waiting()) {
        const rest = await this.#restOf(update);
        const others = (await this.waiting()).filter(({ id }) => id !== update.id);
        if (rest !== update) await this.#keep(rest === null ? others : [...others, rest]);
      }
    });
  }

  /** Sends one. @returns the rest that could not be sent; `null`: nothing */
  async #restOf(update: Update): Promise<Update | null> {
    const { tracker, redactor, onLost, warn } = this.#options;
    const { id, asks, text } = update;
    const held = await this.#held(update);
    if (held === "offline") {
      this.reason = "the remote does not take branch and claim";
      return update;
    }
    if (held === "theirs") {
      await onLost(update);
      return null;
    }
    try {
      // the same one for the same text of the issue, whichever run and runner goes on with it
      await tracker.comment(id, `<!-- ralph:${asks.slice(0, 12)}:${id} -->`, redactor.text(text));
      await tracker.state(id, update.state);
    } catch (error) {
      if (!RalphError.isInstance(error) || !error.code.startsWith("tracker-")) throw error;
      if (error.code !== "tracker-refused") {
        this.reason = error.message;
        return { ...update, branch: null };
      }
      warn(`${id} is not told: ${error.message}`);
    }
    return null;
  }

  /** Finds out who has the issue at this moment; branch and claim move together. */
  async #held(update: Update): Promise<Hold> {
    const { claims } = this.#options;
    const { state, branch } = update;
    if (state === "review") return await claims.hold(update, "passed", branch ?? undefined);
    return await claims.hold(update, state === "blocked" ? "blocked" : "working");
  }

  async #keep(updates: readonly Update[]): Promise<void> {
    this.#updates = updates;
    await writeOwn(this.#options.file, JSON.stringify(updates));
  }
}
