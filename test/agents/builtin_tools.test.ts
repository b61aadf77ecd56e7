import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Conversation } from "../../lib/agents/builtin/conversation.ts";
import { failureOf } from "../../lib/agents/builtin/agent_process.ts";
import { LONGEST_OUTPUT } from "../../lib/agents/builtin/output.ts";
import { runTool, type ToolPlace, type ToolResult } from "../../lib/agents/builtin/tools.ts";
import { turnFixture } from "./turn_fixture.ts";

/** A tree with a file beside it that no tool may reach. */
function place(fixture: ReturnType<typeof turnFixture>, over: Partial<ToolPlace> = {}): ToolPlace {
  const tree = join(fixture.folder, "tree");
  mkdirSync(join(tree, ".git"), { recursive: true });
  writeFileSync(join(tree, "a.txt"), "one\ntwo\n");
  writeFileSync(join(fixture.folder, "secret.txt"), "secret");
  const signal = new AbortController().signal;
  return { host: fixture.host, cwd: tree, tree, signal, hidden: [], ...over };
}

/** A process that has ended and that no one has asked about is at work no more. */
function isAtWork(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

describe("the built-in agent's tools", () => {
  test.each(["../secret.txt", "/etc/passwd", "link", "folder/secret.txt", "a/../../secret.txt"])(
    "read, write, edit, list and search stay inside of the tree: %s",
    async (path) => {
      await using fixture = turnFixture();
      const at = place(fixture);
      symlinkSync(join(fixture.folder, "secret.txt"), join(at.tree, "link"));
      symlinkSync(fixture.folder, join(at.tree, "folder"));
      const calls: readonly [string, object][] = [
        ["read", { path }],
        ["write", { path, content: "x" }],
        ["edit", { path, old: "secret", new: "x" }],
        ["list", { path }],
        ["search", { pattern: ".", path }],
      ];
      for (const [name, input] of calls) {
        expect(await runTool(name, input, at)).toMatchObject({
          ok: false,
          text: expect.stringContaining("inside of the project"),
        });
      }
      expect(readFileSync(join(fixture.folder, "secret.txt"), "utf8")).toBe("secret");
    },
  );

  test("git's own files are read and not written", async () => {
    await using fixture = turnFixture();
    const at = place(fixture);

    expect(await runTool("write", { path: ".git/hooks/pre-commit", content: "x" }, at)).toMatchObject({ ok: false });
    expect(await runTool("write", { path: "sub/.git/config", content: "x" }, at)).toMatchObject({ ok: false });
  });

  test("50 MB of output come as their beginning and end, with what is left out", async () => {
    await using fixture = turnFixture();
    const command = "echo first; head -c 50000000 /dev/zero | tr '\\0' x; echo; echo last";
    const before = process.memoryUsage().rss;
    const { ok, text } = await runTool("bash", { command }, place(fixture));

    expect(ok).toBe(true);
    expect(text).toMatch(/^first\n/);
    expect(text).toMatch(/last$/);
    expect(text).toMatch(/4997\d{4} bytes left out/);
    expect(text.length).toBeLessThan(LONGEST_OUTPUT + 200);
    // a buffer and its text would be 100 MB at least; a runtime keeps what it has freed for some time
    expect(process.memoryUsage().rss - before).toBeLessThan(90_000_000);
  });

  test("a command gets no key, ends at its time with all that it started, and says its exit code", async () => {
    await using fixture = turnFixture();
    const at = place(fixture, { hidden: ["PATH_KEY"] });
    process.env["PATH_KEY"] = "abcdefghij";
    const run = async (command: string, timeout = 10): Promise<ToolResult> =>
      await runTool("bash", { command, timeout }, at);

    expect(await run('echo "[$PATH_KEY]"; exit 3')).toEqual({ ok: false, text: "[]\n(exit code 3)" });
    expect(await run("yes | head -n 1")).toEqual({ ok: true, text: "y" });
    expect(await run("setsid sleep 600 & echo $! > pid; wait", 0.5)).toMatchObject({
      ok: false,
      text: expect.stringContaining("timed out after 0.5 s"),
    });
    const pid = Number(readFileSync(join(at.tree, "pid"), "utf8"));
    expect(isAtWork(pid)).toBe(false);
    delete process.env["PATH_KEY"];
  });

  test("edit replaces one exact text, and says why where it does not", async () => {
    await using fixture = turnFixture();
    const at = place(fixture);
    const edit = async (input: object): Promise<string> =>
      (await runTool("edit", { path: "a.txt", ...input }, at)).text;

    expect(await edit({ old: "two", new: "$& three" })).toBe("edited a.txt");
    expect(readFileSync(join(at.tree, "a.txt"), "utf8")).toBe("one\n$& three\n");
    expect(await edit({ old: "four", new: "x" })).toContain("not in a.txt");
    expect(await edit({ old: "e", new: "E" })).toContain("3 times");
    expect(await edit({ old: "e", new: "E", all: true })).toBe("edited a.txt in 3 places");
    expect(await edit({ old: 1 })).toContain("old:");
    expect((await runTool("delete", {}, at)).text).toContain("there is no tool delete");
  });

  test("search reads \\d as models mean it, and edit follows the line ends of the file", async () => {
    await using fixture = turnFixture();
    const at = place(fixture);
    execFileSync("git", ["init", "-q", at.tree]);
    writeFileSync(join(at.tree, "b.txt"), 'id: 42\n"id": none\n');
    expect((await runTool("search", { pattern: "id: \\d+" }, at)).text.trim()).toBe("b.txt:1:id: 42");

    writeFileSync(join(at.tree, "crlf.txt"), "one\r\ntwo\r\nthree\r\n");
    await runTool("edit", { path: "crlf.txt", old: "one\ntwo\n", new: "1\n2\n" }, at);
    expect(readFileSync(join(at.tree, "crlf.txt"), "utf8")).toBe("1\r\n2\r\nthree\r\n");
  });

  test("read pages, search finds, list names folders", async () => {
    await using fixture = turnFixture();
    const at = place(fixture);
    writeFileSync(join(at.tree, "long.txt"), Array.from({ length: 30 }, (_, index) => `line ${index + 1}\n`).join(""));
    writeFileSync(join(at.tree, "binary"), Buffer.from([1, 0, 2]));

    expect((await runTool("read", { path: "long.txt", offset: 3, limit: 2 }, at)).text).toBe(
      "3\tline 3\n4\tline 4\n… 26 more lines: read on with offset 5",
    );
    expect((await runTool("read", { path: "binary" }, at)).text).toContain("no text");
    expect((await runTool("read", { path: "none" }, at)).text).toContain("does not exist");
    expect((await runTool("list", {}, at)).text).toBe(".git/\na.txt\nbinary\nlong.txt");
  });
});

describe("Conversation", () => {
  const filled = (context: number): Conversation => {
    const conversation = new Conversation(context);
    conversation.say("the task");
    for (let index = 0; index < 8; index += 1) {
      const id = `c${index}`;
      const call = { type: "tool-call", toolCallId: id, toolName: "read", input: { path: "a" } } as const;
      conversation.add([{ role: "assistant", content: [call] }]);
      conversation.result({ id, name: "read" }, true, `${index}`.repeat(7000));
    }
    return conversation;
  };

  test("above 60 % of the context old tool results are dropped, never the task and the newest", () => {
    const conversation = filled(20_000);
    const before = conversation.tokens;

    expect(conversation.fit()).toBe(true);
    const kept = JSON.stringify(conversation.messages);
    expect(conversation.tokens).toBeLessThan(before * 0.6);
    expect(kept).toContain("the task");
    expect(kept).not.toContain("0000000");
    expect(kept).toContain("7777777");
    expect(conversation.messages).toHaveLength(17); // each call still has its result
  });

  test("below it nothing is; where the server says that it is too long, all but the newest are", () => {
    const conversation = filled(100_000);

    expect(conversation.fit()).toBe(false);
    expect(conversation.fit("at-once")).toBe(true);
    expect(JSON.stringify(conversation.messages)).not.toContain("6666666");
    expect(conversation.fit("at-once")).toBe(false);
  });
});

describe("failureOf()", () => {
  const NOW = 1_795_000_000_000;
  const error = { status: 429, message: "m", body: null, headers: {} };

  test.each([
    [{ status: 401 }, "auth", null],
    [{ status: 404, message: "Not Found" }, "model", null],
    [{ status: 400, body: { error: { message: "the model `x` does not exist" } } }, "model", null],
    [{ status: 402 }, "billing", null],
    [{ status: 400, message: "bad" }, "other", null],
    [{ status: 400, body: { error: { message: "maximum context length is 8192 tokens" } } }, "context", null],
    [{ status: 503 }, "server", null],
    [{ status: 200, message: "Failed to process" }, "network", null],
    [{ status: null, message: "fetch failed: ECONNREFUSED" }, "network", null],
    [{ headers: { "retry-after": "12" } }, "rate-limit", 12_000],
    [{ headers: { "retry-after": new Date(NOW + 5000).toUTCString() } }, "rate-limit", 5000],
    [{ headers: { "anthropic-ratelimit-unified-reset": String(NOW / 1000 + 60) } }, "rate-limit", 60_000],
    [{ body: { error: { message: "limit", resets_in_seconds: 7 } } }, "rate-limit", 7000],
    [{ body: { error: { status: "RESOURCE_EXHAUSTED", details: [{ retryDelay: "9s" }] } } }, "rate-limit", 9000],
  ])("%j is %s", (over, kind, waitMs) => {
    expect(failureOf({ ...error, ...over }, NOW)).toMatchObject({ kind, waitMs });
  });
});
