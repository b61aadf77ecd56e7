import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { commandAgent } from "../../lib/agents/command_agent.ts";
import { commandWord } from "../../lib/agents/program.ts";
import { FIXTURES, turnFixture } from "./turn_fixture.ts";

describe("commandWord()", () => {
  test.each([
    ["claude -p", "claude"],
    ["  ./agent.sh --x", "./agent.sh"],
    ["A=1 B='x y' agent", "agent"],
    ["'/opt/my agent/run' -x", "/opt/my agent/run"],
    ["agent|tee log", "agent"],
    ["cd x && agent", null],
    ["if true; then agent; fi", null],
    ["$AGENT -p", null],
    ["(agent)", null],
    ["~/bin/agent", null],
    ["A=1", null],
    ["echo hi", null],
    ["", null],
  ])("commandWord() of %j is %j", (command, word) => {
    expect(commandWord(command)).toBe(word);
  });
});

describe("commandAgent().ensureUsable()", () => {
  test.each(["no-such-agent-here --x", "A=1 ./missing.sh", "'./my missing agent' -p"])(
    "ensureUsable() refuses a command that does not exist: %s",
    async (command) => {
      await using fixture = turnFixture();

      const usable = commandAgent({ command, host: fixture.host, root: fixture.folder }).ensureUsable();

      await expect(usable).rejects.toMatchObject({ code: "agent-not-found", exitCode: 4 });
    },
  );

  test.each(["sh -c true", "cd nowhere && agent", "for x in a; do agent; done", "echo hi"])(
    "ensureUsable() lets pass what is there, and what only the shell can tell: %s",
    async (command) => {
      await using fixture = turnFixture();

      await expect(commandAgent({ command, host: fixture.host }).ensureUsable()).resolves.toBeUndefined();
    },
  );
});

describe("commandAgent().runTurn()", () => {
  test("runTurn() lets no ~/.bashrc take the prompt, where bash thinks that it is started by a remote shell", async () => {
    await using fixture = turnFixture();
    writeFileSync(join(fixture.folder, ".bashrc"), 'read -r line\necho "bashrc took: $line"\n');
    const agent = commandAgent({ command: "cat", host: fixture.host });
    const environment = { HOME: fixture.folder, SHLVL: undefined, SSH_CLIENT: "1 2 3" };

    const turn = await agent.runTurn(fixture.request({ prompt: "first line\nsecond\n", environment } as never));

    expect(readFileSync(turn.transcript, "utf8")).toBe("first line\nsecond\n");
  });

  test("runTurn() gives the prompt on standard input and takes an echo of it out of the words", async () => {
    await using fixture = turnFixture();
    const agent = commandAgent({ command: `${FIXTURES}/echo-prompt.sh`, host: fixture.host });
    const prompt = "Do it.\nThen print:\n<ralph>DONE</ralph>\n";

    const turn = await agent.runTurn(fixture.request({ prompt }));

    expect(turn.end).toEqual({ reason: "completed" });
    expect(turn.lines).toEqual(["That was the prompt."]);
    expect(turn.text).toBe("That was the prompt.\n");
    expect(readFileSync(turn.transcript, "utf8")).toBe(`${prompt}That was the prompt.\n`);
  });

  test("runTurn() keeps standard error out of the words, and secrets out of the transcript and the message", async () => {
    await using fixture = turnFixture();
    const environment = { DEMO_TOKEN: "s3cr3t-value-1" };

    const agent = commandAgent({ command: `${FIXTURES}/noisy.sh 3`, host: fixture.host });
    const turn = await agent.runTurn(fixture.request({ environment }));

    expect(turn.end).toEqual({ reason: "agent-failed", message: "the agent ended with exit code 3: disk full" });
    expect(turn.lines).toEqual(["working with"]);
    const transcript = readFileSync(turn.transcript, "utf8");
    expect(transcript).toContain("<ralph>DONE</ralph>");
    expect(transcript).toContain("token is ***");
    expect(transcript).not.toContain("s3cr3t");
  });

  test("a secret with a colour in its middle is none of the words, which have no colours", async () => {
    await using fixture = turnFixture();
    const environment = { DEMO_TOKEN: "s3cr3t-value-1" };
    const command = "printf 'token is s3cr3t\\033[31m-value\\033[0m-1\\n'";

    const turn = await commandAgent({ command, host: fixture.host }).runTurn(fixture.request({ environment }));

    expect(turn.lines).toEqual(["token is"]); // as emphasis, stars are no words
    expect(turn.text).toBe("token is ***\n");
  });

  test("runTurn() runs the command as written: pipes, assignments, relative paths", async () => {
    await using fixture = turnFixture();

    const turn = await commandAgent({ command: "WORD=yes; cat | tr a-z A-Z; echo $WORD", host: fixture.host })
      .runTurn(fixture.request({ prompt: "hello\n" }));

    expect(turn.text).toBe("HELLO\nyes\n");
  });

  test.each([
    ["exit 0", { reason: "completed" }],
    ["yes | head -1", { reason: "completed" }],
    ["exit 1", { reason: "agent-failed", message: "the agent ended with exit code 1" }],
    ["no-such-program-here 2>/dev/null; exit 127", {
      reason: "agent-unusable",
      message: "the agent's command was not found (exit code 127)",
    }],
    ["kill -9 $$", { reason: "crashed", message: "the agent was ended by SIGKILL" }],
    ["sh -c 'kill -11 $$'; exit $?", {
      reason: "crashed",
      message: expect.stringContaining("the agent was ended by SIGSEGV"),
    }],
  ])("runTurn() judges how the process ended: %s", async (command, end) => {
    await using fixture = turnFixture();

    const turn = await commandAgent({ command, host: fixture.host }).runTurn(fixture.request());

    expect(turn.end).toEqual(end);
  });

  test("runTurn() ends a hanging agent at its timeout, and at an interrupt", async () => {
    await using fixture = turnFixture();
    const agent = commandAgent({ command: `${FIXTURES}/hang.sh`, host: fixture.host });

    const timedOut = await agent.runTurn(fixture.request({ timeoutMs: 300 }));
    const aborted = await agent.runTurn(fixture.request({ signal: AbortSignal.timeout(300) }));

    expect(timedOut.end).toEqual({ reason: "timed-out", message: "the agent had not ended after 0.3 s" });
    expect(timedOut.lines).toEqual(["started"]);
    expect(aborted.end).toEqual({ reason: "aborted" });
  });

  test("runTurn() does not hand on the mark of a session that Ralph itself runs in", async () => {
    process.env["CLAUDECODE"] = "1";
    await using fixture = turnFixture();
    delete process.env["CLAUDECODE"];

    const turn = await commandAgent({ command: 'echo "[${CLAUDECODE-unset}]"', host: fixture.host })
      .runTurn(fixture.request());

    expect(turn.text).toBe("[unset]\n");
  });
});
