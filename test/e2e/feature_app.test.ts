import { copyFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { localDate } from "../../lib/host/local_date.ts";
import { LONG } from "../sampled.ts";
import { ralphCli } from "./cli.ts";
import { appConfig, freePort, ITEMS, page, prdOf, webApp } from "./feature_app.ts";
import { needs } from "../needs.ts";
import { commandsWith } from "../fault/processes.ts";

const DAY = localDate(Date.now());
const FOLDER = `.ralph/${DAY}-items`;

const TURNS = {
  turns: [
    {
      match: ["PRD Creation: items", "Nothing was said yet."],
      say: ["1. What is the primary goal?", "   A. See items", "   B. Other: [specify]"],
    },
    {
      match: ["PRD Creation: items", "The user: A, and nothing else"],
      write: { [`${FOLDER}/prd.md`]: "# Items\n\nA list of items, and a page at /items.\n" },
      say: "Written.",
    },
    {
      match: ["PRD Finalization: items", "Nothing: this is the first one."],
      say: ["```json", JSON.stringify({ ...prdOf(), project: "" }), "```"],
    },
    {
      match: ["PRD Finalization: items", "missing required field: project"],
      write: { [`${FOLDER}/prd.json`]: JSON.stringify(prdOf()) },
      say: "Written.",
    },
    {
      match: ["**ID:** US-001"],
      write: { "items.js": ITEMS },
      run: ["git add items.js", "git commit -qm 'feat: US-001 - Items'"],
      say: ["<ralph>LEARNING:items live in items.js</ralph>", "<ralph>DONE</ralph>"],
    },
    {
      match: ["**ID:** US-002", "This is attempt 1", "- items live in items.js"],
      write: { "page.html": page('throw new Error("no list yet");') },
      say: "<ralph>DONE</ralph>",
    },
    {
      match: ["**ID:** US-002", "This is attempt 2", "no list yet"],
      write: { "page.html": page() },
      say: "<ralph>DONE</ralph>",
    },
    { match: ["# Final Verification", "All of them have passed just now."], say: "<ralph>VERIFIED</ralph>" },
  ],
};

describe("the feature workflow on a web application", () => {
  test("from `ralph prd` to VERIFIED, the broken page caught by the browser", {
    timeout: 180_000,
    ...needs("chromium", "Linux"),
  }, async () => {
    const port = await freePort();
    const answers = {
      questions: [{ match: "primary goal", answer: "A, and nothing else" }],
      prompts: { "prd.finalize": "yes" },
    };
    const project = ralphCli().files({
      ...webApp(port),
      "ralph.config.json": appConfig(port),
      "turns.json": JSON.stringify(TURNS),
      "answers.json": JSON.stringify(answers),
    });
    const made = await project.args(
      "prd",
      "items",
      "--agent",
      "scripted",
      "--script",
      "turns.json",
      "--answers",
      "answers.json",
    ).expectExit(0);

    expect(made.stderr).toContain("missing required field: project");
    expect(made.stderr).toContain("Ready! Run 'ralph run items --agent scripted");
    const draft = JSON.parse(made.read(`${FOLDER}/prd.json`) ?? "");
    expect(draft.userStories.map(({ passes }: { passes: boolean }) => passes)).toEqual([false, false]);
    expect(draft.prdSha256).toMatch(/^[0-9a-f]{64}$/);

    const { stderr, git, read, root } = await ralphCli(made.root).args(
      "run",
      "items",
      "--agent",
      "scripted",
      "--script",
      "turns.json",
    ).expectExit(0);

    expect(stderr).toMatch(
      /story US-002: Items page \(attempt 1.*browser \/items.*uncaught exception: Error: no list yet/s,
    );
    expect(stderr).toMatch(/\n✓ passed: 2 verified in 4 iterations\n/);
    const prd = JSON.parse(read(`${FOLDER}/prd.json`) ?? "");
    expect(prd.userStories).toMatchObject([
      { id: "US-001", passes: true, retries: 0, lastResult: { summary: "feat: US-001 - Items" } },
      { id: "US-002", passes: true, retries: 1, notes: "", lastResult: { summary: "feat: US-002 - Items page" } },
    ]);
    expect(git("rev-parse", "--short", "HEAD~1")).toBe(prd.userStories[1].lastResult.commit);
    expect(prd.run).toMatchObject({
      currentStoryId: null,
      learnings: ["items live in items.js"],
      verifiedAt: expect.any(String),
    });
    expect(git("branch", "--show-current")).toBe("ralph/items");
    expect(git("status", "--porcelain")).toBe("");
    expect(git("log", "--format=%s%n%b", "main..HEAD").split("\n").filter((line) => line !== "")).toEqual([
      "chore: update prd.json",
      "ralph: verified",
      "feat: US-002 - Items page",
      "ralph: US-002 passed",
      "feat: US-001 - Items", // the agent's own commit had the same subject
      "ralph: US-001 passed",
    ]);
    const picture = join(root, ".ralph/screenshots/items-US-002-items.png");
    expect(readFileSync(picture).subarray(1, 4).toString()).toBe("PNG");
    const keep = process.env["RALPH_KEEP_SCREENSHOTS"];
    if (keep !== undefined) {
      mkdirSync(keep, { recursive: true });
      copyFileSync(picture, join(keep, "items.png"));
    }
    expect(commandsWith(root)).toEqual([]);
    expect(existsSync(join(root, ".ralph/ralph.lock"))).toBe(false);

    if (!LONG) return; // each look takes a browser of its own
    const verified = await ralphCli(root).args("verify", "items", "--json").expectExit(0);
    expect(JSON.parse(verified.stdout).results.map(({ name }: { name: string }) => name)).toEqual([
      "npm test --silent",
      "service dev",
      "browser /items",
      "npm run --silent e2e",
    ]);
    const again = await ralphCli(root).args("run", "items", "--agent", "scripted", "--script", "turns.json").expectExit(
      0,
    );
    expect(again.stderr).toContain("passed: 0 verified in 0 iterations");
  });
});
