import { expect, test } from "vitest";
import { hitsIn } from "../../lib/measured/coverage_formats.ts";

const LCOV =
  "TN:\nSF:lib/a.js\nDA:1,1\nDA:2,0\nend_of_record\nSF:lib/b.js\nDA:1,0\nend_of_record\nSF:lib/a.js\nDA:2,3\n";
const COBERTURA = `<?xml version="1.0" ?>
<coverage version="7"><sources><source>/p/src</source></sources><packages><package><classes>
<class name="a.py" filename="a.py"><methods><method><lines><line number="2" hits="9"/></lines></method></methods>
<lines><line number="1" hits="1"/><line number="2" hits="0"/></lines></class></classes></package></packages></coverage>`;
const PROFILE = "mode: set\nexample.org/m/pkg/a.go:3.14,5.3 2 1\nexample.org/m/pkg/a.go:5.3,7.2 1 0\n";
const CODE = "f = () => {\n  // why\n  if (x) {\n    y();\n  }\n};\n";
const V8 = JSON.stringify({
  result: [
    { url: "node:fs", functions: [{ ranges: [{ startOffset: 0, endOffset: 9, count: 0 }] }] },
    {
      url: "file:///p/a.js",
      functions: [
        { ranges: [{ startOffset: 0, endOffset: CODE.length, count: 1 }] },
        { ranges: [{ startOffset: 4, endOffset: 48, count: 1 }, { startOffset: 28, endOffset: 45, count: 0 }] },
      ],
    },
  ],
});
const about = { source: (name: string) => name === "file:///p/a.js" ? CODE : null, module: "example.org/m" };

test.each([
  ["lcov, whose parts add up", LCOV, { "lib/a.js": { 1: 1, 2: 3 }, "lib/b.js": { 1: 0 } }],
  ["Cobertura, below its source", COBERTURA, { "/p/src/a.py": { 1: 1, 2: 0 } }],
  ["a coverprofile, without the module's name", PROFILE, { "pkg/a.go": { 3: 1, 4: 1, 5: 1, 6: 0, 7: 0 } }],
  ["V8's ranges, the innermost of each line", V8, { "file:///p/a.js": { 1: 1, 3: 1, 4: 0 } }],
])("%s", (_, text, expected) => {
  const found: Record<string, Record<number, number>> = {};
  for (const { file, line, count } of hitsIn(text, about)) {
    const lines = found[file] ??= {};
    lines[line] = (lines[line] ?? 0) + count;
  }
  expect(found).toEqual(expected);
});

test.each(["", "{", "{}", "hello\nmode: set\n", "<html></html>"])("%j is no coverage", (text) => {
  expect([...hitsIn(text, about)]).toEqual([]);
});
