/** Looks at the memory every so many bytes of a stream; above the mark, what was read is collected at once. */
const EVERY_BYTES = 4_000_000;
const ABOVE_BYTES = 90_000_000;

interface Collector {
  gc(force: boolean): void;
}

/**
 * Bun lets the buffers of a fast stream pile up to twice the memory before it collects them. Elsewhere nothing is done.
 *
 * @returns to be called with the length of each chunk
 */
export function createCollector(): (bytes: number) => void {
  const bun = (globalThis as { readonly Bun?: Collector }).Bun;
  if (bun === undefined) return () => {};
  let received = 0;
  return (bytes) => {
    received += bytes;
    if (received < EVERY_BYTES) return;
    received = 0;
    if (process.memoryUsage.rss() > ABOVE_BYTES) bun.gc(true);
  };
}
