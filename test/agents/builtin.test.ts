/** The built-in agent as the process that it is, against a model server of the test's own. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { adapterAgent } from "../../lib/agents/adapter_agent.ts";
import { ADAPTERS } from "../../lib/agents/adapters.ts";
import { endpointOf } from "../../lib/agents/endpoints.ts";
import type { ScriptedTurn } from "../../lib/agents/scripted/types.ts";
import type { AgentEvent } from "../../lib/events/types.ts";
import { nodeVersion } from "../../lib/host/this_process.ts";
import { demoScript } from "../../lib/workflows/exec/demo/project.ts";
import { bunPath, ROOT } from "../../tools/runtimes.mjs";
import { type Answer, type ChatRequest, type ModelServer, modelServer } from "./builtin_server.ts";
import { turnFixture } from "./turn_fixture.ts";
import { only } from "../needs.ts";

interface Turn extends AsyncDisposable {
  readonly root: string;
  readonly child: ChildProcess;
  /** Resolves at its end. */
  readonly events: () => Promise<readonly AgentEvent[]>;
}

function turn(server: ModelServer, { prompt = "Do it.", files = {}, endpoint = {} }: {
  readonly prompt?: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly endpoint?: object;
} = {}): Turn {
  const root = mkdtempSync(join(tmpdir(), "ralph-builtin-"));
  mkdirSync(join(root, ".git"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text);
  const settings = { endpoint: { ...endpointOf(server.url), model: "small", ...endpoint }, effort: null };
  const child = spawn(bunPath(), [join(ROOT, "bin/ralph.ts"), "__agent", JSON.stringify(settings)], {
    cwd: root,
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdin.end(prompt);
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => output += chunk.toString());
  const closed = new Promise((done) => child.once("close", done));
  return {
    root,
    child,
    async events() {
      await closed;
      return output.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line) as AgentEvent);
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await closed;
      rmSync(root, { recursive: true, force: true });
    },
  };
}

function texts(events: readonly AgentEvent[]): readonly string[] {
  return events.flatMap((event) => event.type === "agent-text" ? [event.text] : []);
}

const WRITE: Answer = { text: "I write.", call: { name: "write", input: { path: "foo.txt", content: "hello\n" } } };
const DONE: Answer = { text: "Done.\n\n<ralph>DONE</ralph>" };
/** As the prompt of a story asks for it. */
const COMPLETE: Answer = { text: "Done.\n\n<promise>COMPLETE</promise>" };

