/** Lines of a stream, one at a time; the stream rests in between, so that it holds no process up. */
export interface LineReader {
  /** The next line without its end, or `null` at the end of input. Rejects with the signal's reason when it aborts. */
  next(signal: AbortSignal): Promise<string | null>;
}

/** Reads lines of UTF-8 text. What came behind a line waits for the next call. */
export function createLineReader(stream: NodeJS.ReadableStream): LineReader {
  const decoder = new TextDecoder();
  let buffered = "";
  let ended = false;

  function takeLine(): string | null {
    const end = buffered.indexOf("\n");
    if (end === -1 && !(ended && buffered !== "")) return null;
    const line = end === -1 ? buffered : buffered.slice(0, end);
    buffered = end === -1 ? "" : buffered.slice(end + 1);
    return line.replace(/\r$/, "");
  }

  return {
    next(signal) {
      ended ||= (stream as { readonly readableEnded?: boolean }).readableEnded === true; // its end came between two calls
      const ready = takeLine();
      if (ready !== null || ended) return Promise.resolve(ready);
      return new Promise((resolve, reject) => {
        const settle = (act: () => void): void => {
          stream.off("data", onData);
          stream.off("end", onEnd);
          stream.off("error", onEnd);
          signal.removeEventListener("abort", onAbort);
          stream.pause();
          act();
        };
        const onData = (chunk: unknown): void => {
          buffered += typeof chunk === "string" ? chunk : decoder.decode(chunk as Uint8Array, { stream: true });
          const line = takeLine();
          if (line !== null) settle(() => resolve(line));
        };
        const onEnd = (): void => {
          ended = true;
          settle(() => resolve(takeLine()));
        };
        const onAbort = (): void => settle(() => reject(signal.reason));
        if (signal.aborted) return reject(signal.reason);
        stream.on("data", onData);
        stream.on("end", onEnd);
        stream.on("error", onEnd);
        signal.addEventListener("abort", onAbort);
        stream.resume();
      });
    },
  };
}
