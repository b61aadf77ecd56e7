import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Script } from "../../lib/agents/scripted/types.ts";
import { scriptedAgent } from "../../lib/agents/scripted/scripted_agent.ts";
import { turnFixture } from "./turn_fixture.ts";

describe("scriptedAgent()", () => {
  test("scriptedAgent() does what its turn says, for real", async () => {
    await using fixture = turnFixture();
    writeFileSync(join(fixture.folder, "old.txt"), "old\n");
    const script: Script = {
      turns: [{
        match: ["do", "/^DO IT$/im"],
        write: { "deep/new.txt": "new\n" },
        append: { "log.txt": "line\n" },
        delete: ["old.txt"],
        run: ["cat deep/new.txt >copy.txt", "echo tool says DONE; exit 3"],
        stderr: "a warning",
        say: ["I did it.", "DONE"],
      }],
    };

    const turn = await scriptedAgent(script, { host: fixture.host }).runTurn(fixture.request());

    expect(turn.end).toEqual({ reason: "completed" });
    expect(turn.lines).toEqual(["I did it.", "DONE"]);
    expect(readFileSync(join(fixture.folder, "copy.txt"), "utf8")).toBe("new\n");
    expect(readFileSync(join(fixture.folder, "log.txt"), "utf8")).toBe("line\n");
    expect(existsSync(join(fixture.folder, "old.txt"))).toBe(false);
    expect(readFileSync(turn.transcript, "utf8")).toBe(
      "$ cat deep/new.txt >copy.txt\n$ echo tool says DONE; exit 3\ntool says DONE\n[exit code 3]\na warning\nI did it.\nDONE\n",
    );
  });

  test("scriptedAgent() takes the first turn that fits and is not used up", async () => {
    await using fixture = turnFixture();
    const agent = scriptedAgent({
      turns: [
        { match: "one", say: "first" },
        { match: "/one|two/", times: 2, say: "second" },
        { times: "any", say: "rest" },
      ],
    }, { host: fixture.host });

    const said: string[] = [];
    for (const prompt of ["two", "one", "one", "one", "three"]) {
      said.push((await agent.runTurn(fixture.request({ prompt }))).text.trim());
    }

    expect(said).toEqual(["second", "first", "second", "rest", "rest"]);
  });

  test("scriptedAgent() fails a turn that its script does not know", async () => {
    await using fixture = turnFixture();

    const turn = await scriptedAgent({ turns: [{ match: "other" }] }, { host: fixture.host }).runTurn(
      fixture.request(),
    );

    expect(turn.end).toEqual({
      reason: "agent-failed",
      message: "the script has no turn left for the prompt that begins with: do it",
    });
  });

  test.each([
    [{ exit: 2, stderr: "no quota\n" }, {
      reason: "agent-failed",
      message: "the agent ended with exit code 2: no quota",
    }],
    [{ hang: true }, { reason: "timed-out", message: "the agent had not ended after 0.2 s" }],
    [{ delay: "10s" }, { reason: "timed-out", message: "the agent had not ended after 0.2 s" }],
    [{ run: "sleep 10" }, { reason: "timed-out", message: "the agent had not ended after 0.2 s" }],
  ])("scriptedAgent() ends a turn as told: %j", async (turn, end) => {
    await using fixture = turnFixture();

    const result = await scriptedAgent({ turns: [turn] }, { host: fixture.host }).runTurn(
      fixture.request({ timeoutMs: 200 }),
    );

    expect(result.end).toEqual(end);
  });

  test("scriptedAgent() ends at an interrupt", async () => {
    await using fixture = turnFixture();

    const turn = await scriptedAgent({ turns: [{ hang: true }] }, { host: fixture.host })
      .runTurn(fixture.request({ signal: AbortSignal.timeout(100) }));

    expect(turn.end).toEqual({ reason: "aborted" });
  });

  test("scriptedAgent() does not write through a link that leads out of the working tree", async () => {
    await using fixture = turnFixture();
    const cwd = join(fixture.folder, "tree");
    mkdirSync(cwd);
    symlinkSync(fixture.folder, join(cwd, "out"));

    const turn = await scriptedAgent({ turns: [{ write: { "out/x.txt": "x" } }] }, { host: fixture.host })
      .runTurn(fixture.request({ cwd }));

    expect(turn.end).toMatchObject({ reason: "agent-failed", message: expect.stringContaining("is outside") });
    expect(existsSync(join(fixture.folder, "x.txt"))).toBe(false);
  });

  test("scriptedAgent() reads YAML and JSON", async () => {
    await using fixture = turnFixture();
    const yaml = join(fixture.folder, "turns.yaml");
    const json = join(fixture.folder, "turns.json");
    writeFileSync(yaml, "turns:\n  - say: |\n      hello\n      there\n");
    writeFileSync(json, '{"turns": [{"say": "hello"}]}');

    const first = await scriptedAgent({ file: yaml }, { host: fixture.host }).runTurn(fixture.request());
    const second = await scriptedAgent({ file: json }, { host: fixture.host }).runTurn(fixture.request());

    expect([first.text, second.text]).toEqual(["hello\nthere\n", "hello\n"]);
  });

  test.each([
    ["turns: [{say: 1}]", "turns[0].say: "],
    ["turns: [{say: x}, {sya: x}]", "turns[1]: Unrecognized key"],
    ["turns: [{write: {../x: y}}]", "turns[0].write: ../x is outside the working tree"],
    ["turns: [{match: '/(/'}]", "turns[0].match: "],
    ["turns: [{delay: soon}]", "turns[0].delay: "],
    ["turns: []", "turns: expected at least one turn"],
    ["turns: [", "Flow sequence"],
    ["[]", "the script: "],
  ])("scriptedAgent() refuses a script and says where: %s", async (text, problem) => {
    await using fixture = turnFixture();
    const file = join(fixture.folder, "turns.yaml");
    writeFileSync(file, text);

    const usable = scriptedAgent({ file }, { host: fixture.host }).ensureUsable();

    await expect(usable).rejects.toMatchObject({
      code: "script-invalid",
      message: expect.stringContaining(`${file}: ${problem}`),
    });
  });

  test("scriptedAgent() refuses a file that does not exist", async () => {
    await using fixture = turnFixture();

    const usable = scriptedAgent({ file: join(fixture.folder, "none.yaml") }, { host: fixture.host }).ensureUsable();

    await expect(usable).rejects.toMatchObject({ message: expect.stringContaining("does not exist"), exitCode: 2 });
  });
});
