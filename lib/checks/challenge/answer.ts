import { nextFence } from "../../backlog/fences.ts";

/** A check that the author of the work has not seen. */
export interface UnseenCheck {
  /** Prints what it observed. */
  readonly command: string;
  /** What it has to print. */
  readonly expect: string;
}

/** Reads the last code block of an answer that holds a check; `null` where none does. */
export async function unseenCheckOf(text: string): Promise<UnseenCheck | null> {
  const { z } = await import("zod");
  const schema = z.object({ command: z.string().trim().min(1), expect: z.string() });
  for (const block of fencedBlocks(text).toReversed()) {
    const found = schema.safeParse(jsonOf(block));
    if (found.success) return found.data;
  }
  return null;
}

/** White space at the end, and how lines end, make no difference. Pure. */
export function sameText(observed: string, expected: string): boolean {
  return normal(observed) === normal(expected);
}

function normal(text: string): string {
  return text.replaceAll("\r\n", "\n").trimEnd();
}

function fencedBlocks(text: string): readonly string[] {
  const blocks: string[] = [];
  let fence: ReturnType<typeof nextFence>["fence"] = null;
  let lines: string[] = [];
  for (const line of text.split(/\r?\n/)) {
    const next = nextFence(fence, line);
    if (fence === null) lines = [];
    else if (next.fence === null) blocks.push(lines.join("\n"));
    else lines.push(line);
    fence = next.fence;
  }
  return blocks;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null; // an agent's block of another kind
  }
}
