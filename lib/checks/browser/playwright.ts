import type { BrowserType } from "playwright-core";
import packageJson from "playwright-core/package.json" with { type: "json" };

interface PluginBuild {
  onResolve(
    filter: { readonly filter: RegExp },
    resolve: (found: { readonly path: string }) => { readonly path: string },
  ): void;
  onLoad(
    filter: { readonly filter: RegExp },
    load: (found: { readonly path: string }) => { readonly exports: unknown; readonly loader: "object" },
  ): void;
}

interface BunRuntime {
  plugin(plugin: { readonly name: string; setup(build: PluginBuild): void }): void;
}

const FILES_REGEXP = /playwright-core[\\/](?:package|browsers)\.json$/;
/** Browsers that Playwright could install; Ralph only ever uses the machine's own. */
const BROWSERS = ["chromium", "chromium-headless-shell", "firefox", "webkit", "ffmpeg", "winldd", "android"];

/**
 * Playwright, loaded when a page is looked at. It reads two of its own files by paths that it computes, which are not
 * there in the compiled binary: they are served from memory.
 */
export async function loadChromium(compiled: boolean): Promise<BrowserType> {
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
