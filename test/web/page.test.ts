import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import process from "node:process";
import { afterAll, expect, test } from "vitest";
import { processStart } from "../../lib/host/process_table.ts";
import { ralphCli } from "../e2e/cli.ts";
import { tmuxScreen } from "../e2e/tmux.ts";
import { axe, closeBrowser, lanesProject, openPage, shows, startUi, storyProject } from "./page_world.ts";
import { EVERY_EVENT } from "../ui/every_event.ts";
import { needs } from "../needs.ts";

afterAll(closeBrowser);

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** Asks with any header, as no browser does. */
function ask(
  address: string,
  headers: Readonly<Record<string, string>> = {},
  method = "GET",
  body = "",
): Promise<Answer> {
  return new Promise((done, fail) => {
    const asked = request(address, { method, headers }, (response) => {
      let text = "";
      response.on("data", (chunk: Buffer) => text += chunk.toString());
      response.on("end", () => done({ status: response.statusCode ?? 0, body: text, headers: response.headers }));
    });
    asked.on("error", fail);
    asked.end(body);
  });
}

const runsOf = (root: string): readonly string[] =>
  readdirSync(join(root, "scripts/ralph/runs")).filter((name) => /^\d/.test(name));

test(
  "a run from its start to its end: what fails and passes, pause, tell, resume; by keyboard, for every eye, and nothing that an agent wrote runs",
  needs("chromium"),
  async () => {
    const running = storyProject(2).args("run", "--agent", "claude").start();
    const go = (number: number): void => writeFileSync(join(running.root, `../go-${number}`), "");
    await running.wrote("../prompt-0");
    const address = await startUi(running.root);
    const { page, wrong } = await openPage(address);

    await shows(page, "h1", "One run is at work");
    expect(await axe(page)).toEqual([]);
    await page.keyboard.press("Tab"); // to the content, then brand, run
    for (let presses = 0; presses < 5 && !(await page.locator(".run a:focus").count()); presses++) {
      await page.keyboard
        .press("Tab");
    }
    await page.keyboard.press("Enter");
    await shows(page, ".pill", "Running");
    await shows(page, "#now", "claude is at work");
    await shows(page, "#now .tool", "Bash npm test");
    await shows(page, "#col-work", "US-001");

    await page.getByLabel("Tell the agent").fill("use tabs <b>here</b>");
    await page.getByRole("button", { name: "Tell" }).press("Enter");
    await shows(page, "#notice", "it will be in the next prompt");
    await page.getByRole("button", { name: "Pause" }).press("Enter");
    await shows(page, ".pill", "Pausing");
    go(0);
    await shows(page, ".pill", "Paused");
    await shows(page, "#col-done", "US-001");
    for (const [width, dark] of [[400, false], [1600, true]] as const) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme: dark ? "dark" : "light" });
      expect(await axe(page)).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    }
    await page.getByRole("button", { name: "Resume" }).press("Enter");
    await running.wrote("../prompt-1");
    expect(readFileSync(join(running.root, "../prompt-1"), "utf8")).toContain("use tabs <b>here</b>");
    go(1);
    await shows(page, "#col-again, #col-work", /US-002/);
    await running.wrote("../prompt-2");
    await page.locator("#col-work a").press("Enter");
    await shows(page, "h1", "US-002");
    await shows(page, ".attempt pre", "found <script>alert(3)</script>");
    await shows(page, ".criteria", "It is <b>there</b>");
    go(2);
    await shows(page, "h1 .pill", "verified");
    expect(await axe(page)).toEqual([]);
    const { exitCode } = await running.ended();
    await page.goto(page.url());
    await page.locator("details summary", { hasText: "US-002" }).first().click();
    await shows(page, ".diff ins", "+x");
    await page.getByRole("link", { name: "transcript" }).first().click();
    await shows(page, "pre", "I look at it first. </script><script>alert");
    await page.locator("nav a").nth(1).click();
    await shows(page, ".pill", "Passed");
    await shows(page, "#tiles", "~$0.75");
    expect(await axe(page)).toEqual([]);
    await page.getByRole("link", { name: "Request" }).click();
    await shows(page, "pre", /### Stories .*First \\<\/script/s);
    expect(await axe(page)).toEqual([]);
    await page.goBack();
    await page.getByRole("link", { name: "Report" }).click();
    await shows(page, "h1", "passed");

    expect([exitCode, wrong]).toEqual([0, []]);
    expect((await ralphCli(running.root).args("report").expectExit(0)).stdout).toContain(
      "- told: **use tabs \\<b\\>here\\</b\\>** (page)",
    );
  },
);

