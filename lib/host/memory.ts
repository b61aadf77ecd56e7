import process from "node:process";

interface BunRuntime {
  gc(force: boolean): void;
}

/** So much more than after the last look, and this part of it, is worth another one. */
const STEP_BYTES = 12_000_000;
const STEP_PART = 0.15;

/**
 * Bun lets its memory double before it looks for what can be freed: a program that runs for days has to look whenever
 * it has grown. To be called where little is in use; elsewhere than under Bun nothing is done.
 */
export function createCollector(): () => void {
  const bun = (globalThis as { readonly Bun?: BunRuntime }).Bun;
  if (bun === undefined) return () => {};
  let least = Infinity;
  return () => {
    const now = process.memoryUsage.rss();
    least = Math.min(least, now);
    if (now < least + Math.max(STEP_BYTES, STEP_PART * least)) return;
    bun.gc(true);
    least = process.memoryUsage.rss();
  };
}
