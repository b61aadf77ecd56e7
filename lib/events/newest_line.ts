import { createTail } from "../host/tail.ts";
import type { Preview } from "./types.ts";

const KEPT_BYTES = 8 * 1024;
const SHOWN = 2000;

/** Looks at a stream as it passes. */
export interface NewestLine {
  push(chunk: Uint8Array): void;
  readonly read: Preview;
}

/** The end of a stream with secrets masked: nothing is done with the bytes before it is read. */
export function createNewestLine(): NewestLine {
  const tail = createTail(KEPT_BYTES);
  let isRead = true;
  let shown = "";
  return {
    push(chunk) {
      tail.push(chunk);
      isRead = false;
    },
    read() {
      if (!isRead) shown = tail.text().slice(-SHOWN);
      isRead = true;
      return shown;
    },
  };
}
