import type { Browser, Page } from "playwright-core";
import { ensureDirectory, writeAtomic } from "../../host/files.ts";
import { dirname } from "node:path";
import { visibleErrors } from "./visible_errors.ts";

/** What was found on one page. */
export interface PageReport {
  readonly url: string;
  /** Of the page itself; `null` without an answer. */
  readonly status: number | null;
  /** Empty: nothing is wrong with it. */
  readonly problems: readonly string[];
  /** Absolute path, or `null` when none could be taken. */
  readonly screenshot: string | null;
}

const LOAD_MS = 30_000;
/** Errors come late: what the page does after it has loaded is waited for. */
const QUIET_MS = 3000;
const LATE_MS = 500;
const MOST_PROBLEMS = 20;

/**
 * Opens a page and looks at it: its status, errors on the console, uncaught exceptions, requests that failed, a visible
 * error banner; and takes a screenshot.
 */
export async function visitPage(browser: Browser, url: string, screenshot: string): Promise<PageReport> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true, viewport: { width: 1280, height: 800 } });
  try {
    const page = await context.newPage();
    const problems = watch(page, url);
    const status = await open(page, url, problems);
    if (status !== null) {
      for (const text of await page.evaluate(visibleErrors).catch(() => [])) {
        problems.add(`error shown on the page: ${text}`);
      }
    }
    return { url, status, problems: [...problems].slice(0, MOST_PROBLEMS), screenshot: await shoot(page, screenshot) };
  } finally {
    await context.close().catch(() => {}); // the browser is gone: an interrupt
  }
}

function watch(page: Page, url: string): Set<string> {
  const problems = new Set<string>();
  const isIcon = (address: string): boolean => /\/favicon\.ico(?:$|\?)/.test(address);
  page.on("console", (message) => {
    // What could not be loaded is told by its response, with the address.
    if (message.type() !== "error" || message.text().startsWith("Failed to load resource")) return;
    problems.add(`console error: ${shorten(message.text())}`);
  });
  page.on("pageerror", (error) => problems.add(`uncaught exception: ${shorten(String(error.stack ?? error.message))}`));
  page.on("crash", () => problems.add("the page crashed"));
  page.on("response", (response) => {
    const isPage = response.request().isNavigationRequest() && response.frame() === page.mainFrame();
    if (response.status() < 400 || isIcon(response.url()) || isPage) return;
    problems.add(`request failed: HTTP ${response.status()} ${response.request().method()} ${response.url()}`);
  });
  page.on("requestfailed", (request) => {
    const reason = request.failure()?.errorText ?? "failed";
    if (reason === "net::ERR_ABORTED" || isIcon(request.url()) || request.url() === url) return;
    problems.add(`request failed: ${reason} ${request.method()} ${request.url()}`);
  });
  return problems;
}

/** @returns the status, or `null` when the page did not answer */
async function open(page: Page, url: string, problems: Set<string>): Promise<number | null> {
  try {
    const response = await page.goto(url, { waitUntil: "load", timeout: LOAD_MS });
    const status = response?.status() ?? null;
    if (status !== null && status >= 400) problems.add(`the page answers HTTP ${status}`);
    await page.waitForLoadState("networkidle", { timeout: QUIET_MS }).catch(() => {}); // a page may never fall silent
    await page.waitForTimeout(LATE_MS);
    return status ?? 200;
  } catch (error) {
    problems.add(
      `the page did not load: ${shorten(error instanceof Error ? error.message.split("\n")[0] ?? "" : String(error))}`,
    );
    return null;
  }
}

async function shoot(page: Page, path: string): Promise<string | null> {
  try {
    const picture = await page.screenshot({ fullPage: true, timeout: 10_000 });
    await ensureDirectory(dirname(path));
    await writeAtomic(path, picture);
    return path;
  } catch {
    return null; // a page that crashed has no picture; why is among the problems
  }
}

function shorten(text: string): string {
  return text.length > 1000 ? `${text.slice(0, 1000)}…` : text;
}