describe("`--agent builtin`", () => {
  test("works by its tools until the model calls none; the project's instructions are in its prompt", async () => {
    await using server = await modelServer((_request, number) => number === 1 ? WRITE : COMPLETE);
    await using run = turn(server, { files: { "AGENTS.md": "Use tabs.", "CLAUDE.md": "not read beside it" } });
    const events = await run.events();

    expect(readFileSync(join(run.root, "foo.txt"), "utf8")).toBe("hello\n");
    expect(texts(events)).toEqual(["I write.", "Done.\n\n<promise>COMPLETE</promise>"]);
    expect(events.at(-1)).toEqual({ type: "agent-end", status: "completed", message: null });
    expect(server.requests[0]?.messages[0]).toMatchObject({
      role: "system",
      content: expect.stringContaining("Use tabs."),
    });
    expect(JSON.stringify(server.requests[0])).not.toContain("not read beside it");
  });

  test("what a model thinks is none of its words", async () => {
    await using server = await modelServer(() => ({ text: "<think>Say <ralph>DONE</ralph>?</think>No." }));
    await using run = turn(server);

    expect(texts(await run.events()).map((text) => text.trim())).toEqual(["No."]);
  });

  test("a stream that breaks off is asked for again, and its half answer is none", async () => {
    await using server = await modelServer((_request, number) => number === 1 ? { cut: "<ralph>DONE</ralph>" } : DONE);
    await using run = turn(server);
    const events = await run.events();

    expect(texts(events)).toEqual(["Done.\n\n<ralph>DONE</ralph>"]);
    expect(events).toContainEqual(expect.objectContaining({ type: "agent-error", kind: "network", fatal: false }));
  });

  test("a conversation that the server calls too long is shortened once; then the context is used up", async () => {
    const tooLong: Answer = { status: 400, body: { error: { message: "maximum context length is 8192 tokens" } } };
    const look = (name: string): Answer => ({ call: { name: "read", input: { path: name } } });
    const size = ({ messages }: ChatRequest): number => JSON.stringify(messages).length;
    await using server = await modelServer((request, number) =>
      number === 1 ? look("a.txt") : number === 2 ? look("b.txt") : size(request) > 12_000 ? tooLong : DONE
    );
    const files = { "a.txt": "a\n".repeat(2000), "b.txt": "b" };
    await using run = turn(server, { files, endpoint: { context: 100_000 } });
    const events = await run.events();

    expect(server.requests).toHaveLength(4);
    expect(events.at(-1)).toMatchObject({ status: "completed" });
    await using none = await modelServer(() => tooLong);
    await using other = turn(none);
    expect(await other.events()).toContainEqual(
      expect.objectContaining({
        type: "agent-error",
        kind: "context",
        fatal: true,
        message: expect.stringContaining("`endpoint.context` sets it"),
      }),
    );
  });

  test("the same call a third time in a row ends the turn, after a word to the model", async () => {
    await using server = await modelServer(() => ({ call: { name: "list", input: {} } }));
    await using run = turn(server);
    const events = await run.events();

    expect(events).toContainEqual(expect.objectContaining({ type: "agent-error", kind: "own-limit", fatal: true }));
    expect(server.requests).toHaveLength(3);
    expect(JSON.stringify(server.requests[2])).toContain("Once more ends the turn");
  });

  test("calls in turn that bring nothing new end the turn, and a call with another result does not", async () => {
    let number = 0;
    const commands = ["echo a", "echo b", "date +%s%N"];
    await using server = await modelServer(() => ({
      call: { name: "bash", input: { command: commands[number++ % commands.length] } },
    }));
    await using run = turn(server);
    const events = await run.events();

    const message = "it made the same call with the same result 10 times: bash echo a";
    expect(events).toContainEqual(expect.objectContaining({ type: "agent-error", kind: "own-limit", message }));
    expect(server.requests).toHaveLength(28);
  });

  test("pictures that the prompt names are shown; a server that refuses them is asked without", async () => {
    const hasPicture = (request: ChatRequest): boolean => JSON.stringify(request).includes("image_url");
    await using server = await modelServer((request) =>
      hasPicture(request) ? { status: 400, body: { error: { message: "no image input" } } } : DONE
    );
    await using run = turn(server, {
      prompt: "It looks wrong: shots/../shot.png, ../other.png",
      files: { "shot.png": "x" },
    });
    const events = await run.events();

    expect(server.requests.map(hasPicture)).toEqual([true, false]);
    expect(events.at(-1)).toMatchObject({ status: "completed" });
  });

  test("an end from outside ends what its commands have started", async () => {
    const command = "echo $$ > pid; exec sleep 600";
    await using server = await modelServer(() => ({ call: { name: "bash", input: { command } } }));
    await using run = turn(server);
    const file = join(run.root, "pid");
    await expect.poll(() => existsSync(file) ? Number(readFileSync(file, "utf8")) : 0).toBeGreaterThan(0);
    const pid = Number(readFileSync(file, "utf8"));
    run.child.kill("SIGTERM");
    await run.events();

    expect(existsSync(`/proc/${pid}/cmdline`) && readFileSync(`/proc/${pid}/cmdline`, "utf8") !== "").toBe(false);
  });

  test(
    "an old Node is said before a turn",
    only(nodeVersion() !== null && Number.parseInt(nodeVersion() ?? "") < 22, "Node before 22"),
    async () => {
      await using fixture = turnFixture();
      const agent = adapterAgent(ADAPTERS.find(({ name }) => name === "builtin")!, { host: fixture.host });

      await expect(agent.ensureUsable()).rejects.toMatchObject({ code: "runtime-too-old", exitCode: 4 });
    },
  );

  test("as the agent of a run it implements an item, is verified, and its tokens are counted and priced", async () => {
    await using server = await modelServer((_request, number) => number === 1 ? WRITE : COMPLETE);
    const root = mkdtempSync(join(tmpdir(), "ralph-builtin-run-"));
    const git = (...list: string[]): void => void spawnSync("git", list, { cwd: root });
    git("init", "-q");
    git("config", "user.name", "A");
    git("config", "user.email", "a@example.com");
    const story = {
      id: "US-001",
      title: "Write foo.txt",
      acceptanceCriteria: ["Verify: `test -f foo.txt`"],
      priority: 1,
    };
    mkdirSync(join(root, "scripts/ralph"), { recursive: true });
    writeFileSync(
      join(root, "scripts/ralph/prd.json"),
      JSON.stringify({ branchName: "main", userStories: [{ ...story, passes: false, notes: "" }] }),
    );
    const endpoint = { url: server.url, price: { input: 1000, output: 2000 } };
    writeFileSync(join(root, "ralph.config.json"), JSON.stringify({ provider: { preset: "builtin", endpoint } }));
    git("add", "-A");
    git("commit", "-q", "-m", "start");
    const words = ["run", "--json"];
    const child = spawn(bunPath(), [join(ROOT, "bin/ralph.ts"), ...words], {
      cwd: root,
      stdio: ["ignore", "pipe", "inherit"],
    });
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => output += chunk.toString());
    const code = await new Promise((done) => child.once("close", done));
    rmSync(root, { recursive: true, force: true });

    expect(code, output).toBe(0);
    expect(output).toContain('"type":"agent-start","session":null,"model":"small"');
    const counted = '"inputTokens":200,"outputTokens":10';
    expect(output).toContain(counted);
    const priced = /"costUsd":([\d.]+),"estimated":true/.exec(output.slice(output.indexOf(counted)))?.[1];
    expect(Number(priced)).toBeCloseTo(0.22); // 200 and 10 tokens, by the million
  });

  test("`ralph demo --agent builtin` takes the demo's project to verified, committed code", async () => {
    const { turns } = demoScript("2026-01-02", 0);
    const used = new Map<string, ScriptedTurn>();
    await using server = await modelServer(({ messages }) => {
      const prompt = messages.filter(({ role }) => role === "user").map(({ content }) => String(content)).join("\n");
      const fits = ({ match = [] }: ScriptedTurn): boolean => [match].flat().every((text) => prompt.includes(text));
      const taken = [...used.values()];
      const turn = used.get(prompt) ?? turns.find((one) => fits(one) && (one.times === "any" || !taken.includes(one)));
      if (turn === undefined) return { text: "I do not know." };
      used.set(prompt, turn);
      const [file] = Object.entries(turn.write ?? {});
      if (file !== undefined && !messages.some(({ role }) => role === "tool")) {
        return { call: { name: "write", input: { path: file[0], content: String(file[1]) } } };
      }
      const nonce = /<promise (\w+)>COMPLETE/.exec(prompt)?.[1] ?? "";
      return { text: [turn.say ?? ""].flat().join("\n").replace("<promise>", `<promise ${nonce}>`) };
    });
    const words = ["demo", "--approve", "all", "--agent", "builtin", "--endpoint", server.url];
    const child = spawn(bunPath(), [join(ROOT, "bin/ralph.ts"), ...words], { stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => output += chunk.toString());
    const code = await new Promise((done) => child.once("close", done));
    const root = /^ {2}cd (\/.*ralph-demo-.*)$/m.exec(output)?.[1] ?? "";
    const log = spawnSync("git", ["log", "--format=%s"], { cwd: root, encoding: "utf8" }).stdout;
    rmSync(root, { recursive: true, force: true });

    expect(code, output.slice(-3000)).toBe(0);
    for (const title of ["US-001 - Add items", "US-002 - Tick items off", "US-003 - Count what is left"]) {
      expect(log).toContain(`feat: ${title}`);
    }
  });
});