test("who has not the token, or comes from elsewhere, gets 401 and learns nothing; the rest is bounded", async () => {
  const made = await storyProject(1).env({ N: "1" }).before("touch ../go-0").args("run", "--agent", "claude")
    .expectExit(0);
  const address = await startUi(made.root);
  const { origin, host, port } = new URL(address);
  const [run = ""] = runsOf(made.root);
  const nothing = { status: 401, body: "" };
  const form = { "content-type": "application/x-www-form-urlencoded" };

  for (
    const [path, headers, method] of [
      ["/", {}, "GET"],
      [`/${"a".repeat(32)}/`, {}, "GET"],
      ["/style.css", {}, "GET"],
      [`/x/0/${run}`, {}, "GET"],
      [new URL(address).pathname, { host: `evil.example:${port}` }, "GET"],
      [new URL(address).pathname, { host: "evil.example" }, "GET"],
      [new URL(address).pathname, { origin: "https://evil.example" }, "GET"],
      [new URL(address).pathname, { origin: "null" }, "GET"],
      [new URL(address).pathname, { "sec-fetch-site": "cross-site" }, "GET"],
      [`${new URL(address).pathname}0/${run}/steer`, form, "POST"],
      [`${new URL(address).pathname}0/${run}/steer`, { ...form, origin: "http://localhost:1" }, "POST"],
      [`${new URL(address).pathname}0/${run}/steer`, { origin }, "OPTIONS"],
    ] as const
  ) {
    const answer = await ask(`${origin}${path}`, headers, method, method === "POST" ? "action=stop" : "");
    if (method === "OPTIONS") expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
    else {expect({ status: answer.status, body: answer.body }, `${method} ${path} ${JSON.stringify(headers)}`).toEqual(
        nothing,
      );}
  }
  const { headers } = await ask(address, { host });
  expect(headers["content-security-policy"]).toContain("script-src 'self'");
  expect(headers["content-security-policy"]).not.toContain("unsafe");
  expect(headers["access-control-allow-origin"]).toBeUndefined();
  expect(headers).toMatchObject({
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "x-frame-options": "DENY",
  });
  expect(
    (await ask(`${address}0/${run}/steer`, { ...form, origin }, "POST", `action=tell&text=${"x".repeat(70_000)}`))
      .status,
  ).toBe(413);

  // events that an agent wrote name a file elsewhere
  const events = join(made.root, "scripts/ralph/runs", run, "events.ndjson");
  writeFileSync(join(made.root, "../secret.log"), "SECRET");
  writeFileSync(
    events,
    readFileSync(events, "utf8").replaceAll(/"transcript":"[^"]*"/g, '"transcript":"../secret.log"'),
  );
  const other = await startUi(made.root);
  const transcript = await ask(`${other}0/${run}/transcript/0/US-001/0/0`);
  expect([transcript.status, transcript.body.includes("SECRET")]).toEqual([404, false]);
});

test("a question of the run is answered on the page", needs("tmux", "chromium"), async () => {
  const prepared = storyProject(2).before("touch ../go-0 ../go-1 ../go-2").args(
    "run",
    "--agent",
    "claude",
    "--interactive",
  ).prepare();
  const screen = tmuxScreen(prepared, 100, 40);
  await screen.shows(/Continue with the next iteration/);
  const address = await startUi(prepared.root);
  const { page, wrong } = await openPage(`${address}0/${runsOf(prepared.root)[0]}`, { width: 400 });

  await shows(page, ".ask", "Continue with the next iteration?");
  await shows(page, ".pill", "Needs you");
  expect(await axe(page)).toEqual([]);
  await page.getByRole("button", { name: "No" }).press("Enter");
  await screen.shows(/loop.continue: no \(page\)(.*\n)*exit 0$/);
  await shows(page, ".pill", "Declined");
  expect(wrong).toEqual([]);
});

test(
  "a run without a terminal puts its questions on the page alone, and waits for the answer",
  needs("chromium"),
  async () => {
    const running = storyProject(2).before("touch ../go-0 ../go-1 ../go-2")
      .args("run", "--agent", "claude", "--interactive", "--ask", "page").start();
    await running.shows("waits for an answer on the page: `ralph ui`");
    const address = await startUi(running.root);
    const { page, wrong } = await openPage(`${address}0/${runsOf(running.root)[0]}`);

    await shows(page, ".ask", "Continue with the next iteration?");
    await page.getByRole("button", { name: "No" }).press("Enter");
    const { exitCode, stderr } = await running.ended();

    expect([exitCode, stderr]).toEqual([0, expect.stringContaining("answer loop.continue: no (page)")]);
    expect(wrong).toEqual([]);
  },
);

