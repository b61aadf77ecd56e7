import type { Host } from "../../../host/types.ts";

/** The lines of standard input that hold something. */
export async function linesOfInput({ terminal }: Pick<Host, "terminal">): Promise<readonly string[]> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of terminal.stdin) chunks.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
  return Buffer.concat(chunks).toString("utf8").split("\n").map((line) => line.trim()).filter((line) => line !== "");
}
