import type { Context } from "hono";
import { streamSSE } from "hono/streaming";
import type { Host } from "../host/types.ts";
import type { Markup } from "../report/markup.ts";
import type { Regions } from "./layout.ts";

/** A page as it is at one moment. */
export interface Drawn {
  readonly regions: Regions;
  /** For who cannot look. */
  readonly announcement: string;
  readonly title: string;
}

/** How often a page is drawn anew at most, and how often a stream says that it is there. */
const LEAST_MS = 250;
const BEAT_MS = 30_000;

/** Sends what has changed of a page, four times a second at most, and nothing while nothing changes. */
export function streamPage(
  context: Context,
  { host, signal }: { readonly host: Host; readonly signal: AbortSignal },
  changed: (act: () => void) => Promise<Disposable>,
  draw: () => Promise<Drawn>,
): Response {
  return streamSSE(context, async (stream) => {
    const gone = new AbortController();
    stream.onAbort(() => gone.abort());
    const over = AbortSignal.any([gone.signal, signal]);
    let wake = new AbortController();
    using _watching = await changed(() => wake.abort());
    const sent = new Map<string, string>();
    while (!over.aborted) {
      wake = new AbortController();
      const { regions, announcement, title } = await draw();
      const fresh: Record<string, string> = {};
      for (const [id, { markup }] of Object.entries(regions) as [string, Markup][]) {
        if (sent.get(id) === markup) continue;
        sent.set(id, markup);
        fresh[id] = markup;
      }
      if (Object.keys(fresh).length > 0) {
        await stream.writeSSE({ event: "patch", data: JSON.stringify({ regions: fresh, announcement, title }) });
      }
      await host.clock.sleep(LEAST_MS, over);
      while (!over.aborted && !wake.signal.aborted) {
        await host.clock.sleep(BEAT_MS, AbortSignal.any([over, wake.signal]));
        if (!wake.signal.aborted) await stream.write(": still here\n\n");
      }
    }
  });
}
