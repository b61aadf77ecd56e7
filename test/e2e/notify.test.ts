/** Who is told how a run ended: over a real server that answers, fails, is slow, or is not there. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { desktopSequence } from "../../lib/notify/send.ts";
import { type Cli, ralphCli } from "./cli.ts";
import { tmuxScreen } from "./tmux.ts";
import { needs } from "../needs.ts";

interface Server {
  readonly url: string;
  readonly requests: {
    readonly at: number;
    readonly path: string;
    readonly auth: string;
    readonly body: Record<string, unknown>;
  }[];
}

/** `status`: of each answer in turn, the last one for all that follow; `null` never answers. */
async function server(...statuses: readonly (number | null)[]): Promise<Server> {
  const requests: Server["requests"] = [];
  const http = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => text += chunk.toString());
    request.on("end", () => {
      const status = statuses[Math.min(requests.length, statuses.length - 1)];
      const auth = request.headers.authorization ?? "";
      requests.push({ at: Date.now(), path: request.url ?? "", auth, body: JSON.parse(text) });
      if (status !== null) response.writeHead(status ?? 200).end();
    });
  });
  await new Promise<void>((done) => http.listen(0, "127.0.0.1", done));
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, requests };
}

function project(
  notify: readonly object[],
  worker = "cat > /dev/null; echo SECRET-WORDS; touch a.txt; echo '<promise>COMPLETE</promise>'",
): Cli {
  const story = { id: "US-001", title: "Write a", priority: 1, passes: false, notes: "" };
  const userStories = [{ ...story, acceptanceCriteria: ["Verify: `test -f a.txt || { echo CHECK-WORDS; false; }`"] }];
  return ralphCli().files({
    "scripts/ralph/prd.json": JSON.stringify({ branchName: "main", userStories }),
    "ralph.config.json": JSON.stringify({ provider: { command: "worker" }, maxRetries: 1, notify }),
  }).agent("worker", worker);
}

test("a URL gets what chat servers read, after a failure that passes, and no output of the agent", async () => {
  const { url, requests } = await server(500, 200);
  const cli = project([{ url: "${CHAT}/hook", headers: { Authorization: "Bearer ${CHAT_TOKEN}" }, topic: "mine" }]);
  const { stderr } = await cli.env({ CHAT: url, CHAT_TOKEN: "hunter2hunter2" }).args("run").expectExit(0);

  expect(requests).toHaveLength(2);
  const [, { path, auth, body }] = requests as [unknown, Server["requests"][number]];
  expect([path, auth]).toEqual(["/hook", "Bearer hunter2hunter2"]);
  const text = expect.stringMatching(/^project: passed \(exec, 1 of 1 done, [\d.]+ min\)$/);
  expect(body).toMatchObject({ event: "passed", status: "passed", topic: "mine", text, content: text, message: text });
  expect(JSON.stringify(body)).not.toMatch(/WORDS/);
  expect(stderr).not.toContain("notification");
});

/** When the run itself was over, in milliseconds since 1970. */
function endedAt(root: string): number {
  const runs = join(root, "scripts/ralph/runs");
  const [run = ""] = readdirSync(runs).filter((name) => !name.startsWith("."));
  const lines = readFileSync(join(runs, run, "events.ndjson"), "utf8").trimEnd().split("\n");
  const events = lines.map((line) => JSON.parse(line) as { readonly at: string; readonly type: string });
  return Date.parse(events.find(({ type }) => type === "run-end")?.at ?? "");
}

test(
  "a server that never answers, and one that is not there, cost 10 seconds at most and are named once, without a path",
  async () => {
    const slow = await server(null);
    const cli = project(
      [{ url: "${CHAT}/SECRET-PATH" }, { url: "http://127.0.0.1:9/x" }, { command: "exit 7" }],
      "cat; sleep 0.1",
    );
    const { stderr, root } = await cli.env({ CHAT: slow.url }).args("run").expectExit(3);
    const took = Date.now() - endedAt(root);

    expect(took).toBeLessThan(20_000); // 10 s for the server, the rest for a busy machine
    expect(stderr.match(/the notification by 127\.0\.0\.1:\d+ failed: no answer in time/g)).toHaveLength(1);
    expect(stderr.match(/the notification by 127\.0\.0\.1:9 failed: no connection/g)).toHaveLength(1);
    expect(stderr).toContain("the notification by `exit 7` failed: exit 7");
    expect(stderr).not.toContain("SECRET-PATH");
  },
);

test("a command gets the JSON, with output where that is asked for; --notify goes before the configuration", async () => {
  const url = { url: "http://127.0.0.1:9/x" };
  const made = await project(
    [{ command: "cat > ../told.json", output: true, on: ["blocked"] }],
    "cat > /dev/null; echo '<ralph>BLOCKED: no key</ralph>'",
  )
    .args("run").expectExit(3);
  const told = JSON.parse(made.read("../told.json") ?? "");
  const flag = await project([url]).args("run", "--notify=cat > ../flag.json").expectExit(0);

  expect(told).toMatchObject({ event: "blocked", reasons: [expect.stringContaining("no key")] });
  expect(JSON.parse(flag.read("../flag.json") ?? "")).toMatchObject({ event: "passed" });
  expect(flag.stderr).not.toContain("notification");
});

test("a secret in the configuration is refused with the way out, a variable that is not set is named", async () => {
  const secret = await project([{ url: "https://hooks.slack.com/services/T0/B0/abc" }]).args("run").expectExit(2);
  const unset = await project([{ url: "${NOT_THERE}" }]).args("run").expectExit(0);

  expect(secret.stderr).toContain("holds a secret: put the URL into a variable of the environment and write `${NAME}`");
  expect(unset.stderr).toContain("the notification by ${NOT_THERE} failed: the variable NOT_THERE is not set");
});

test("terminals are told in their own words, without what text of others could do there", () => {
  const text = "a\u001b]0;x\u0007b;c\nd";
  expect(desktopSequence("t", text, { TERM_PROGRAM: "iTerm.app" })).toBe("\u001b]9;ab,c d\u0007");
  expect(desktopSequence("t", text, { TERM: "foot" })).toBe("\u001b]777;notify;t;ab,c d\u0007");
  expect(desktopSequence("t", text, { TERM: "xterm-kitty", TMUX: "x" })).toBe(
    "\u001bPtmux;\u001b\u001b]777;notify;t;ab,c d\u0007\u001b\\",
  );
  expect(desktopSequence("t", text, { TERM: "xterm-256color" })).toBeNull();
});

test("a question that no one answers is told", needs("tmux"), async () => {
  const prepared = project([{ command: "cat > ../asked.json", on: ["question"] }], "cat > /dev/null; sleep 0.1")
    .dirty({
      "ralph.config.json": JSON.stringify({
        provider: { command: "worker" },
        notify: [{ command: "cat > ../asked.json", on: ["question"] }],
      }),
    })
    .env({ CI: "true" }).args("run", "--interactive").prepare();
  const screen = tmuxScreen(prepared, 100, 30);
  await screen.shows(/Continue with the next iteration/);
  const file = join(prepared.root, "../asked.json");
  const written = () => existsSync(file) && readFileSync(file, "utf8").endsWith("}\n");
  for (const deadline = Date.now() + 60_000; Date.now() < deadline && !written();) {
    await new Promise((done) => setTimeout(done, 50));
  }
  const asked = JSON.parse(readFileSync(file, "utf8"));

  expect(asked).toMatchObject({ event: "question", title: "project: waits for an answer (loop.continue)" });
  expect(JSON.stringify(asked)).not.toContain("next iteration");
});
