import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { workingIn } from "../fault/processes.ts";
import { LONG, sampled } from "../sampled.ts";
import { type Cli, ralphCli } from "./cli.ts";
import { freePort, page, webApp } from "./feature_app.ts";
import { ACCEPT, feature, PRD_FILE, steps, storiesOf, story } from "./feature_project.ts";

const OBEY = "*US-001*) echo good > US-001.txt; done_;; *US-002*) echo good > US-002.txt; done_;;";
const UI = { tags: ["ui"], acceptanceCriteria: ["Visit /items"] };

/** A project with a page and a service that answers after a moment. */
function site(port: number, agent: string, config: object = {}): Cli {
  return feature(agent, [story("US-001", UI)], {
    services: [{ name: "dev", start: "node server.js", ready: `http://127.0.0.1:${port}/healthz`, readyTimeout: 20 }],
    ...config,
  }).files({ ...webApp(port), "page.html": page(), "items.js": "export const items = () => [];\n" });
}

async function until(condition: () => boolean): Promise<void> {
  for (const deadline = Date.now() + 150_000; !condition() && Date.now() < deadline;) {
    await new Promise((done) => setTimeout(done, 50));
  }
}

describe("Ctrl-C", () => {
  const phases: readonly (readonly [phase: string, agent: string, config: object, shows: string])[] = [
    [
      "while the agent works",
      `${ACCEPT} *) [ -f ../go ] && { done_; exit; }; sleep 60 & setsid sleep 61; sleep 62;;`,
      {},
      "started, transcript",
    ],
    ["while a command verifies", `${ACCEPT} *) done_;;`, {
      commits: { attempts: true },
      verify: { baseline: false, default: ["[ -f ../go ] || { touch ../slow; sleep 60; }"] },
    }, "verify"],
    ["while a service starts", `${ACCEPT} *) done_;;`, {
      services: [{
        name: "dev",
        start: "[ -f ../go ] && exec node server.js; touch ../slow; sleep 60",
        ready: "PORT",
        readyTimeout: 30,
      }],
    }, "service"],
    ["while the browser looks", `${ACCEPT} *) done_;;`, {}, "browser"],
    [
      "while the final verification reviews",
      `*"Final Verification"*) [ -f ../go ] && { echo "<ralph>VERIFIED</ralph>"; exit; }; touch ../slow; sleep 60;; *) done_;;`,
      {},
      "review",
    ],
  ];

  test.each(sampled(phases, 2))(
    "%s: everything is gone, exit 130, and the same command continues",
    async (_phase, agent, config, shows) => {
      const port = await freePort();
      const project = site(
        port,
        agent,
        JSON.parse(
          JSON.stringify({ ...(shows === "browser" ? {} : { browser: { enabled: false } }), ...config }).replace(
            '"PORT"',
            `"http://127.0.0.1:${port}/healthz"`,
          ),
        ) as object,
      );
      const run = project.args("run", "auth").start();
      await run.shows(
        shows === "verify" ? "completed" : shows === "service"
          ? "run: feature" // services are tried before the first turn
          : shows === "browser"
          ? "check passed: service dev"
          : shows === "review"
          ? "review final-verification"
          : shows,
      );
      if (["verify", "service", "review"].includes(shows)) await until(() => existsSync(join(run.root, "../slow")));
      if (shows === "browser") await new Promise((done) => setTimeout(done, 700));
      run.child.kill("SIGINT");
      const stopped = await run.ended();

      expect(stopped.exitCode, stopped.stderr).toBe(130);
      expect(workingIn(run.root)).toEqual([]);
      const isBegun = !["service", "review"].includes(shows);
      expect(stopped.git("status", "--porcelain", "--", PRD_FILE)).toBe("");
      expect(JSON.parse(stopped.read(PRD_FILE) ?? "").run?.currentStoryId ?? null).toBe(isBegun ? "US-001" : null);
      writeFileSync(join(run.root, "../go"), "");
      const again = await ralphCli(run.root).args("run", "auth").expectExit(0);
      expect(storiesOf(again)[0]).toMatchObject({ passes: true, retries: 0 });
      expect(steps(again).filter((step) => step === "US-001 passed")).toHaveLength(1);
      expect(again.git("status", "--porcelain", "--", ".ralph")).toBe("");
    },
  );
});