test(
  "four workers, a given up story with its question, and twenty past runs below: by day and by night, narrow and wide",
  needs("chromium"),
  async () => {
    const running = lanesProject().start();
    const address = await startUi(running.root);
    await running.shows(/US-001: parked/);
    await running.shows(/US-005: .*attempt 1/);
    const [run = ""] = runsOf(running.root);
    const place = join(running.root, "scripts/ralph/runs");
    const events = readFileSync(join(place, run, "events.ndjson"), "utf8").trim();
    const work = {
      branch: "ralph/parser",
      base: "main",
      from: "a",
      head: "b",
      commits: 2,
      files: 1,
      added: 12,
      removed: 3,
    };
    const end = { ...EVERY_EVENT["run-end"], work, v: 1, at: new Date().toISOString(), run };
    for (let past = 0; past < 20; past++) {
      const id = `20260101-0000${String(past).padStart(2, "0")}-aaaa`;
      const ended = JSON.stringify({ ...end, status: ["passed", "blocked", "unverified", "exhausted"][past % 4] });
      mkdirSync(join(place, id));
      writeFileSync(join(place, id, "events.ndjson"), `${events}\n${ended}\n`.replaceAll(run, id));
      appendFileSync(join(running.root, ".git/ralph/runs"), `scripts/ralph/runs/${id}\n`);
    }
    for (const path of ["", `0/${run}`, `0/${run}/items`, `0/${run}/report`]) {
      const { page } = await openPage(`${address}${path}`);
      for (const [width, dark] of [[400, true], [1280, false]] as const) {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme: dark ? "dark" : "light" });
        expect([path, width, await axe(page)]).toEqual([path, width, []]);
        expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
      }
    }
    const { page } = await openPage(address);
    expect(await page.locator(".past tbody tr").count()).toBe(20);
    expect(await page.locator(".runs:has(.run) + .past").count()).toBe(1);
    expect(await page.locator(".past tr").nth(1).innerText()).toMatch(
      /^Exhausted\s+Read lists of ingredients .*ralph\/parser \+12 -3\s+0 of 6 done\s+[\d.]+s\s+~\$1\.50\s/,
    );
    await page.goto(`${address}0/${run}`);
    expect(await page.locator("#now .lane > :first-child").allInnerTexts()).toEqual(
      [0, 1, 2, 3].map((n) => `worker ${n}`),
    );
    await shows(page, "#col-parked", "Which cup, 240 or 250 ml?");
    const columns = await page.locator(".board > :visible").evaluateAll((all) =>
      all.map((one) => one.getBoundingClientRect().y)
    );
    expect(new Set(columns).size).toBe(1); // beside each other
    writeFileSync(join(running.root, "../home/go"), "");
    running.child.kill("SIGTERM");
    await running.ended();
  },
);

test("two projects at once, and a run that is killed", needs("chromium"), async () => {
  const [one, other] = [
    storyProject(1).args("run", "--agent", "claude").start(),
    storyProject(1).args("run", "--agent", "claude").start(),
  ];
  await Promise.all([one.wrote("../prompt-0"), other.wrote("../prompt-0")]);
  const address = await startUi(one.root, other.root);
  const { page, wrong } = await openPage(address);
  await shows(page, "h1", "2 runs are at work");
  const killed = await openPage(`${address}1/${runsOf(other.root)[0]}`);
  await shows(killed.page, ".pill", "Running");

  other.child.kill("SIGKILL");
  await shows(killed.page, ".pill", "No end recorded");
  await shows(page, "h1", "One run is at work");
  await shows(killed.page, "#col-again", "US-001");
  writeFileSync(join(one.root, "../go-0"), "");
  await one.ended();
  await shows(page, "h1", "No run is at work");
  expect([...wrong, ...killed.wrong]).toEqual([]);
});

