/**
 * The reference pages that are made from the program: `node tools/reference.mjs` writes them. The gate `reference` says
 * which are out of date.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { bunPath, denoPath, mustRun, ROOT } from "./runtimes.mjs";

/** Page: the program that prints it. */
const PAGES = Object.fromEntries(
  Object.entries({
    configuration: "configMarkdown",
    agents: "agentsMarkdown",
    commands: "commandsMarkdown",
    environment: "environmentMarkdown",
    errors: "errorsMarkdown",
    events: "eventsMarkdown",
    "exit-codes": "exitCodesMarkdown",
  }).map(([page, name]) => [
    `docs/reference/${page}.md`,
    `import { ${name} } from "./tools/reference_pages.ts"; console.log(await ${name}());`,
  ]),
);

/** Makes every page anew. @returns those that are not in the tree as they are made */
export async function outdatedPages({ write = false } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "ralph-reference-"));
  try {
    const outdated = [];
    for (const [page, program] of Object.entries(PAGES)) {
      const draft = join(folder, "page.md");
      writeFileSync(draft, await mustRun(bunPath(), ["-e", program], { capture: true }));
      await mustRun(denoPath(), ["fmt", "--quiet", "--config", join(ROOT, "deno.json"), draft], { capture: true });
      const [text, path] = [readFileSync(draft, "utf8"), join(ROOT, page)];
      if (existsSync(path) && readFileSync(path, "utf8") === text) continue;
      outdated.push(page);
      if (!write) continue;
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    }
    return outdated;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === import.meta.filename) {
  for (const page of await outdatedPages({ write: true })) console.log(`wrote ${page}`);
}
