import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createTurnOutput } from "../../lib/agents/turn_output.ts";

function collect(parts: readonly Uint8Array[], options: { prompt?: string; keptBytes?: number } = {}) {
  const output = createTurnOutput(options);
  for (const part of parts) output.push(part);
  return output.finish();
}

const line = fc.oneof(
  fc.constantFrom("```", "````", "~~~", "```js", "  ```", "DONE", "", "text", "`x`", "é€𝄞", "> DONE", "a\0b"),
  fc.string({ maxLength: 10 }),
);

describe("createTurnOutput()", () => {
  test("createTurnOutput() decodes a character that is split between chunks", () => {
    const bytes = Buffer.from("grün €\n");

    const words = collect([...bytes].map((byte) => Uint8Array.of(byte)));

    expect(words).toEqual({ text: "grün €\n", lines: ["grün €"] });
  });

  test("createTurnOutput() replaces damaged bytes and keeps NUL", () => {
    const words = collect([Uint8Array.of(65, 0, 66, 10, 0xff, 0xfe, 10, 68)]);

    expect(words.text).toBe("A\0B\n\ufffd\ufffd\nD");
    expect(words.lines).toEqual(["A\0B", "\ufffd\ufffd", "D"]);
  });

  test("createTurnOutput() reads a line as a terminal shows it, without colours and what was written over", () => {
    const printed = "\u001b[1mok\u001b[0m\r\n\u001b[0m50 %\r99 %\r\u001b[0m<promise a1>COMPLETE</promise>\n";

    const words = collect([Buffer.from(printed)]);

    expect(words).toEqual({
      text: "ok\r\n<promise a1>COMPLETE</promise>\n",
      lines: ["ok", "<promise a1>COMPLETE</promise>"],
    });
  });

  test("createTurnOutput() keeps the last bytes, in whole characters, and no line that was cut", () => {
    const words = collect([Buffer.from("DONE €€€€\nlast\n")], { keptBytes: 11 });

    expect(words).toEqual({ text: "€\nlast\n".slice(-11), lines: ["last"] });
  });

  test("createTurnOutput() knows of a fence that was opened before what it kept", () => {
    const filler = "x\n".repeat(5000);

    expect(collect([Buffer.from(`\`\`\`\n${filler}DONE`)], { keptBytes: 64 }).lines).toEqual([]);
    expect(collect([Buffer.from(`\`\`\`\n${filler}\`\`\`\n${filler}DONE`)], { keptBytes: 64 }).lines.at(-1)).toBe(
      "DONE",
    );
  });

  test("createTurnOutput() gives the same words for any split of the same bytes", () => {
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 60 }),
        fc.uint8Array({ maxLength: 6 }),
        fc.array(fc.nat(70), { maxLength: 40 }),
        (lines, noise, sizes) => {
          const bytes = Buffer.concat([Buffer.from(lines.join("\n")), noise]);
          const parts: Uint8Array[] = [];
          let offset = 0;
          for (const size of sizes) {
            parts.push(bytes.subarray(offset, offset + size));
            offset += size;
          }
          parts.push(bytes.subarray(offset));

          expect(collect(parts, { keptBytes: 100 })).toEqual(collect([bytes], { keptBytes: 100 }));
          // A part that fits is taken as it is: the cheap scan of the dropped parts agrees with the full one.
          const all = collect(parts, { keptBytes: 100_000 }).lines;
          const end = collect(parts, { keptBytes: 100 }).lines;
          if (end.length > 0) expect(all.slice(-end.length)).toEqual(end);
        },
      ),
      { numRuns: 2000 },
    );
  });

  test("createTurnOutput() keeps its memory flat while 200 MB pass, in one line or in many", () => {
    const chunk = Buffer.from("words of an agent, and then some more\n".repeat(1700));
    const endless = Buffer.alloc(65536, "x");
    const output = createTurnOutput();
    const before = process.memoryUsage().arrayBuffers;

    for (let index = 0; index < 1600; index += 1) output.push(chunk);
    for (let index = 0; index < 1600; index += 1) output.push(endless);
    output.push(Buffer.from("\nDONE\n"));

    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * 1024 * 1024);
    expect(output.finish().lines).toEqual(["DONE"]);
  });
});
