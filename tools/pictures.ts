/**
 * Makes the pictures of the documentation from a demo: `docs/pictures/live.svg`, its recording, and, with a Chromium,
 * `docs/pictures/page-*.png`, the page of `ralph ui`.
 *
 *   bun tools/pictures.ts
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { chromium } from "playwright-core";
import { findBrowser } from "../lib/checks/browser/find_browser.ts";
import { createHost } from "../lib/host/create_host.ts";
import { livePicture, runDemo } from "./live_picture.ts";
import { bunPath, ROOT } from "./runtimes.mjs";

const FOLDER = join(ROOT, "docs/pictures");

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
        viewport: { width: 1280, height: 760 },
        colorScheme,
        reducedMotion: "reduce",
      });
      await page.goto(address.toString().trim());
      await page.locator(".run a, table a").first().click();
      await page.locator("#col-done").waitFor();
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
await pagePictures(demo.root);
rmSync(dirname(demo.root), { recursive: true, force: true });
