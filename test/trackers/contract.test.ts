import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { defaultConfig } from "../../lib/config/defaults.ts";
import { createHost } from "../../lib/host/create_host.ts";
import { trackerContract } from "../../lib/testing/tracker_contract.ts";
import { type Api, askGraph, createApi } from "../../lib/trackers/api.ts";
import { beadsTracker } from "../../lib/trackers/beads.ts";
import { githubTracker } from "../../lib/trackers/github.ts";
import { linearTracker } from "../../lib/trackers/linear.ts";
import { standingOf } from "../../lib/trackers/trust.ts";
import { BD, bead } from "./bd.ts";
import { githubServer, PROJECT } from "./github_server.ts";
import { linearServer, MEMBER } from "./linear_server.ts";

const host = createHost();
const { states } = defaultConfig().tracker;
afterAll(() => host.processes[Symbol.asyncDispose]());

function apiTo(name: string): ReturnType<typeof createApi> {
  return createApi({
    host: name,
    headers: { "content-type": "application/json" },
    clock: host.clock,
    signal: new AbortController().signal,
  });
}

const github = trackerContract({
  async open() {
    const server = await githubServer();
    server.add({ number: 1 });
    server.add({ number: 2, blockedBy: [1] });
    server.add({ number: 3, labels: [] });
    const numberOf = (id: string): number => Number(id.slice(1));
    const { clock } = host;
    return {
      tracker: githubTracker({
        api: apiTo("github.com"),
        clock,
        url: server.url,
        host: "github.com",
        project: PROJECT,
        states,
      }),
      ids: ["#1", "#2", "#3"],
      comments: async (id) => server.comments.filter(({ issue }) => issue === numberOf(id)).map(({ body }) => body),
      close: async (id) =>
        void Object.assign(server.issues.get(numberOf(id))!, { state: "CLOSED", updatedAt: server.now() }),
      editAsStranger: async (id) => server.edit(numberOf(id), { body: "new" }, "stranger"),
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  },
});

const linear = trackerContract({
  async open() {
    const server = await linearServer();
    server.add("ENG-1");
    server.add("ENG-2", { blockedBy: ["ENG-1"] });
    server.add("ENG-3", { labels: [] });
    return {
      tracker: linearTracker({
        api: apiTo("linear.app"),
        url: server.url,
        host: "linear.app",
        project: "ENG",
        states: STATES,
      }),
      ids: ["ENG-1", "ENG-2", "ENG-3"],
      comments: async (id) => server.comments.filter(({ issue }) => issue === id).map(({ body }) => body),
      close: async (id) => server.close(id),
      editAsStranger: async (id) => server.edit(id, null),
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  },
});
const STATES = { working: "In Progress", review: "In Review", blocked: "Blocked" };

const beads = trackerContract({
  async open() {
    const folder = mkdtempSync(join(tmpdir(), "ralph-beads-"));
    writeFileSync(join(folder, "bd"), BD, { mode: 0o755 });
    const file = join(folder, "beads.json");
    const before = { dependencies: [{ issue_id: "bd-2", depends_on_id: "bd-1", type: "blocks" }] };
    writeFileSync(file, JSON.stringify([bead("bd-1"), bead("bd-2", before), bead("bd-3", { labels: [] })]));
    const read = (): { id: string; status: string; comments: { text: string }[] }[] =>
      JSON.parse(readFileSync(file, "utf8"));
    const { processes, environment } = host;
    const PATH = `${folder}${delimiter}${environment.variables["PATH"]}`;
    const run: typeof processes.run = (request) =>
      processes.run({ ...request, environment: { ...request.environment, PATH } });
    return {
      tracker: beadsTracker({ processes: { run }, root: folder }),
      ids: ["bd-1", "bd-2", "bd-3"],
      comments: async (id) => read().find((one) => one.id === id)!.comments.map(({ text }) => text),
      close: async (id) =>
        writeFileSync(file, JSON.stringify(read().map((one) => one.id === id ? { ...one, status: "closed" } : one))),
      [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true, force: true }),
    };
  },
});

describe.each([["github", github], ["linear", linear], ["beads", beads]] as const)(
  "the contract of a tracker: %s",
  (_name, cases) => {
    test.each(cases.map((one) => [one.name, one] as const))("%s", (_case, { run }) => run());
  },
);

test("GitHub: a label of a state is one label, however its letters are written there", async () => {
  await using server = await githubServer();
  server.add({ number: 1, labels: ["ralph", "Ralph: Working"] });
  const { url } = server;
  const options = { api: apiTo("github.com"), clock: host.clock, url, host: "github.com", project: PROJECT, states };
  const tracker = githubTracker(options);
  await tracker.state("#1", "working");
  expect(server.issues.get(1)?.labels).toEqual(["ralph", "Ralph: Working"]);
  await tracker.state("#1", "review");
  expect(server.issues.get(1)?.labels).toEqual(["ralph", "ralph: in review"]);
});

test("Linear: a guest, an integration and a member who has left are strangers; so is what a history too long hides", async () => {
  await using server = await linearServer();
  server.add("ENG-1");
  const tracker = linearTracker({
    api: apiTo("linear.app"),
    url: server.url,
    host: "linear.app",
    project: "ENG",
    states: STATES,
  });
  const standing = async (): Promise<string> => standingOf((await tracker.list({ label: "ralph", id: "ENG-1" }))[0]!);
  expect(await standing()).toBe("own");
  for (const change of [{ guest: true }, { active: false }, { app: true }]) {
    server.edit("ENG-1", { ...MEMBER, ...change });
    expect(await standing()).toBe("strange");
  }
  server.label("ENG-1", MEMBER);
  expect(await standing()).toBe("asked");
  server.edit("ENG-1", MEMBER);
  expect(await standing()).toBe("own");
  server.hidesOlder = true;
  server.history("ENG-1").length = 0;
  expect(await standing()).toBe("strange");
});

test("Linear: no state that closes an issue is set, whatever it is called", async () => {
  await using server = await linearServer();
  server.add("ENG-1");
  const closing = { working: "Done", review: "Done", blocked: "Canceled" };
  const tracker = linearTracker({
    api: apiTo("linear.app"),
    url: server.url,
    host: "linear.app",
    project: "ENG",
    states: closing,
  });
  for (const state of ["working", "review", "blocked"] as const) await tracker.state("ENG-1", state);
  expect((await tracker.list({ label: "ralph", id: "ENG-1" }))[0]?.isOpen).toBe(true);
});

test("Linear: of a long issue nothing is missed, and its limits are waited for", async () => {
  await using server = await linearServer();
  server.add("ENG-1", { blockedBy: Array.from({ length: 30 }, (_, index) => `ENG-${index + 10}`) });
  for (let number = 10; number < 40; number += 1) server.add(`ENG-${number}`, { labels: [] });
  server.edit("ENG-1", { ...MEMBER, guest: true });
  for (let count = 0; count < 30; count += 1) server.label("ENG-1", MEMBER);
  const tracker = linearTracker({
    api: apiTo("linear.app"),
    url: server.url,
    host: "linear.app",
    project: "ENG",
    states: STATES,
  });
  const [issue] = await tracker.list({ label: "ralph" });
  expect([issue?.waitsFor.length, standingOf(issue!)]).toEqual([30, "asked"]);
  expect(server.asked.splice(0)).toEqual(["issues", "issue"]);

  expect(await tracker.changed?.()).toBe(false);
  server.edit("ENG-10", MEMBER);
  expect(await tracker.changed?.()).toBe(true);
  expect((await tracker.list({ label: "ralph", since: issue!.updatedAt })).map(({ id }) => id)).toEqual([
    "ENG-1",
    "ENG-10",
  ]);
  expect(await tracker.changed?.()).toBe(false);

  server.isLimited = true;
  await expect(tracker.list({ label: "ralph" })).rejects.toMatchObject({ code: "tracker-unreachable" });
});

test.each([
  { type: "RATE_LIMITED" },
  { type: "RATE_LIMIT", code: "graphql_rate_limit" },
  { extensions: { code: "RATELIMITED" } },
])("a limit in an answer is for now: %o", async (error) => {
  const api: Api = () => Promise.resolve({ status: 200, data: { errors: [error] }, header: () => null });
  await expect(askGraph(api, "github.com", "", "", {})).rejects.toMatchObject({ code: "tracker-unreachable" });
});
