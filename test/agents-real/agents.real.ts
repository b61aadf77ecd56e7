import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { RalphEvent } from "../../lib/events/types.ts";
import { needs, SANDBOX } from "../needs.ts";
import { isAlive, processesOf, REAL, realProbe, realRun, SLOW } from "./world.ts";

/** codex and opencode look for news here; they work without it. */
const UPDATES_REGEXP = /^(?:api\.github\.com|registry\..+)$/;

/** The programs that take a prompt on standard input and tell a failure by their exit code, as plain commands. */
const PLAIN: Readonly<Record<string, string>> = {
  claude: "claude -p --dangerously-skip-permissions",
  codex: "codex exec --dangerously-bypass-approvals-and-sandbox -",
  opencode: "opencode run --auto -m mock/mock-model",
  gemini: "gemini --yolo --skip-trust -m gemini-2.5-pro",
  qwen: "qwen --yolo",
  pi: "pi -p --provider mock --model mock-model",
};

/** Its server is asked before the first turn. */
const ASKS_BEFORE: ReadonlySet<string> = new Set(["builtin"]);

function turnEnds(events: readonly RalphEvent[]): readonly string[] {
  return events.flatMap((event) => event.type === "turn-end" ? [event.reason] : []);
}

async function gone(root: string, pid: number): Promise<readonly string[]> {
  for (let tries = 0; tries < 50; tries += 1) {
    if (!isAlive(pid) && processesOf(root).length === 0) return [];
    await new Promise((done) => setTimeout(done, 100));
  }
  return [...processesOf(root), ...(isAlive(pid) ? [`tool ${pid}`] : [])];
}

