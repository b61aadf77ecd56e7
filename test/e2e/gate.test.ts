import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Cli, type CliResult, ralphCli } from "./cli.ts";

const BROKEN = "export const add = (a, b) => a - b;\n";
const FIXED = "export const add = (a, b) => a + b;\n";
const TEST = `import test from "node:test"; import assert from "node:assert"; import { add } from "../add.mjs";
test("add", () => assert.equal(add(2, 3), 5));
`;
const WEAKENED = `import test from "node:test"; test("add", () => {});\n`;
const CONFIG = `{ "verify": { "default": ["node --test"] } }\n`;
const FILES = { "add.mjs": BROKEN, "test/add.test.mjs": TEST, "ralph.config.json": CONFIG };

/** A branch off `main` with work of another loop. */
function branch(files: Readonly<Record<string, string>>): Cli {
  const put = Object.entries(files).map(([path, text]) => `printf '%s' '${text}' > ${path}`).join(" && ");
  return ralphCli().files(FILES).before(`git checkout -q -b work && ${put} && git add -A && git commit -q -m work`);
}

describe("ralph gate", () => {
  test("passes work that the tests from before it pass, and stores and marks nothing", async () => {
    const { stderr, git } = await branch({ "add.mjs": FIXED }).args("gate").expectExit(0);

    expect(stderr).toMatch(/^passed since [\da-f[]/m);
    expect(git("status", "--porcelain")).toBe("");
    expect(git("log", "--format=%s")).toBe("work\nstart");
  });

  test("judges what is not committed as well", async () => {
    await ralphCli().files(FILES).dirty({ "add.mjs": FIXED }).args("gate", "--base", "HEAD").expectExit(0);
    await ralphCli().files(FILES).args("gate", "--base", "HEAD").expectExit(1);
  });

  test("refuses work that passes only with a weakened test, and names it", async () => {
    const { stdout } = await branch({ "test/add.test.mjs": `${WEAKENED.replaceAll("'", "")}` })
      .args("gate", "--json").expectExit(1);

    const verdict = JSON.parse(stdout) as { readonly status: string; readonly reasons: readonly string[] };
    expect(verdict.status).toBe("failed");
    expect(verdict.reasons[0]).toBe("tests changed: test/add.test.mjs +1 −2");
    expect(verdict.reasons[1]).toMatch(/^with the tests as they were: node --test: exit 1/);
  });

  test("takes its checks from the base: what is judged does not choose them", async () => {
    await branch({ "ralph.config.json": `{ "verify": { "default": ["true"] } }` }).args("gate").expectExit(1);
  });

  test("without a check nothing is passed", async () => {
    const { stderr } = await ralphCli().files({ "a.txt": "a\n" }).args("gate").expectExit(1);

    expect(stderr).toContain("no check is named: use `--verify CMD`");
  });

  test("--timeout ends a check that takes longer, in gate and verify", async () => {
    const slow = ralphCli().files({ "ralph.config.json": `{ "verify": { "default": ["sleep 20"] } }` });
    const { stderr, root } = await slow.args("verify", "--timeout", "1s").expectExit(1);
    expect(stderr).toContain("1 of 1 checks failed");

    const gate = await ralphCli(root).args("gate", "--base", "HEAD", "--timeout", "1s").expectExit(1);
    expect(gate.stderr).toContain("  sleep 20: failed\ntimed out after 1 s");
  });

  test("names a base that is no commit", async () => {
    const { stderr } = await ralphCli().files(FILES).args("gate", "--base", "nowhere").expectExit(2);

    expect(stderr).toContain("nowhere is no commit");
  });

  test("names a configuration of the base that is no JSON", async () => {
    const { stderr } = await ralphCli().files({ ...FILES, "ralph.config.json": "{" })
      .dirty({ "ralph.config.json": CONFIG }).args("gate", "--base", "HEAD").expectExit(2);

    expect(stderr).toMatch(/error: .*ralph\.config\.json at /);
  });

  test("as a Stop hook it holds the agent back twice in a session, and then lets it go", async () => {
    const project = ralphCli().files(FILES).prepare().root;
    const stop = (session: string): Promise<CliResult> =>
      ralphCli(project).args("gate", "--hook", "--base", "HEAD").stdin(`{"session_id":"${session}"}`).expectExit(0);

    const answers = [await stop("a"), await stop("a"), await stop("a"), await stop("b")].map(({ stdout }) => stdout);

    expect(JSON.parse(answers[0] ?? "")).toEqual({
      decision: "block",
      reason: expect.stringContaining("node --test: exit 1") as string,
    });
    expect(answers.map((answer) => answer !== "")).toEqual([true, true, false, true]);
  });

  test("as a Stop hook it counts anew once it has let the agent go, or the work has passed", async () => {
    const config = `{ "verify": { "default": ["test -f done.txt"] } }\n`;
    const project = ralphCli().files({ "ralph.config.json": config }).prepare().root;
    const answers: boolean[] = [];
    for (const isDone of [false, false, false, false, true, false, false]) {
      if (isDone) writeFileSync(join(project, "done.txt"), "");
      else rmSync(join(project, "done.txt"), { force: true });
      const held = ralphCli(project).args("gate", "--hook", "--base", "HEAD").stdin('{"session_id":"a"}').expectExit(0);
      answers.push((await held).stdout !== "");
    }

    expect(answers).toEqual([true, true, false, true, false, true, true]);
  }, 120_000);
});
