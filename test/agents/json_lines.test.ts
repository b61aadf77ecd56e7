import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { JsonLines } from "../../lib/agents/json_lines.ts";
import { liveMemory } from "../live_memory.ts";

function read(parts: readonly Uint8Array[], options: { ignored?: readonly string[]; longest?: number } = {}) {
  const values: object[] = [];
  const problems: string[] = [];
  const lines = new JsonLines({
    take: (value) => values.push(value),
    invalid: (reason, line) => problems.push(`${reason}: ${line}`),
    ...options,
  });
  for (const part of parts) lines.push(part);
  lines.end();
  return { values, problems };
}

describe("new JsonLines()", () => {
  test("new JsonLines() reads a line each, blank ones, carriage returns and a missing end aside", () => {
    const { values, problems } = read([Buffer.from('\ufeff{"a":1}\r\n\n  \n{"b":"ü€𝄞"}')]);

    expect(values).toEqual([{ a: 1 }, { b: "ü€𝄞" }]);
    expect(problems).toEqual([]);
  });

  test("new JsonLines() tells what is no object", () => {
    const { values, problems } = read([Buffer.from('hello\n5\n[1]\nnull\n{"a":1}\n{"torn":')]);

    expect(values).toEqual([{ a: 1 }]);
    expect(problems).toEqual([
      "not JSON: hello",
      "not an object: 5",
      "not an object: [1]",
      "not an object: null",
      'not JSON: {"torn":',
    ]);
  });

  test("new JsonLines() does not keep a line that is too long, and reads the next one", () => {
    const lines: number[] = [];
    const problems: string[] = [];
    const reader = new JsonLines({
      take: (value) => lines.push((value as { n: number }).n),
      invalid: (reason) => problems.push(reason),
    });
    const chunk = Buffer.alloc(1024 * 1024, "x");
    const before = liveMemory();

    reader.push(Buffer.from('{"n":1}\n{"long":"'));
    let most = 0;
    for (let index = 0; index < 50; index += 1) {
      reader.push(Buffer.from(chunk));
      if (index % 5 === 0) most = Math.max(most, liveMemory() - before);
    }
    reader.push(Buffer.from('"}\n{"n":2}'));
    reader.end();

    expect(lines).toEqual([1, 2]);
    expect(problems).toEqual(["longer than 8388608 bytes"]);
    expect(most).toBeLessThan(40 * 1024 * 1024);
  });

  test("new JsonLines() passes over lines that nobody needs", () => {
    const ignored = ['{"type":"delta"'];
    const text = '{"type":"delta","x":1}\n{"type":"end"}\n{"type":"delta" broken\n{"type":"delt"}';

    expect(read([Buffer.from(text)], { ignored })).toEqual({
      values: [{ type: "end" }, { type: "delt" }],
      problems: [],
    });
  });

  test("new JsonLines() gives the same for any split of the same bytes", () => {
    const line = fc.oneof(
      fc.json(),
      fc.string(),
      fc.constantFrom('{"type":"delta","a":1}', "{", '{"long":"0123456789"}', "é€𝄞"),
    );
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 20 }),
        fc.uint8Array({ maxLength: 8 }),
        fc.array(fc.nat(9), { maxLength: 60 }),
        (lines, noise, sizes) => {
          const bytes = Buffer.concat([Buffer.from(lines.join("\n")), noise]);
          const parts: Uint8Array[] = [];
          let offset = 0;
          for (const size of sizes) {
            parts.push(bytes.subarray(offset, offset + size));
            offset += size;
          }
          parts.push(bytes.subarray(offset));
          const options = { ignored: ['{"type":"delta"'], longest: 20 };

          expect(read(parts, options)).toEqual(read([bytes], options));
        },
      ),
      { numRuns: 2000 },
    );
  });
});
