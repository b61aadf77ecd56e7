import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { featureBacklog } from "../../../lib/workflows/feature/backlog.ts";
import { parseDirectory } from "../../../lib/workflows/feature/directories.ts";
import { defaultConfig } from "../../../lib/config/defaults.ts";
import { createStateFiles } from "../../../lib/backlog/state_files.ts";
import { createHost } from "../../../lib/host/create_host.ts";
import { ensureDirectory, temporaryDirectory } from "../../../lib/host/files.ts";
import type { Attempt, Check } from "../../../lib/backlog/types.ts";
import { runLoop } from "../../../lib/loop/run/run_loop.ts";
import { loopWorld } from "../../loop/loop_world.ts";
import { keepsContract } from "../../testing/keeps_contract.ts";

const FEATURE = parseDirectory("2024-01-15-auth")!;
const CONFIG = { ...defaultConfig(), verify: { ...defaultConfig().verify, default: ["true"], ui: ["npm run e2e"] } };
const UNCHECKED = { ...CONFIG, verify: { ...CONFIG.verify, default: [] } };

function prdText(stories: readonly object[]): string {
  return JSON.stringify({ schemaVersion: 2, project: "P", branchName: "main", userStories: stories }, null, 2);
}

const STORIES = [
  { id: "US-1", title: "One", acceptanceCriteria: ["a"], priority: 1 },
  { id: "US-2", title: "Two", acceptanceCriteria: ["Visit /two"], tags: ["ui"], priority: 2 },
];

async function store(stories: readonly object[] = STORIES, config = CONFIG) {
  const folder = await temporaryDirectory("feature");
  const root = folder.path;
  await ensureDirectory(join(root, FEATURE.path));
  await writeFile(join(root, FEATURE.prdFile), prdText(stories));
  const host = createHost();
  const state = createStateFiles({ root, directory: join(root, ".git", "ralph"), host });
  const found = async () => ({ ok: true, exitCode: null, tail: "" });
  const ui = {
    base: "http://localhost:3000",
    services: (): readonly Check[] => [{ name: "service dev", run: found }],
    browser: (_story: unknown, pages: readonly { readonly written: string }[]): Check => ({
      name: `browser ${pages.map(({ written }) => written).join()}`,
      run: found,
    }),
  };
  const open = () => featureBacklog({ root, config, state, repository: null, host }, { feature: FEATURE, ui });
  return { folder, open, read: () => readFile(join(root, FEATURE.prdFile), "utf8") };
}

