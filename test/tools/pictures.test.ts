import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { livePicture, runDemo } from "../../tools/live_picture.ts";
import { ROOT } from "../../tools/runtimes.mjs";
import { needs } from "../needs.ts";

test(
  "the recording in the README is what the demo shows now; `npm run pictures` makes it again",
  needs("bubblewrap"),
  () => {
    const svg = livePicture(runDemo());

    expect(readFileSync(join(ROOT, "docs/pictures/live.svg"), "utf8")).toBe(svg);
    expect(svg).not.toMatch(/<script|href=|url\(|\/home\/|\/work\//);
    expect(svg.length).toBeLessThan(60_000);
  },
);
