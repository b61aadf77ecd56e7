import { isAbsolute, join, relative, sep } from "node:path";
import type { BrowserConfig } from "../../config/load.ts";
import { ensureRunsIgnored } from "../../events/known_runs.ts";
import type { Host } from "../../host/types.ts";
import type { Check, CheckOutcome } from "../../backlog/types.ts";
import { findBrowser } from "./find_browser.ts";
import type { PageUrl } from "./urls.ts";
import type { PageReport } from "./visit.ts";

/** A look at pages. */
export interface BrowserCheckOptions {
  /** The pages to look at. */
  readonly pages: readonly PageUrl[];
  /** Which browser, and how. */
  readonly config: BrowserConfig;
  /** Absolute path of the project. */
  readonly root: string;
  readonly host: Host;
  /** Begins the screenshots' names: `auth-US-001`. */
  readonly name: string;
  /** @default "" */
  readonly scope?: string;
  /** Why the pages cannot be looked at now, or `null`. */
  readonly problem?: () => string | null;
}

/**
 * A check that opens pages in the machine's Chrome or Chromium: status, console errors, uncaught exceptions, failed
 * requests, a visible error banner; one screenshot a page. Playwright is loaded when it runs.
 *
 * @example A check of the front page of the first service
 * ```ts
 * import { createRalph } from "ralph";
 * import { browserCheck } from "ralph/feature";
 *
 * await using ralph = await createRalph();
 * const check = browserCheck({
 *   pages: [{ url: "http://localhost:3000/", written: "/" }],
 *   config: ralph.config.browser,
 *   root: ralph.root,
 *   host: ralph.host,
 *   name: "front",
 * });
 * console.log(check.name); // browser /
 * ```
 */
export function browserCheck(options: BrowserCheckOptions): Check {
  const shown = options.pages.map(({ written }) => written).join(", ");
  const opened = options.pages.map(({ url }) => url).join(", ");
  const about =
    `opens ${opened} in Chromium; it fails at a status of 400 or more, an error on the console, an uncaught exception, a request that fails or a visible error banner`;
  return { name: `browser ${shown}`, scope: options.scope ?? "", about, run: ({ signal }) => look(options, signal) };
}

async function look(options: BrowserCheckOptions, signal: AbortSignal): Promise<CheckOutcome> {
  const { config, host, root, pages } = options;
  const problem = options.problem?.() ?? null;
  if (problem !== null) return { ok: false, exitCode: null, tail: `no page was opened: ${problem}` };
  const executable = await findBrowser(config.executablePath, host.environment, root);
  const { launchBrowser } = await import("./launch.ts");
  const { visitPage } = await import("./visit.ts");
  const folder = isAbsolute(config.screenshotDir) ? config.screenshotDir : join(root, config.screenshotDir);
  await ensureRunsIgnored(folder);
  const reports: PageReport[] = [];
  await using launched = await launchBrowser({ executable, headless: config.headless, host, signal });
  for (const { url } of pages) {
    if (signal.aborted) break;
    reports.push(await visitPage(launched.browser, url, join(folder, `${options.name}-${fileNameOf(url)}.png`)));
  }
  const ok = reports.length === pages.length && reports.every(({ problems }) => problems.length === 0);
  return { ok, exitCode: ok ? 0 : 1, tail: reports.flatMap((report) => linesOf(report, root)).join("\n") };
}

function linesOf({ url, status, problems, screenshot }: PageReport, root: string): readonly string[] {
  const picture = screenshot === null ? "no screenshot" : relative(root, screenshot).replaceAll(sep, "/");
  return [
    `${url}: ${status === null ? "no answer" : `HTTP ${status}`} (${picture})`,
    ...problems.map((problem) => `  ${problem}`),
  ];
}

/** `/settings/keys?tab=1` makes `settings-keys-tab-1`. */
function fileNameOf(url: string): string {
  const { pathname, search, hash } = new URL(url);
  return `${pathname}${search}${hash}`.replaceAll(/[^\w.-]+/g, "-").replaceAll(/^[-.]+|-+$/g, "").slice(0, 80) ||
    "index";
}
