import v8 from "node:v8";
import vm from "node:vm";

/** Collects at once what nothing refers to: runtimes do it late, and later still in a worker that has run other files. */
const collect = collector();

function collector(): () => void {
  const { Bun } = globalThis as { readonly Bun?: { gc(force: boolean): void } };
  if (Bun !== undefined) return () => Bun.gc(true);
  v8.setFlagsFromString("--expose-gc");
  return vm.runInNewContext("gc") as () => void;
}

/** Bytes that are referred to. */
export function liveMemory(): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** The result of some work, and the most bytes that are held meanwhile above those that were held before. */
export async function peakOf<Result>(
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly peak: number }> {
  const before = liveMemory();
  let most = before;
  const timer = setInterval(() => most = Math.max(most, liveMemory()), 200); // each look collects all
  try {
    const result = await work();
    return { result, peak: Math.max(most, liveMemory()) - before };
  } finally {
    clearInterval(timer);
  }
}
