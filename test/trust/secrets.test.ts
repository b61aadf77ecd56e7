import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { verify } from "../../lib/checks/verify.ts";
import { createRedactor, secretValues } from "../../lib/events/redact.ts";
import { testContext } from "../../lib/testing/mod.ts";
import { printed, VARIABLES } from "./secret_lines.ts";

describe("a secret is masked wherever it is in a line", () => {
  const redactor = createRedactor(secretValues(VARIABLES));

  test.each(printed())("%j", (line, hidden) => {
    expect(redactor.text(line)).not.toContain(hidden);
    expect(redactor.text(line)).toContain("***");
  });
});

test("checks that are functions and dax commands are masked like the others", async () => {
  await using ralph = await testContext({ agent: { turns: [] } });
  const key = `${"gh"}p_IIIIabcdefghijklmnopqrstuvwxyz012345`;
  const logs = join(ralph.root, "logs");

  const { results } = await verify(ralph, [
    ralph.$`echo ${key}`,
    async ($: typeof ralph.$) => await $`echo ${key}`,
    { name: "finding", run: () => Promise.resolve({ ok: false, exitCode: null, tail: key }) },
    { name: "thrown", run: () => Promise.reject(new Error(key)) },
    { name: "expected", command: `echo ${key}`, expect: { output: key } },
  ], { logs });

  expect(results.map(({ ok }) => ok)).toEqual([true, true, false, false, true]);
  for (const { tail } of results) expect(tail).toContain("***");
  for (const { tail } of results) expect(tail).not.toContain(key);
  for (const name of readdirSync(logs)) expect(readFileSync(join(logs, name), "utf8")).not.toContain(key);
});
