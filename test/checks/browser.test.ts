import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { defaultConfig } from "../../lib/config/defaults.ts";
import { createHost } from "../../lib/host/create_host.ts";
import { temporaryDirectory } from "../../lib/host/files.ts";
import { browserCheck } from "../../lib/checks/browser/check.ts";
import { pages } from "./pages.ts";
import { needs } from "../needs.ts";

const { browser } = defaultConfig();

async function look(
  paths: readonly string[],
  root: string,
  origin: string,
): Promise<{ readonly ok: boolean; readonly tail: string }> {
  const host = createHost();
  await using _processes = host.processes;
  const check = browserCheck({
    pages: paths.map((path) => ({ url: `${origin}${path}`, written: path })),
    config: browser,
    root,
    host,
    name: "auth-US-001",
  });
  return await check.run!({ cwd: root, item: null, base: null, signal: new AbortController().signal });
}

describe("browserCheck()", () => {
  test(
    "passes a page without a flaw, and saves a picture of it that git does not see",
    needs("chromium"),
    async () => {
      await using folder = await temporaryDirectory("browser");
      await using server = await pages();

      const { ok, tail } = await look(["/"], folder.path, server.origin);

      expect(tail).toBe(`${server.origin}/: HTTP 200 (.ralph/screenshots/auth-US-001-index.png)`);
      expect(ok).toBe(true);
      const picture = await readFile(join(folder.path, ".ralph/screenshots/auth-US-001-index.png"));
      expect(picture.subarray(1, 4).toString()).toBe("PNG");
      expect(await readFile(join(folder.path, ".ralph/screenshots/.gitignore"), "utf8")).toBe("*\n");
    },
  );

  test(
    "tells every flaw with its page: status, console, exceptions at once and late, requests, banners",
    needs("chromium"),
    async () => {
      await using folder = await temporaryDirectory("browser");
      await using server = await pages();
      const paths = ["/broken", "/console", "/throws", "/late", "/missing-script", "/refused", "/banner", "/alert"];

      const { ok, tail } = await look(paths, folder.path, server.origin);

      expect(ok).toBe(false);
      const found = Object.fromEntries(
        tail.split(/^(?=http)/m).map((part) => {
          const [first = "", ...problems] = part.trim().split("\n");
          return [
            new URL(first.split(": ")[0] ?? "").pathname,
            problems.map((problem) => problem.trim()).filter((line) => !line.startsWith("at ")),
          ];
        }),
      );
      expect(found).toEqual({
        "/broken": ["the page answers HTTP 500"],
        "/console": ["console error: it went wrong 42"],
        "/throws": ["uncaught exception: Error: boom"],
        "/late": ["uncaught exception: Error: late boom"],
        "/missing-script": [`request failed: HTTP 404 GET ${server.origin}/nowhere.js`],
        "/refused": [expect.stringMatching(/^request failed: net::ERR_\w+ GET http:\/\/127\.0\.0\.1:1\/x$/)],
        "/banner": ["error shown on the page: Could not save"],
        "/alert": ["error shown on the page: Something went wrong"],
      });
    },
  );

  test("a page that nobody serves is a problem, not an error", needs("chromium"), async () => {
    await using folder = await temporaryDirectory("browser");

    const { ok, tail } = await look(["/"], folder.path, "http://127.0.0.1:9");

    expect(ok).toBe(false);
    expect(tail).toMatch(/no answer.*\n\s+the page did not load: .*ERR_/);
  });

  test("a configured browser that is not there is an error that says how to get one", async () => {
    await using folder = await temporaryDirectory("browser");
    const host = createHost();
    const config = { ...browser, executablePath: "/nowhere/chrome" };
    const check = browserCheck({
      pages: [{ url: "http://127.0.0.1:9/", written: "/" }],
      config,
      root: folder.path,
      host,
      name: "x",
    });

    await expect(check.run!({ cwd: folder.path, item: null, base: null, signal: new AbortController().signal }))
      .rejects.toMatchObject({ code: "browser-missing", hint: expect.stringContaining("apt-get install chromium") });
  });
});
