/** A real browser on the real `ralph ui`, over real runs. */
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { type Browser, chromium, type Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { findBrowser } from "../../lib/checks/browser/find_browser.ts";
import { createHost } from "../../lib/host/create_host.ts";
import { type Cli, ralphCli } from "../e2e/cli.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The faults of a page that a test looked at. */
export interface Watched {
  readonly page: Page;
  /** The console's messages, and requests that went elsewhere. */
  readonly wrong: string[];
}

let browser: Promise<Browser> | null = null;

/** One browser for a file of tests, which ends it by `closeBrowser()`. */
function theBrowser(): Promise<Browser> {
  return browser ??= launch();
}

export async function closeBrowser(): Promise<void> {
  const opened = browser;
  browser = null; // the next file's is another
  await (await opened)?.close();
}

async function launch(): Promise<Browser> {
  const host = createHost();
  const executablePath = await findBrowser("", host.environment, host.environment.cwd);
  return await chromium.launch({ executablePath, args: ["--no-sandbox"] });
}

/** A page with its own storage, on which every message and every request elsewhere is noted. */
export async function openPage(
  address: string,
  options: { readonly width?: number; readonly dark?: boolean } = {},
): Promise<Watched> {
  const context = await (await theBrowser()).newContext({
    viewport: { width: options.width ?? 1280, height: 900 },
    colorScheme: options.dark === true ? "dark" : "light",
    reducedMotion: "reduce",
  });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(150_000); // a busy machine
  const wrong: string[] = [];
  const { origin } = new URL(address);
  page.on("console", (message) => wrong.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => wrong.push(error.message));
  page.on("dialog", (dialog) => {
    wrong.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(origin) && !request.url().startsWith("data:")) wrong.push(request.url());
  });
  await page.goto(address);
  return { page, wrong };
}

/** The faults that axe finds in the page as it is. */
export async function axe(page: Page): Promise<readonly string[]> {
  await page.evaluate(AXE);
  const found = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[] }> };
    };
    const { violations } = await axe.run();
    return violations.map(({ id, nodes }) =>
      `${id}: ${nodes.map(({ html, failureSummary }) => `${html.slice(0, 200)} ${failureSummary}`).join("; ")}`
    );
  });
  return found;
}

/** Starts `ralph ui` for these roots. @returns its address, with the token */
export async function startUi(...roots: readonly string[]): Promise<string> {
  const running = ralphCli(roots[0]).args("ui", ...roots.flatMap((root) => ["--root", root])).start();
  onTestFinished(async () => {
    running.child.kill("SIGTERM");
    await running.ended(); // it writes into its folder until then
  });
  let address = "";
  running.child.stdout?.on("data", (chunk: Buffer) => address += chunk.toString());
  await running.shows(/http:\/\/127\.0\.0\.1:\d+\/\w+\//);
  return address.trim();
}

const message = (content: object, usage?: object): string =>
  JSON.stringify({
    type: "assistant",
    message: {
      id: "m",
      type: "message",
      role: "assistant",
      content: [content],
      ...(usage === undefined ? {} : { usage }),
    },
  });

/** An agent could write this to run in the page, or to look like a part of it. */
export const HOSTILE =
  `</script><script>alert("agent")</script><img src=x onerror=alert(1)><a href="javascript:alert(2)">x</a>\u001b[2J"><style>*{display:none}`;

/**
 * An agent that prints like `claude -p`: it waits for `go-N` in its Nth turn, fails the first attempt at US-002, and
 * writes markup wherever it can.
 */
const CLAUDE = `n=$(ls .. | grep -c '^prompt-'); cat > ../prompt-$n
cat <<'END'
${JSON.stringify({ type: "system", subtype: "init", session_id: "s", model: `m ${HOSTILE}` })}
${message({ type: "text", text: `I look at it first. ${HOSTILE}` })}
${message({ type: "tool_use", id: "1", name: "Bash", input: { command: `npm test ${HOSTILE}` } })}
END
touch ../at-work-$n
until test -f ../go-$n || [ $((waits = waits + 1)) -gt 1200 ]; do sleep 0.1; done
[ $n = 1 ] || echo "x ${HOSTILE.replaceAll(/["$`\\]/g, "")}" >> a.txt
cat <<'END'
${
  JSON.stringify({
    type: "result",
    subtype: "success",
    is_error: false,
    stop_reason: "end_turn",
    result: "<promise>COMPLETE</promise>",
    total_cost_usd: 0.25,
    usage: { input_tokens: 12_000, output_tokens: 345 },
  })
}
END`;

/** A project with some stories, each one line more. */
export function storyProject(count: number): Cli {
  const userStories = Array.from({ length: count }, (_, index) => ({
    id: `US-00${index + 1}`,
    title: index === 0 ? `First ${HOSTILE.replaceAll("\u001b", "")}` : `Line ${index + 1}`,
    acceptanceCriteria: [
      `It is <b>there</b>`,
      `Verify: \`test $(wc -l < a.txt) -ge ${index + 1} || { echo 'found <script>alert(3)</script>'; false; }\``,
    ],
    priority: index + 1,
    passes: false,
    notes: "",
  }));
  return ralphCli().files({
    "scripts/ralph/prd.json": JSON.stringify({ branchName: "main", userStories }),
    "ralph.config.json": JSON.stringify({ verify: { baseline: false } }),
  }).agent("claude", CLAUDE);
}

/** Four stories at once, of which the first is given up with a question; the agents work until `../home/go` is there. */
export function lanesProject(): Cli {
  const userStories = Array.from({ length: 6 }, (_, index) => ({
    id: `US-00${index + 1}`,
    title: index === 2
      ? "カップとグラムを換算する"
      : `Brüche und Bereiche werden gelesen, auch ohne Leerzeichen davor ${index}`,
    acceptanceCriteria: ["Verify: `test -f a.txt || { echo " + "no-file ".repeat(40) + "; false; }`"],
    priority: 1,
    passes: false,
    notes: "",
  }));
  const said = message({ type: "tool_use", id: "1", name: "Bash", input: { command: `npm test ${"a".repeat(300)}` } });
  return ralphCli().files({
    "scripts/ralph/prd.json": JSON.stringify({ branchName: "ralph/zutaten-parser", userStories }),
    "scripts/ralph/plan_state.json": JSON.stringify({ schemaVersion: 1, goal: GOAL, state: "done" }),
    "ralph.config.json": JSON.stringify({ verify: { baseline: false } }),
  }).agent(
    "claude",
    `case "$(cat)" in *US-001*) result="<ralph>BLOCKED: Which cup, 240 or 250 ml?</ralph>";; *)
echo '${said}'
until test -f "$HOME/go" || [ $((waits = waits + 1)) -gt 1200 ]; do sleep 0.1; done;; esac
printf '{"type":"result","subtype":"success","is_error":false,"result":"%s","total_cost_usd":1.5,"usage":{"input_tokens":9,"output_tokens":1}}' "$result"`,
  ).args("run", "--agent", "claude", "--parallel", "4");
}

/** Longer than a line of the page. */
export const GOAL = `Read lists of ingredients with fractions (½, ⅓), ranges (2–3) and units, ${
  "and more, ".repeat(9)
}`;

/** Waits until a page shows a text. */
export async function shows(page: Page, selector: string, text: string | RegExp): Promise<void> {
  try {
    await page.locator(selector).filter({ hasText: text }).first().waitFor({ timeout: 150_000 });
  } catch {
    expect(await page.locator(selector).allTextContents()).toContain(text);
  }
}
