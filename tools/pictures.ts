/**
 * Makes the pictures of the documentation from a demo: `docs/pictures/live.svg`, its recording, and, with a Chromium,
 * `docs/pictures/page-*.png`, the page of `ralph ui`.
 *
 *   bun tools/pictures.ts
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { chromium } from "playwright-core";
import { findBrowser } from "../lib/checks/browser/find_browser.ts";
import { createHost } from "../lib/host/create_host.ts";
import { processStart } from "../lib/host/process_table.ts";
import { controlFolder, liveFile, type LiveRun } from "../lib/steer/control.ts";
import { livePicture, runDemo } from "./live_picture.ts";
import { bunPath, ROOT } from "./runtimes.mjs";

const FOLDER = join(ROOT, "docs/pictures");

/** Puts the demo back to the middle of its run: a story has passed, one is tried again, one has not begun. */
async function backToTheMiddle(root: string): Promise<void> {
  const runs = join(root, "scripts/ralph/runs");
  const run = readdirSync(runs).find((name) => /^\d/.test(name)) ?? "";
  const events = join(runs, run, "events.ndjson");
  const lines = readFileSync(events, "utf8").trim().split("\n");
  const again = lines.findIndex((line) => /"type":"iteration-start".*"attempt":2/.test(line));
  const words = lines.findIndex((line, index) => index > again && line.includes('"type":"agent-text"'));
  writeFileSync(events, lines.slice(0, words + 1).map((line) => `${line}\n`).join(""));
  const git = (...line: string[]): string => execFileSync("git", line, { cwd: root, encoding: "utf8" }).trim();
  const prd = "scripts/ralph/prd.json";
  writeFileSync(join(root, prd), git("show", `${git("log", "--all", "--format=%h", "--grep=^feat: US-001")}:${prd}`));
  const [started = "", since] = [await processStart(process.pid) ?? undefined, new Date().toISOString()];
  const state = { asks: null, pause: null, stopping: false };
  const live: LiveRun = { v: 1, run, root, folder: join(runs, run), pid: process.pid, started, since, ...state };
  writeFileSync(liveFile(controlFolder(join(root, ".git/ralph")), run), JSON.stringify(live));
}

/** The run's page at 1280 pixels, by day and by night. */
async function pagePictures(root: string): Promise<void> {
  const host = createHost();
  const executablePath = await findBrowser("", host.environment, host.environment.cwd);
  const ui = spawn(bunPath(), [join(ROOT, "bin/ralph.ts"), "ui", "--root", root], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  try {
    const [address] = await once(ui.stdout, "data") as [Buffer];
    for (const colorScheme of ["light", "dark"] as const) {
      const page = await browser.newPage({
        viewport: { width: 1280, height: 780 },
        colorScheme,
        reducedMotion: "reduce",
      });
      await page.goto(address.toString().trim());
      await page.locator(".run a, table a").first().click();
      await page.locator("#col-open .to-come").waitFor();
      await page.screenshot({ path: join(FOLDER, `page-${colorScheme}.png`) });
    }
  } finally {
    await browser.close();
    ui.kill();
  }
}

const demo = runDemo();
mkdirSync(FOLDER, { recursive: true });
writeFileSync(join(FOLDER, "live.svg"), livePicture(demo));
await backToTheMiddle(demo.root);
await pagePictures(demo.root);
rmSync(dirname(demo.root), { recursive: true, force: true });
