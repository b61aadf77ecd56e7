import type { AgentEvent } from "./adapter.ts";

/** Words that come in pieces, put together. */
export interface Deltas {
  add(text: string | null): readonly AgentEvent[];
  /** The message is over. */
  flush(): readonly AgentEvent[];
  /** Forgets the pieces: the whole message has come by itself. */
  drop(): readonly [];
}

/** A message longer than this is passed on in parts. */
const LONGEST = 1024 * 1024;

export function createDeltas(): Deltas {
  let parts: string[] = [];
  let length = 0;

  function drop(): readonly [] {
    parts = [];
    length = 0;
    return [];
  }

  function flush(): readonly AgentEvent[] {
    if (length === 0) return [];
    const text = parts.join("");
    drop();
    return [{ type: "agent-text", text }];
  }

  return {
    add(text) {
      if (text === null) return [];
      parts.push(text);
      length += text.length;
      return length > LONGEST ? flush() : [];
    },
    flush,
    drop,
  };
}
