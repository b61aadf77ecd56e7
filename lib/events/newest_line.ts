import { createTail } from "../host/tail.ts";
import type { Redactor } from "./redact.ts";
import type { Preview } from "./types.ts";

/** Bytes kept of a stream: a secret that is cut in two at their beginning is not in what is shown. */
const KEPT_BYTES = 16 * 1024;
const SHOWN = 2000;

/** Looks at a stream as it passes. */
export interface NewestLine {
  push(chunk: Uint8Array): void;
  readonly read: Preview;
}

/** The end of a stream, for whoever looks: nothing is done with the bytes before somebody asks. */
export function createNewestLine(redactor: () => Pick<Redactor, "text">): NewestLine {
  const tail = createTail(KEPT_BYTES);
  let isRead = true;
  let shown = "";
  return {
    push(chunk) {
      tail.push(chunk);
      isRead = false;
    },
    read() {
      if (!isRead) shown = redactor().text(tail.text()).slice(-SHOWN);
      isRead = true;
      return shown;
    },
  };
}