test(
  "1,000 iterations and 10,000 events are shown at once, and stay fluid while 100 a second arrive",
  needs("chromium"),
  async () => {
    const made = await storyProject(1).before("touch ../go-0").args("run", "--agent", "claude").expectExit(0);
    const run = "20260101-000000-aaaa";
    const folder = join(made.root, "scripts/ralph/runs", run);
    mkdirSync(folder, { recursive: true });
    let at = Date.parse("2026-01-01T00:00:00Z");
    const line = (event: object): string =>
      `${JSON.stringify({ v: 1, at: new Date(at += 1000).toISOString(), run, ...event })}\n`;
    const usage = {
      inputTokens: 1000,
      outputTokens: 50,
      cachedTokens: null,
      reasoningTokens: null,
      costUsd: 0.01,
      estimated: true,
    };
    const iteration = (number: number): string => {
      const item = { id: `US-${number}`, kind: "story", title: `Story ${number} with a title of some length` };
      const named = { iteration: number, item, attempt: 1 };
      const texts = [1, 2, 3, 4].map((index) =>
        line({ type: "agent-tool-call", id: null, tool: "Bash", input: `npm test ${index}` })
      );
      return [
        line({ type: "iteration-start", ...named, passed: number - 1, total: 1200 }),
        line({ type: "turn-start", agent: "claude", transcript: `iteration-${number}.log` }),
        ...texts,
        line({ type: "turn-end", agent: "claude", reason: "completed", message: null, durationMs: 3000, usage }),
        line({ type: "check-start", name: "npm test", scope: item.id, number: 1, total: 1 }),
        line({
          type: "check-end",
          name: "npm test",
          scope: item.id,
          ok: true,
          exitCode: 0,
          durationMs: 900,
          tail: "12 passed",
        }),
        line({
          type: "iteration-end",
          ...named,
          result: "verified",
          settlement: "passed",
          message: null,
          durationMs: 4000,
          usage,
        }),
      ].join("");
    };
    const start = line({ type: "run-start", workflow: "exec", root: made.root, agent: "claude", folder });
    const past = Array.from({ length: 1000 }, (_, index) => iteration(index + 1)).join("");
    writeFileSync(join(folder, "events.ndjson"), start + past);
    appendFileSync(join(made.root, ".git/ralph/runs"), `scripts/ralph/runs/${run}\n`); // Ralph made it
    const live = {
      v: 1,
      run,
      root: made.root,
      folder,
      pid: process.pid,
      started: await processStart(process.pid),
      since: "2026-01-01T00:00:00Z",
      asks: null,
      pause: null,
      stopping: false,
    };
    mkdirSync(join(made.root, ".git/ralph/control"), { recursive: true });
    writeFileSync(join(made.root, ".git/ralph/control", `${run}.json`), JSON.stringify(live));
    const address = await startUi(made.root);
    const { page, wrong } = await openPage(`${address}0/${run}`);
    const paint = await page.waitForFunction(() =>
      performance.getEntriesByName("first-contentful-paint")[0]?.startTime
    );
    const painted = await paint.jsonValue() as number;
    const elements = await page.evaluate(() => document.querySelectorAll("*").length);
    await shows(page, "#tiles", "1000 of 1200");

    await page.evaluate(() => {
      const frames = { longest: 0, count: 0, last: performance.now() };
      Object.assign(globalThis, { frames });
      const next = (now: number): void => {
        frames.longest = Math.max(frames.longest, now - frames.last);
        frames.last = now;
        frames.count += 1;
        requestAnimationFrame(next);
      };
      requestAnimationFrame(next);
    });
    for (let tick = 0; tick < 30; tick++) { // 10 events each 100 ms
      appendFileSync(join(folder, "events.ndjson"), iteration(1001 + tick));
      await new Promise((done) => setTimeout(done, 100));
    }
    await shows(page, "#tiles", "1030 of 1200");
    const { longest, count } = await page.evaluate(() =>
      (globalThis as unknown as { frames: { longest: number; count: number } }).frames
    );
    const heap = await page.evaluate(() =>
      (performance as unknown as { memory: { usedJSHeapSize: number } }).memory.usedJSHeapSize
    );
    if (process.env["RALPH_FIGURES"] !== undefined) {
      process.stderr.write(
        `first paint ${painted} ms, ${elements} elements, longest frame ${longest} ms, ${count} frames, heap ${heap}\n`,
      );
    }

    expect(painted).toBeLessThan(15_000); // a busy machine; alone it takes about a second
    expect(elements).toBeLessThan(2500);
    expect(heap).toBeLessThan(40_000_000);
    expect(longest).toBeLessThan(3000);
    expect(count).toBeGreaterThan(10);
    expect(wrong).toEqual([]);
  },
);