describe.each(REAL.names)("%s", (agent) => {
  test("implements a story, commits, is verified; usage is told", async () => {
    await using run = realRun(agent, "work");

    expect(await run.ended(), run.stderr()).toBe(0);
    expect(turnEnds(run.events())).toEqual(["completed"]);
    expect(run.git("show", "HEAD:foo.txt")).toBe("hello");
    const end = run.events().find((event) => event.type === "run-end");
    expect(end).toMatchObject({ status: "passed", usage: { turns: 1, turnsWithoutTokens: 0, outputTokens: 120 } });
    const types = run.events().map(({ type }) => type);
    for (const type of ["agent-start", "agent-text", "agent-tool-call", "agent-tool-result", "agent-end"]) {
      if (!(agent === "cline" && type === "agent-start")) expect(types).toContain(type);
    }
    expect(types).not.toContain("agent-line-invalid");
  });

  test("repairs what a check refused: the failure is in the next attempt's prompt", async () => {
    await using run = realRun(agent, "repair");

    expect(await run.ended(), run.stderr()).toBe(0);
    expect(turnEnds(run.events())).toEqual(["completed", "completed"]);
    expect(run.git("show", "HEAD:foo.txt")).toBe("wanted");
    const ends = run.events().flatMap((event) => event.type === "iteration-end" ? [event.result] : []);
    expect(ends.slice(0, 2)).toEqual(["failed", "verified"]);
  });

  test("works in a sandbox, and its own files stay as they were", needs(...SANDBOX), async () => {
    await using run = realRun(agent, "work", ["--sandbox"]);

    expect(await run.ended(), `${run.stderr()} ${JSON.stringify(run.events().slice(-12))}`).toBe(0);
    expect(turnEnds(run.events())).toEqual(["completed"]);
    expect(run.git("show", "HEAD:foo.txt")).toBe("hello");
    expect(run.events().find(({ type }) => type === "sandbox")).toMatchObject({ on: true });
    const refused = run.events().flatMap((event) => event.type === "host-refused" ? [event.host] : []);
    expect(refused.filter((host) => !UPDATES_REGEXP.test(host))).toEqual([]);
  });

  test("`ralph doctor --probe` finds the program as its adapter expects it", () => {
    const { exitCode, output } = realProbe(agent);

    expect(output).toMatch(new RegExp(`probe ${agent} +answered as expected in .+, \\d+ tokens`));
    expect(exitCode, output).toBe(0);
  });

  test("a wrong key stops the run: exit 4, with what to do", async () => {
    await using run = realRun(agent, "auth");

    expect(await run.ended(), run.stderr()).toBe(4);
    expect(turnEnds(run.events())).toEqual(["agent-unusable"]);
  });

  test("without any login the run ends with 4, and says how to log in", async () => {
    await using run = realRun(agent, "work", [], { isLoggedIn: false });

    expect(await run.ended(), run.stderr()).toBe(4);
    expect(turnEnds(run.events())).toEqual(ASKS_BEFORE.has(agent) ? [] : ["agent-unusable"]);
  });

  test("only a question is a failed attempt", async () => {
    await using run = realRun(agent, "asks");

    expect(await run.ended(), run.stderr()).toBe(3);
    expect(run.events().find((event) => event.type === "iteration-end")).toMatchObject({
      result: "failed",
      message: expect.stringContaining("only asked a question"),
    });
  });

  test("a limit is waited out and no attempt", async () => {
    const script = readFileSync(REAL.script, "utf8");
    try {
      // qwen waits for up to 42 minutes by itself: a turn that ends meanwhile is at its limit, and not just late.
      await using run = realRun(agent, "limit", agent === "qwen" && SLOW ? ["--timeout", "150s"] : []);
      await run.until("wait-start", (event) => event.type === "wait-start" && event.reason === "rate-limit");
      writeFileSync(
        REAL.script,
        script.replace('"match": "CASE=limit"', '"match": "CASE=none"').replace("CASE=work", "CASE=limit"),
      );

      expect(await run.ended(), run.stderr()).toBe(0);
      expect(turnEnds(run.events())).toEqual(["rate-limited", "completed"]);
      expect(run.events().filter(({ type }) => type === "iteration-start")).toHaveLength(1); // the final check is none
    } finally {
      writeFileSync(REAL.script, script);
    }
  });

  test.skipIf(SLOW || !(agent in PLAIN))("as a plain command it is waited for at its limit", async () => {
    await using run = realRun(agent, "limit", ["--agent-cmd", PLAIN[agent]!]);

    await run.until("wait-start", (event) => event.type === "wait-start" && event.reason === "rate-limit");
    run.child.kill("SIGINT");

    expect(await run.ended()).toBe(130);
    expect(turnEnds(run.events())).toEqual(["rate-limited"]);
  });

  test("a server error is no attempt: the provider is waited for", async () => {
    await using run = realRun(agent, "server");

    await run.until("wait-start", (event) => event.type === "wait-start" && event.reason === "unavailable");
    run.child.kill("SIGINT");

    expect(await run.ended()).toBe(130);
    expect(turnEnds(run.events())).toEqual(["unavailable"]);
  });

  test("a dropped stream is no attempt either", async () => {
    await using run = realRun(agent, "drop");

    await run.until("wait-start", (event) => event.type === "wait-start" && event.reason === "unavailable");
    run.child.kill("SIGINT");

    expect(await run.ended()).toBe(130);
  });

  test("a hanging tool dies with its turn at the timeout, whatever the exit code", async () => {
    await using run = realRun(agent, "hang", [
      "--timeout",
      agent === "opencode" || agent === "gemini" || agent === "qwen" ? "60s" : "20s",
    ]);
    const pid = await run.toolPid();

    expect(await run.ended(), run.stderr()).toBe(3);
    expect(turnEnds(run.events())).toEqual(["timed-out"]);
    expect(await gone(run.root, pid)).toEqual([]);
  });

  test.each(["SIGINT", "SIGKILL"] as const)("a hanging tool dies with Ralph ended by %s", async (signal) => {
    await using run = realRun(agent, "hang");
    const pid = await run.toolPid();

    run.child.kill(signal);

    expect(await run.ended()).toBe(signal === "SIGINT" ? 130 : null);
    expect(await gone(run.root, pid)).toEqual([]);
  });
});
