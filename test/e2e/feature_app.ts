import { createServer } from "node:net";
import type { AddressInfo } from "node:net";

/** A port that nobody listens on at this moment. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

/** A small web application: a server, its items, a unit test and an end-to-end test; the page is still to be written. */
export function webApp(port: number): Readonly<Record<string, string>> {
  return {
    "package.json": JSON.stringify({
      name: "items",
      private: true,
      type: "module",
      scripts: { test: "node --test unit.test.js", e2e: "node e2e.js", dev: "node server.js" },
    }),
    "server.js": `import { createServer } from "node:http";
import { existsSync, readFileSync } from "node:fs";
createServer(async (request, response) => {
  const { pathname } = new URL(request.url, "http://localhost");
  if (pathname === "/healthz") return response.end("ok");
  if (pathname === "/api/items" && existsSync("items.js")) {
    const { items } = await import("./items.js");
    response.setHeader("content-type", "application/json");
    return response.end(JSON.stringify(items()));
  }
  if (pathname === "/items" && existsSync("page.html")) {
    response.setHeader("content-type", "text/html; charset=utf-8");
    return response.end(readFileSync("page.html"));
  }
  response.writeHead(404);
  response.end("not found");
}).listen(${port}, "127.0.0.1", () => console.log("listening on ${port}"));
`,
    "unit.test.js": `import test from "node:test";
import assert from "node:assert";
test("items() has a name for each", async () => {
  const { items } = await import("./items.js");
  assert.deepEqual(items(), [{ name: "Milk" }, { name: "Bread" }]);
});
`,
    "e2e.js": `const response = await fetch("http://127.0.0.1:${port}/items");
const text = await response.text();
if (response.status !== 200 || !text.includes("<h1>Items</h1>")) { console.error("the page lacks its heading"); process.exit(1); }
`,
  };
}

export const ITEMS = 'export function items() {\n  return [{ name: "Milk" }, { name: "Bread" }];\n}\n';

/** The page as it should be; with a flaw it throws as soon as it has its data. */
export function page(flaw = ""): string {
  return `<!doctype html>
<meta charset="utf-8"><title>Items</title>
<style>body { font: 18px sans-serif; margin: 3em } li { padding: .3em; color: #145 }</style>
<h1>Items</h1><ul></ul>
<script>
fetch("/api/items").then((response) => response.json()).then((items) => {
  ${flaw}
  document.querySelector("ul").innerHTML = items.map(({ name }) => "<li>" + name + "</li>").join("");
});
</script>
`;
}

/** The configuration of a project with one service. */
export function appConfig(port: number, more: object = {}): string {
  return JSON.stringify({
    provider: { command: "true" },
    services: [{
      name: "dev",
      start: "npm run --silent dev",
      ready: `http://127.0.0.1:${port}/healthz`,
      readyTimeout: 20,
    }],
    verify: { default: ["npm test --silent"], ui: ["npm run --silent e2e"] },
    ...more,
  });
}

export const STORIES = [
  {
    id: "US-001",
    title: "Items",
    description: "As a shopper I want the items as data",
    acceptanceCriteria: ["items() gives Milk and Bread", "Typecheck passes"],
    tags: [],
    priority: 1,
    passes: true,
    notes: "",
  },
  {
    id: "US-002",
    title: "Items page",
    description: "As a shopper I want to see the items",
    acceptanceCriteria: ["Visit the /items page: the list shows Milk", "Verify in browser"],
    tags: ["ui"],
    priority: 2,
    passes: false,
    notes: "",
  },
];

export function prdOf(stories: readonly object[] = STORIES, more: object = {}): object {
  return {
    schemaVersion: 2,
    project: "items",
    branchName: "ralph/items",
    description: "Items",
    run: { startedAt: null, currentStoryId: null, learnings: [] },
    userStories: stories,
    ...more,
  };
}
