import { describe, expect, test } from "vitest";
import { pageUrls } from "../../lib/checks/browser/urls.ts";

const BASE = "http://localhost:3000";

/** Criterion, and the paths (or whole URLs of another origin) that it names. */
const TABLE: readonly (readonly [criterion: string, pages: readonly string[]])[] = [
  ["navigate to /dashboard", ["/dashboard"]],
  ["Visit /login and see the form", ["/login"]],
  ["go to /a/b-c_d", ["/a/b-c_d"]],
  ["Open /", ["/"]],
  ["open / and click", ["/"]],
  ["check /health-page", ["/health-page"]],
  ["Verify /about shows the team", ["/about"]],
  ["The list loads at /items", ["/items"]],
  ["Settings are accessible at /settings.", ["/settings"]],
  ["Visit the /settings page", ["/settings"]],
  ["The `/users` page lists users", ["/users"]],
  ["A page at `/`", ["/"]],
  ["On '/profile?tab=keys#top' the keys show", ["/profile?tab=keys#top"]],
  ["The dashboard (/admin/stats) shows totals", ["/admin/stats"]],
  ["Both /a and /b render", ["/a", "/b"]],
  ["**/bold** is shown", []],
  ["Visit http://localhost:3000/x.", ["/x"]],
  ["Visit localhost:3000/y, then look", ["/y"]],
  ["See http://127.0.0.1:8080/z", ["http://127.0.0.1:8080/z"]],
  ["Open https://staging.example.com/login", ["https://staging.example.com/login"]],
  ["The footer links to https://github.com/x/y", []],
  ["Typecheck passes", []],
  ["Accepts true and/or false, yes / no", []],
  ["Closing tags like </div> are kept", []],
  ["The file /src/app.ts compiles; /etc/hosts is untouched", []],
  ["POST /api/login answers with a token", []],
  ["GET /api/items", []],
  ["Visit /users/:id", []],
  ["Visit /files/*", []],
  ["Visit /posts/<slug> and /tags/{name}", []],
  ["Visit /docs/", ["/docs/"]],
  ["Visit /missing: a 404 page is shown", []],
  ["/secret answers 403", []],
  ["Unknown pages (/nope) say not found", []],
  ["Dates as 2024/01/15 and 3/4 of the width", []],
  ["./relative/path and ../up are no pages", []],
  ["ratio 1/2, km/h, ~/home", []],
  ["/logo.svg is served", []],
  ["open /index.html", ["/index.html"]],
];

describe("pageUrls()", () => {
  test.each(TABLE)("%s", (criterion, pages) => {
    expect(pageUrls([criterion], BASE).map(({ url }) => url)).toEqual(pages.map((page) => new URL(page, BASE).href));
  });

  test("each page once, in the order in which they are named", () => {
    expect(pageUrls(["/b", "/a then /b"], BASE).map(({ written }) => written)).toEqual(["/b", "/a"]);
  });

  test("without a base only whole URLs are pages", () => {
    expect(pageUrls(["Visit /a and http://localhost:1/b"], null).map(({ url }) => url)).toEqual([
      "http://localhost:1/b",
    ]);
  });
});
