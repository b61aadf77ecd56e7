import type { AgentEvent } from "./adapter.ts";
import { textEvents } from "./events.ts";

/** A message longer than this is passed on in parts. */
const LONGEST = 1024 * 1024;

/** Words that come in pieces, put together. */
export class Deltas {
  #text = "";

  add(text: string | null): readonly AgentEvent[] {
    this.#text += text ?? "";
    return this.#text.length > LONGEST ? this.flush() : [];
  }

  /** The message is over. */
  flush(): readonly AgentEvent[] {
    const events = textEvents(this.#text);
    this.drop();
    return events;
  }

  /** Forgets the pieces: the whole message has come by itself. */
  drop(): readonly [] {
    this.#text = "";
    return [];
  }
}
