import type { Browser, BrowserType } from "playwright-core";
import { RalphError } from "../../errors/ralph_error.ts";
import { temporaryDirectory } from "../../host/files.ts";
import type { Host } from "../../host/types.ts";
import { isSuperUser } from "../../host/this_process.ts";

const FILES_REGEXP = /playwright-core[\\/](?:package|browsers)\.json$/;

/** Browsers that Playwright could install; Ralph only ever uses the machine's own. */
const BROWSERS = ["chromium", "chromium-headless-shell", "firefox", "webkit", "ffmpeg", "winldd", "android"];

/** How a browser is started. */
export interface LaunchOptions {
  readonly executable: string;
  readonly headless: boolean;
  readonly host: Host;
  readonly signal: AbortSignal;
}

const START_MS = 60_000;
/** Nothing but the pages asked for: no first-run pages, no updates, no calls home. */
const FLAGS = ("--remote-debugging-port=0 --no-first-run --no-default-browser-check --disable-background-networking " +
  "--disable-component-update --disable-sync --disable-quic --disable-gpu --disable-dev-shm-usage " +
  "--disable-extensions --mute-audio --password-store=basic --window-size=1280,800").split(" ");

/**
 * Starts a browser as a process of the run, so that whatever ends the run ends it, and connects Playwright to it.
 * Disposing of it ends its whole process tree and takes its profile away.
 *
 * @throws {RalphError} browser-failed
 */
export async function launchBrowser(
  { executable, headless, host, signal }: LaunchOptions,
): Promise<AsyncDisposable & { readonly browser: Browser }> {
  const profile = await temporaryDirectory("ralph-browser");
  const confined = host.sandbox?.isWhole === true && (await host.sandbox.ensureUsable()).on;
  const stop = new AbortController();
  let printed = "";
  let found: (address: string) => void = () => {};
  const address = new Promise<string>((resolve) => found = resolve);
  const end = host.processes.run({
    file: executable,
    arguments: argumentsOf(profile.path, headless, isSuperUser() || confined),
    cwd: profile.path,
    sandbox: { role: "service", cwd: profile.path, write: [profile.path] },
    signal: AbortSignal.any([signal, stop.signal]),
    graceMs: 1000,
    onOutput(chunk) {
      printed = (printed + Buffer.from(chunk).toString("utf8")).slice(-8192);
      const match = /DevTools listening on (ws:\/\/\S+)/.exec(printed);
      if (match?.[1] !== undefined) found(match[1]);
    },
  });

  async function close(): Promise<void> {
    stop.abort();
    await end;
    try {
      await profile[Symbol.asyncDispose]();
    } catch {
      // the browser still wrote into its temporary folder
    }
  }

  try {
    const waited = new AbortController();
    const endpoint = await Promise.race([
      address,
      end.then((ended) => failure(`it ended with ${ended.exitCode ?? ended.signal ?? ended.reason}`)),
      host.clock.sleep(START_MS, waited.signal).then(() => failure(`it did not start within ${START_MS / 1000} s`)),
    ]).finally(() => waited.abort());
    if (typeof endpoint !== "string") throw endpoint;
    const chromium = await loadChromium(host.environment.compiled);
    const browser = await chromium.connectOverCDP(endpoint, { timeout: START_MS });
    return {
      browser,
      async [Symbol.asyncDispose]() {
        await Promise.race([browser.close().catch(() => {}), end]);
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }

  function failure(problem: string): RalphError {
    const tail = printed.trim().split("\n").slice(-10).join("\n");
    return new RalphError("browser-failed", { details: { executable, problem, tail } });
  }
}

/** @param open without Chromium's own sandbox: the super-user has none, and none can be made inside of another */
function argumentsOf(profile: string, headless: boolean, open: boolean): readonly string[] {
  return [
    ...(headless ? ["--headless=new"] : []),
    ...(open ? ["--no-sandbox"] : []),
    `--user-data-dir=${profile}`,
    ...FLAGS,
    "about:blank",
  ];
}

import packageJson from "playwright-core/package.json" with { type: "json" };

/** By the path of a file. */
type Serve<Served> = (which: { readonly filter: RegExp }, serve: (file: { readonly path: string }) => Served) => void;

interface PluginBuild {
  readonly onResolve: Serve<{ readonly path: string }>;
  readonly onLoad: Serve<{ readonly exports: unknown; readonly loader: "object" }>;
}

interface BunRuntime {
  plugin(plugin: { readonly name: string; setup(build: PluginBuild): void }): void;
}

/**
 * Playwright, loaded when a page is looked at. It reads two of its own files by paths that it computes, which are not
 * there in the compiled binary: they are served from memory.
 */
async function loadChromium(compiled: boolean): Promise<BrowserType> {
  if (compiled) serveFiles();
  return (await import("playwright-core")).chromium;
}

function serveFiles(): void {
  const { Bun } = globalThis as { readonly Bun?: BunRuntime };
  const browsers = BROWSERS.map((name) => ({ name, revision: "0", browserVersion: "0", installByDefault: false }));
  Bun?.plugin({
    name: "ralph-playwright",
    setup(build) {
      build.onResolve({ filter: FILES_REGEXP }, ({ path }) => ({ path }));
      build.onLoad({ filter: FILES_REGEXP }, ({ path }) => ({
        exports: path.endsWith("browsers.json") ? { browsers } : packageJson,
        loader: "object",
      }));
    },
  });
}