keepsContract("featureBacklog()", async (kind) => {
  const together = STORIES.map((story) => ({ ...story, priority: 1 }));
  const { folder, open, read } = await store(together, kind === "checked" ? CONFIG : UNCHECKED);
  return {
    backlog: open(),
    reopen: async () => open(),
    snapshot: async () => (await read()).replaceAll(/"(?:started|completed|verified)At": "[^"]*"/g, ""),
    root: folder.path,
    turn: async ({ kind: stage }) => ({
      lines: [stage === "story" ? "<ralph>DONE</ralph>" : "<ralph>VERIFIED</ralph>"],
    }),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
});

describe("featureBacklog()", () => {
  test("checks come in the order default, services, browser, ui; only the first for a story without `ui`", async () => {
    const { folder, open } = await store();
    await using _folder = folder;
    const context = { cwd: ".", attempt: 1, previous: null, last: null, nonce: "k3f9ab", claims: [] };
    const names = async (index: number): Promise<readonly string[]> => {
      const story = (JSON.parse(await readFile(join(folder.path, FEATURE.prdFile), "utf8")) as {
        readonly userStories: readonly object[];
      }).userStories[index];
      const item = {
        id: "x",
        kind: "story",
        title: "x",
        data: { description: "", notes: "", tags: [], ...story } as never,
      };
      return (await open().work(item, context)).checks.map(({ name }) => name);
    };

    expect(await names(0)).toEqual(["true"]);
    expect(await names(1)).toEqual(["true", "service dev", "browser /two", "npm run e2e"]);
  });

  test("a review settled twice counts a reset once", async () => {
    const { folder, open, read } = await store(STORIES.map((story) => ({ ...story, passes: true })));
    await using _folder = folder;
    const backlog = open();
    const next = await backlog.next({ inFlight: [], parked: [] });
    if (next.status !== "item") throw new Error("no review");
    const findings = { learnings: ["l"], reset: ["US-2"], reason: "why" };
    const attempt: Attempt<typeof findings> = {
      id: "r.1",
      number: 1,
      turn: null,
      verification: null,
      claim: { status: "failed", reason: "why", findings },
      status: "failed",
      reason: "agent-failed",
      message: "why",
    };

    await backlog.settle(next.item, attempt);
    const once = await read();
    await backlog.settle(next.item, attempt);

    expect(await read()).toBe(once);
    expect(JSON.parse(once).userStories[1]).toMatchObject({
      retries: 1,
      passes: false,
      notes: "[ralph] sent back: why",
    });
  });
});

describe("what the loop has for it", () => {
  const story = { id: "US-1", title: "One", acceptanceCriteria: ["a"], priority: 1 };
  const files = { [FEATURE.prdFile]: prdText([story]) };

  test("a story is one commit, work and state, which the state names afterwards", async () => {
    await using world = await loopWorld(async ({ cwd, prompt }) => {
      if (prompt.includes("Final Verification")) return { lines: ["<ralph>VERIFIED</ralph>"] };
      await writeFile(join(cwd, "a.txt"), "a");
      return { lines: ["<ralph>DONE</ralph>"] };
    }, { files, config: { verify: { default: ["true"] } } });

    expect(await runLoop(world.ralph, featureBacklog(world.ralph, { feature: FEATURE }))).toMatchObject({
      status: "passed",
    });
    expect(await world.git("log", "--format=%s")).toBe(
      "chore: update prd.json\nfeat: US-1 - One\nstart",
    );
    expect(await world.git("show", "--name-only", "--format=", "HEAD~1")).toBe(`${FEATURE.prdFile}\na.txt`);
    expect(await world.git("status", "--porcelain")).toBe("");
    const { lastResult } = (JSON.parse(await readFile(join(world.root, FEATURE.prdFile), "utf8")) as {
      readonly userStories: readonly { readonly lastResult: object }[];
    }).userStories[0]!;
    expect(lastResult).toMatchObject({
      commit: await world.git("rev-parse", "--short", "HEAD~1"),
      summary: "feat: US-1 - One",
    });
  });

  test("a hook that refuses the work makes the attempt a failed one, and nothing passes", async () => {
    await using world = await loopWorld(async ({ cwd }) => {
      await writeFile(join(cwd, "a.txt"), `${Math.random()}`);
      return { lines: ["<ralph>DONE</ralph>"] };
    }, { files, config: { verify: { default: ["true"] }, maxRetries: 2 } });
    await writeFile(join(world.root, ".git/hooks/pre-commit"), "#!/bin/sh\necho no thanks; exit 1\n", { mode: 0o755 });

    expect(await runLoop(world.ralph, featureBacklog(world.ralph, { feature: FEATURE }))).toMatchObject({
      status: "blocked",
      passed: [],
    });
    const [now] = (JSON.parse(await readFile(join(world.root, FEATURE.prdFile), "utf8")) as {
      readonly userStories: readonly object[];
    }).userStories;
    expect(now).toMatchObject({
      passes: false,
      blocked: true,
      lastResult: null,
      notes: expect.stringContaining("no thanks"),
    });
  });

  test("what a turn that failed found out is kept, and counts as an attempt", async () => {
    await using world = await loopWorld(async (_request, number) => {
      if (number === 1) {
        return {
          end: { reason: "timed-out", message: "late" },
          lines: ["<ralph>LEARNING:it is slow</ralph>"],
        };
      }
      return { lines: [number === 2 ? "<ralph>DONE</ralph>" : "<ralph>VERIFIED</ralph>"] };
    }, { files, config: { verify: { default: ["true"] } } });

    expect(await runLoop(world.ralph, featureBacklog(world.ralph, { feature: FEATURE }))).toMatchObject({
      status: "passed",
      turns: 3,
    });
    expect(world.prompts[1]).toContain("- it is slow");
    expect(JSON.parse(await readFile(join(world.root, FEATURE.prdFile), "utf8"))).toMatchObject({
      run: { learnings: ["it is slow"] },
      userStories: [{ retries: 1, passes: true }],
    });
  });
});
