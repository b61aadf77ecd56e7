import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { type Cli, ralphCli } from "../e2e/cli.ts";
import { needs } from "../needs.ts";
import { axe, closeBrowser, openPage, shows, startUi } from "./page_world.ts";

afterAll(closeBrowser);

/** Asks about US-001 until its prompt has an answer; at US-002 it waits until the test lets it go. */
const WORKER = `prompt=$(cat)
case "$prompt" in *'240 ml'*) ;; *US-001*) echo '<ralph>BLOCKED: Which cup, <b>240</b> or 250 ml?</ralph>'; exit;; esac
case "$prompt" in *US-002*) until test -f ../go || [ $((waits = waits + 1)) -gt 1200 ]; do sleep 0.1; done;; esac
echo x >> a.txt; echo '<promise>COMPLETE</promise>'`;

function project(count: number): Cli {
  const userStories = Array.from({ length: count }, (_, index) => ({
    id: `US-00${index + 1}`,
    title: `Story ${index + 1} <i>with a title</i> that is longer than its column can show`,
    acceptanceCriteria: ["Verify: `test -f a.txt`"],
    priority: 1,
    passes: false,
    notes: "",
  }));
  return ralphCli().files({
    "scripts/ralph/prd.json": JSON.stringify({ branchName: "main", userStories }),
    "ralph.config.json": JSON.stringify({ verify: { baseline: false } }),
  }).agent("worker", WORKER).args("run", "--agent-cmd", "worker");
}

async function atEveryWidth(page: Awaited<ReturnType<typeof openPage>>["page"]): Promise<void> {
  for (const [width, dark] of [[400, false], [400, true], [1280, false], [1280, true]] as const) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme: dark ? "dark" : "light" });
    expect([width, dark, await axe(page)]).toEqual([width, dark, []]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  }
}

test(
  "what is to come is named, and a story's question is answered on its card while the run lasts",
  needs("chromium"),
  async () => {
    const running = project(9).start();
    const address = await startUi(running.root);
    await running.shows(/US-001: parked/);
    await running.shows(/US-002: .*attempt 1/);
    const { page, wrong } = await openPage(address);
    await page.locator(".run a").first().click();

    await shows(page, "#col-open .to-come", "US-003 Story 3 <i>with a title</i>");
    expect(await page.locator("#col-open .to-come .id").allInnerTexts()).toEqual(
      [3, 4, 5, 6, 7].map((n) => `US-00${n}`),
    );
    await shows(page, "#col-open", "and 2 more");
    await shows(page, "#col-parked .asked", "Which cup, <b>240</b> or 250 ml?");
    await atEveryWidth(page);
    await page.getByLabel("Your answer for US-001").fill("240 ml");
    await page.getByRole("button", { name: "Answer" }).press("Enter");
    await shows(page, "#notice", "it will be in the next prompt for US-001");
    writeFileSync(join(running.root, "../go"), "");
    const { exitCode, stderr } = await running.ended();

    await shows(page, "#col-done", "US-001");
    expect([exitCode, stderr, wrong]).toEqual([0, expect.stringContaining("passed: 9 verified in 10 iterations"), []]);
  },
);

test("after the run the answer waits for the next one", needs("chromium"), async () => {
  const made = await project(2).before("touch ../go").expectExit(3);
  const address = await startUi(made.root);
  const { page, wrong } = await openPage(address);
  await page.locator(".past a").first().click();

  await page.getByLabel("Your answer for US-001").fill("240 ml <b>");
  await page.keyboard.press("Enter");
  await shows(page, "#notice", "the next run takes US-001 up again with this");
  await page.reload();
  await shows(page, "#col-parked", "The next run gets your answer: 240 ml <b>");
  await atEveryWidth(page);
  await page.locator("#col-parked a").first().click();
  await page.getByLabel("Tell the agent about US-001").fill("it is in the README");
  await page.getByRole("button", { name: "Tell" }).press("Enter");
  await shows(page, "#notice", "the next run takes US-001 up again with this");
  const { stderr } = await ralphCli(made.root).args("run", "--agent-cmd", "worker").expectExit(0);

  expect(stderr).toMatch(/240 ml <b>\n(.*\n)*.*it is in the README\n(.*\n)*.*passed: 1 verified in 1 iteration/);
  expect(wrong).toEqual([]);
});
