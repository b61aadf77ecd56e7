import type { Browser, Page } from "playwright-core";
import { ensureDirectory, writeAtomic } from "../../host/files.ts";
import { dirname } from "node:path";

export interface PageReport {
  readonly url: string;
  /** The status of the page itself; `null` without an answer. */
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
    // The response says what could not be loaded, with the address.
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
    const reason = error instanceof Error ? error.message.split("\n")[0] ?? "" : String(error);
    problems.add(`the page did not load: ${shorten(reason)}`);
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

/** The parts of the page's own world that the function below uses; it runs there. */
interface PageElement {
  readonly textContent: string | null;
  readonly className: unknown;
  readonly tagName: string;
  getClientRects(): { readonly length: number };
  matches(selector: string): boolean;
}

interface PageWorld {
  readonly document: { querySelectorAll(selector: string): Iterable<PageElement> };
  getComputedStyle(element: PageElement): { readonly visibility: string; readonly opacity: string };
}

/**
 * Runs in the page: the texts of visible error banners and of the error overlays of dev servers. A bare `role=alert`
 * is a banner of errors only when its text says so.
 */
function visibleErrors(): readonly string[] {
  const world = globalThis as unknown as PageWorld;
  const overlays =
    "vite-error-overlay, #webpack-dev-server-client-overlay, nextjs-portal [data-nextjs-dialog], #error-overlay";
  const marked =
    "[role=alert], [role=alertdialog], .error, .alert-danger, .alert-error, .error-banner, .error-message, .banner-error, [data-error-banner]";
  const isVisible = (element: PageElement): boolean => {
    const { visibility, opacity } = world.getComputedStyle(element);
    return element.getClientRects().length > 0 && visibility === "visible" && opacity !== "0";
  };
  const found: string[] = [];
  for (const element of world.document.querySelectorAll(`${overlays}, ${marked}`)) {
    if (!isVisible(element)) continue;
    const text = (element.textContent ?? "").trim().replace(/\s+/g, " ").slice(0, 200);
    if (element.matches(overlays)) found.push(text === "" ? `<${element.tagName.toLowerCase()}>` : text);
    else if (text !== "") {
      const isMarked = /(?:^|[\s_-])(?:error|danger)/i.test(String(element.className));
      const says = /\b(?:error|failed|failure|exception|went wrong|unable to|cannot|could not|denied)\b/i.test(text);
      const isGood = /\b(?:success|info|warning)\b/i.test(String(element.className));
      if (isMarked || element.matches("[data-error-banner]") || (says && !isGood)) found.push(text);
    }
  }
  return [...new Set(found)].slice(0, 5);
}
