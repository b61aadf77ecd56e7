import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../lib/host/files.ts";

const lib = fileURLToPath(new URL("../../lib", import.meta.url));

/** Reads a program's JSON lines as a turn does: masked, each chunk's memory freed once its receiver is done. */
const PROGRAM = `
import { createHash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { JsonLines } from "${lib}/agents/json_lines.ts";
import { createRedactor } from "${lib}/events/redact.ts";
import { createHost } from "${lib}/host/create_host.ts";
const host = createHost();
const printed = createHash("sha256");
let texts = 0;
let wrong = 0;
let chunks = 0;
const lines = new JsonLines({ take: (line) => void (texts += line.text.length), invalid: () => void (wrong += 1) });
await host.processes.run({
  file: "cat",
  arguments: [process.argv[2]],
  cwd: ".",
  mask: () => createRedactor(["a secret that is nowhere"]).stream(),
  onOutput(chunk) {
    lines.push(chunk);
    if (chunks++ % 50 !== 0) return void printed.update(chunk);
    return wait(5).then(() => void printed.update(chunk)); // it is held back, and must be whole until then
  },
});
lines.end();
await host.processes[Symbol.asyncDispose]();
console.log(JSON.stringify({ texts, wrong, hash: printed.digest("hex") }));
`;

test("under Bun, where a stream's memory is freed as it is read, every byte and every line across chunks arrives", async () => {
  await using folder = await temporaryDirectory("ralph-bun-stream-");
  const lengths = Array.from({ length: 600 }, (_, index) => (index * 7919) % 90_000);
  const content = lengths.map((length, index) =>
    `${JSON.stringify({ text: String.fromCharCode(97 + index % 26).repeat(length) })}\n`
  ).join("");
  const file = join(folder.path, "lines");
  const program = join(folder.path, "read.ts");
  writeFileSync(file, content);
  writeFileSync(program, PROGRAM);
  const bun = createRequire(import.meta.url).resolve("bun/bin/bun.exe");

  const read = JSON.parse(execFileSync(bun, [program, file], { encoding: "utf8", cwd: folder.path }));

  expect(read).toEqual({
    texts: lengths.reduce((sum, length) => sum + length, 0),
    wrong: 0,
    hash: createHash("sha256").update(content).digest("hex"),
  });
});