describe("kill -9", () => {
  test("services and browser end with Ralph, and the next run continues", async () => {
    const port = await freePort();
    const run = site(port, `${ACCEPT} *) done_;;`).args("run", "auth").start();
    await run.shows("check passed: service dev");
    await new Promise((done) => setTimeout(done, 700));
    run.child.kill("SIGKILL");
    await run.ended();
    await until(() => workingIn(run.root).length === 0);

    expect(workingIn(run.root)).toEqual([]);
    const again = await ralphCli(run.root).args("run", "auth").expectExit(0);
    expect(storiesOf(again)[0]).toMatchObject({ passes: true, retries: 0 });
  });

  test("between a story's commit and the one that names it: it is said once that the story passed", async () => {
    // git runs the hook when the story's commit is made: the parent of its shell's parent is Ralph
    const hook = '[ -e ../hit ] && exit; touch ../hit; kill -9 $(cut -d " " -f 4 /proc/$PPID/stat)';
    const killed = feature(`${ACCEPT} ${OBEY}`, [story("US-001")])
      .before(`printf '#!/bin/sh\n%s\n' '${hook}' > .git/hooks/post-commit; chmod +x .git/hooks/post-commit`)
      .args("run", "auth").start();
    expect((await killed.ended()).exitCode).not.toBe(0);
    const last = await ralphCli(killed.root).args("run", "auth").expectExit(0);

    expect(existsSync(join(killed.root, "../hit"))).toBe(true);
    expect(steps(last).filter((step) => step === "US-001 passed")).toHaveLength(1);
    expect(storiesOf(last)[0]?.["lastResult"]).toMatchObject({
      commit: last.git("log", "-1", "--format=%h", "--grep=^feat: US-001"),
    });
  });

  test("at many moments: each story passes once, nothing is counted as a failure, no work is lost", {
    timeout: 240_000,
  }, async () => {
    const agent =
      `*"Final Verification"*) sleep 0.1; if [ -f ../sent ]; then echo "<ralph>VERIFIED</ralph>"; else touch ../sent; echo "<ralph>RESET:US-002</ralph>"; fi;; ${OBEY}`;
    const project = feature(agent, [story("US-001"), story("US-002")]);
    let root = "";
    let killed = 0;
    for (let moment = 0; moment < (LONG ? 25 : 9); moment++) {
      const run = (root === "" ? project : ralphCli(root)).args("run", "auth").start();
      root = run.root;
      const timer = setTimeout(() => run.child.kill("SIGKILL"), 500 + moment * (LONG ? 60 : 170));
      const { exitCode } = await run.ended();
      clearTimeout(timer);
      expect(() => JSON.parse(readFileSync(join(root, PRD_FILE), "utf8")) as unknown).not.toThrow();
      if (exitCode === 0) break;
      killed += 1;
    }
    const last = await ralphCli(root).args("run", "auth").expectExit(0);

    expect(killed).toBeGreaterThan(0);
    expect(storiesOf(last)).toMatchObject([{ passes: true, retries: 0 }, { passes: true }]);
    expect(Number(storiesOf(last)[1]?.["retries"])).toBeLessThanOrEqual(1); // the review may be killed before it is heard
    expect(steps(last).filter((step) => step === "US-001 passed")).toHaveLength(1);
    expect(last.git("log", "--format=%s", "--grep=^feat: US-001")).toBe("feat: US-001 - Do US-001");
    expect(last.git("status", "--porcelain")).toBe("");
  });
});

describe("services in a run", () => {
  test("one that dies while the agent works is started again, and its log is told", async () => {
    const port = await freePort();
    const agent =
      `${ACCEPT} *) if [ $(count t) = 2 ]; then kill $(cat pid); sleep 0.5; echo good > US-001.txt; fi; done_;;`;
    const result = await site(port, agent, { verify: { default: ["test -f US-001.txt"] }, browser: { enabled: false } })
      .files({
        "server.js": `${
          webApp(port)["server.js"]
        }\nimport("node:fs").then(({ writeFileSync }) => writeFileSync("pid", String(process.pid)));\n`,
        ".gitignore": "pid\n",
      })
      .args("run", "auth").expectExit(0);

    expect(result.stderr).toMatch(/the service dev had ended while the agent worked; the end of its log:/);
    expect(storiesOf(result)[0]).toMatchObject({ passes: true, retries: 1 });
    expect(workingIn(result.root)).toEqual([]);
  });

  test(
    "one that never comes up fails the story with its log in the notes; a foreign port and a missing browser end the run before any turn",
    async () => {
      const port = await freePort();
      const broken = await site(port, "*) done_;;", {
        maxRetries: 1,
        services: [{ name: "dev", start: "echo no database; exit 1", ready: `http://127.0.0.1:${port}/` }],
      }).args("run", "auth").expectExit(3);
      expect(String(storiesOf(broken)[0]?.["notes"])).toMatch(
        /the service dev ended with exit code 1 before it was ready; the end of its log:\n *no database\n/,
      );

      const missing = await site(port, "*) touch ran;;", { browser: { executablePath: "/nowhere/chrome" } }).args(
        "run",
        "auth",
      ).expectExit(2);
      expect(missing.stderr).toContain("browser.executablePath names /nowhere/chrome");
      expect(missing.stderr).toContain("apt-get install chromium");
      expect(missing.read("ran")).toBeNull();
    },
  );
});
