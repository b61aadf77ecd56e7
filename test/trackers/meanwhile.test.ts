import { existsSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { gitIn } from "../repository.ts";
import { type GithubServer, githubServer, user } from "./github_server.ts";
import { linearServer } from "./linear_server.ts";
import { type Farm, farm, ralph, type Running, start, TOKEN } from "./run.ts";

const RUN = ["run", "--tracker", "github", "--ui", "plain"];
const SLOW = { TURN_SECONDS: "3" };

async function until(isSo: () => boolean, what: string, one?: Running): Promise<void> {
  for (let count = 0; count < 1600; count += 1) {
    if (isSo()) return;
    await sleep(50);
  }
  throw new Error(`never: ${what}\n${one?.out() ?? ""}`);
}

async function takenUp({ turns }: Farm, numbers: readonly number[], one: Running): Promise<void> {
  await until(
    () => readFileSync(turns, "utf8") === numbers.map((number) => `${number}\n`).join(""),
    `turns at ${numbers.join(", ")}`,
    one,
  );
}

async function turnBegins({ turns }: Farm, number: number, one: Running): Promise<void> {
  await until(
    () => existsSync(turns) && readFileSync(turns, "utf8").split("\n").includes(`${number}`),
    "its turn",
    one,
  );
}

function goOffline(server: GithubServer, { folder }: Farm): () => void {
  const [bare, away] = [join(folder, "remote.git"), join(folder, "away.git")];
  server.offline = true;
  renameSync(bare, away);
  return () => {
    server.offline = false;
    renameSync(away, bare);
  };
}

function commitsOf(place: Farm): string {
  const branches = place.remote("for-each-ref", "--format=%(refname)", "refs/heads/ralph/").trim().split("\n").filter(
    Boolean,
  );
  return branches.map((branch) => place.remote("log", "--format=%b", `main..${branch}`)).join("").replaceAll(
    /\n+/g,
    "\n",
  );
}

test("offline in the middle: the item at hand is kept and no other begins; back again it is proposed", async () => {
  await using server = await githubServer();
  using place = farm(server.url);
  server.add({ number: 1 });
  server.add({ number: 2 });
  const clone = place.clone("a");
  const one = start(place, clone, RUN, SLOW);
  await turnBegins(place, 1, one);
  const back = goOffline(server, place);
  const { code, out } = await one.end;
  expect(code, out).toBe(3);
  expect(out).toContain("work on #1 is not pushed");
  expect(gitIn(clone)("log", "-1", "--format=%s")).toBe("feat: issue 1 (#1)\n");
  const status = await ralph(place, clone, ["status", "--json", "--workflow", "trackers"]);
  expect(JSON.parse(status.out)).toMatchObject({ waiting: 1 });

  back();
  const again = await ralph(place, clone, RUN);
  expect(again.code, again.out).toBe(0);
  expect(commitsOf(place)).toBe("Closes #2\nCloses #1\n");
  expect(readFileSync(place.turns, "utf8")).toBe("1\n2\n");
  expect(server.comments.map(({ issue }) => issue)).toEqual([1, 2]);
  expect(server.issues.get(1)?.labels).toContain("ralph: in review");
}, 400_000);

test("a host that fails while an issue is taken up: the run ends as blocked, with what it has done", async () => {
  await using server = await githubServer();
  using place = farm(server.url);
  server.add({ number: 1 });
  server.add({ number: 2 });
  server.fail = (name) => server.comments.length > 0 && name === "GRAPHQL issue" ? { status: 500 } : null;
  const { code, out } = await ralph(place, place.clone("a"), RUN);
  expect(code, out).toBe(3);
  expect(out).toMatch(/✗ blocked: 1 verified in 1 iteration\n[^]*127\.0\.0\.1 cannot be reached: it answers 500/);
}, 240_000);

test("a question that was asked offline is told, and its issue left to people, when the run comes back", async () => {
  await using server = await githubServer();
  using place = farm(server.url);
  server.add({ number: 1 });
  const clone = place.clone("a");
  const end = 'grep -oE "<ralph [a-z0-9]+>" | head -1 | sed "s/$/BLOCKED: which colour?<\\/ralph>/"';
  const words = [...RUN, "--agent-cmd", `p=$(cat); echo 1 >> "$TURNS"; sleep 3; echo "$p" | ${end}`];
  const one = start(place, clone, words);
  await turnBegins(place, 1, one);
  const back = goOffline(server, place);
  const { code, out } = await one.end;
  expect(code, out).toBe(3);

  back();
  await ralph(place, clone, words);
  expect(server.comments.map(({ body }) => body).join("\n")).toContain("which colour?");
  expect(server.issues.get(1)?.labels).toContain("ralph: blocked");
  await ralph(place, place.clone("b"), words);
  expect(readFileSync(place.turns, "utf8")).toBe("1\n");
}, 240_000);

test(
  "offline until another has taken it over: kept under a ref, named, off the branch, and proposed by one",
  async () => {
    await using server = await githubServer();
    using place = farm(server.url);
    server.add({ number: 1 });
    const [clone, other] = [place.clone("a", { heartbeat: 2 }), place.clone("b", { heartbeat: 2 })];
    const one = start(place, clone, RUN, SLOW);
    await turnBegins(place, 1, one);
    const back = goOffline(server, place);
    expect((await one.end).code).toBe(3);
    back();
    const taking = start(place, other, [...RUN, "--every", "1s"]);
    await until(() => server.issues.get(1)!.labels.includes("ralph: in review"), "taken over", taking);
    const again = await ralph(place, clone, RUN);
    expect(again.out).toMatch(
      /another runner has taken over #1: .* kept under refs\/ralph\/lost\/1-\w+, and it is off the branch/,
    );
    const stopped = await ralph(place, other, ["stop"]);
    expect(stopped.code, stopped.out).toBe(0);
    expect((await taking.end).code, taking.out()).toBe(0);
    const git = gitIn(clone);
    expect(git("for-each-ref", "--format=%(contents:subject)", "refs/ralph/lost/")).toBe("feat: issue 1 (#1)\n");
    expect(git("log", "--format=%s")).not.toContain("#1");
    expect(commitsOf(place)).toBe("Closes #1\n");
    expect(server.comments.map(({ issue }) => issue)).toEqual([1]);
  },
  240_000,
);

test("stopped for longer than its lease: its work is kept and named, and another's is proposed", async () => {
  await using server = await githubServer();
  using place = farm(server.url);
  server.add({ number: 1 });
  const [clone, other] = [place.clone("a", { heartbeat: 2 }), place.clone("b", { heartbeat: 2 })];
  const one = start(place, clone, RUN, SLOW);
  await turnBegins(place, 1, one);
  process.kill(one.pid, "SIGSTOP");
  const taking = start(place, other, [...RUN, "--every", "1s"]);
  await until(() => server.issues.get(1)!.labels.includes("ralph: in review"), "taken over", taking);
  process.kill(one.pid, "SIGCONT");
  const { out } = await one.end;
  await ralph(place, other, ["stop"]);
  await taking.end;
  expect(out).toContain("another runner has taken it over: this work is not proposed");
  expect(gitIn(clone)("for-each-ref", "refs/ralph/work/")).not.toBe("");
  expect(commitsOf(place)).toBe("Closes #1\n");
  expect(server.comments.map(({ issue }) => issue)).toEqual([1]);
}, 400_000);

test("let go of by a run that was stopped: another runner ends it, and continues its comment", async () => {
  await using server = await githubServer();
  using place = farm(server.url);
  server.add({ number: 1 });
  const clone = place.clone("a");
  const one = start(place, clone, RUN, { TURN_SECONDS: "600" });
  await turnBegins(place, 1, one);
  await ralph(place, clone, ["stop", "--now"]);
  await one.end;
  const { code, out } = await ralph(place, place.clone("b"), RUN);
  expect(code, out).toBe(0);
  expect(server.comments.map(({ issue }) => issue)).toEqual([1]);
  expect(server.comments[0]?.body).toContain("Done in");
});

test.each([
  [
    "edited",
    (server: GithubServer) => server.edit(1, { body: "Something else" }, "owner"),
    "Closes #1\n",
    "its checks passed",
  ],
  [
    "closed",
    (server: GithubServer) => void Object.assign(server.issues.get(1)!, { state: "CLOSED" }),
    "",
    "it is closed",
  ],
  [
    "edited and closed",
    (server: GithubServer) => {
      server.edit(1, { body: "No longer wanted" }, "owner");
      server.issues.get(1)!.state = "CLOSED";
    },
    "",
    "it is closed",
  ],
  ["unlabelled", (server: GithubServer) => void (server.issues.get(1)!.labels = []), "", "it has not the label ralph"],
  ["given to people", (server: GithubServer) => server.label(1, "hitl", "owner"), "", "it is for people (hitl)"],
  ["transferred", (server: GithubServer) => void (server.issues.get(1)!.number = 77), "", null],
  ["deleted", (server: GithubServer) => void server.issues.delete(1), "", null],
])("an issue that is %s during its turn", async (_name, change, commits, words) => {
  await using server = await githubServer();
  using place = farm(server.url);
  server.add({ number: 1 });
  const clone = place.clone("a");
  const one = start(place, clone, RUN, SLOW);
  await turnBegins(place, 1, one);
  change(server);
  const ended = await one.end;
  expect(ended.code, ended.out).toBe(0);
  expect(commitsOf(place)).toBe(commits);
  expect(gitIn(clone)("for-each-ref", "refs/ralph/work/") !== "").toBe(commits === "");
  if (words !== null) expect(server.comments.map(({ body }) => body).join("\n")).toContain(words);
  expect(server.closed).toEqual([]);
});

test("an issue that is closed between the list and the claim is not begun: no claim, no word", async () => {
  await using server = await githubServer();
  using place = farm(server.url);
  const issue = server.add({ number: 1 });
  server.fail = (name) => {
    if (name === "GRAPHQL issue") issue.state = "CLOSED";
    return null;
  };
  const { code, out } = await ralph(place, place.clone("a"), RUN);
  expect(code, out).toBe(0);
  expect(existsSync(place.turns)).toBe(false);
  expect(place.remote("for-each-ref", "refs/ralph/claims/")).toBe("");
  expect([server.comments, issue.labels]).toEqual([[], ["ralph"]]);
});

const CHANGED = "GET /issues?state=all&sort=updated&direction=desc&per_page=1";

test("a run that keeps looking asks whether anything changed, and runs nothing until there is work", async () => {
  await using server = await githubServer();
  using place = farm(server.url);
  server.add({ number: 1 });
  const clone = place.clone("a");
  const one = start(place, clone, [...RUN, "--every", "1s"]);
  const isIdle = async (): Promise<void> => {
    const before = server.unchanged;
    await until(() => server.unchanged >= before + 2, "idle", one);
  };
  await isIdle();
  const [said, asked] = [one.out(), server.requests.length];
  server.add({ number: 9, labels: ["bug"], author: user("somebody") });
  await isIdle();
  expect(one.out()).toBe(said);
  expect(server.requests.slice(asked).filter((name) => name !== CHANGED)).toEqual(["GRAPHQL issues"]);

  server.edit(1, { body: "Something else" }, "owner");
  await takenUp(place, [1, 1], one);
  await isIdle();
  server.add({ number: 2, blockedBy: [9] });
  await isIdle();
  Object.assign(server.issues.get(9)!, { state: "CLOSED", updatedAt: server.now() });
  server.issues.get(2)!.blockedBy = [];
  await takenUp(place, [1, 1, 2], one);
  expect((await ralph(place, clone, ["stop"])).code).toBe(0);
  expect((await one.end).code, one.out()).toBe(0);
}, 240_000);

test("a run that keeps looking works on what came while the remote was away", async () => {
  await using server = await githubServer();
  using place = farm(server.url);
  server.add({ number: 1 });
  const one = start(place, place.clone("a"), [...RUN, "--every", "1s"]);
  await until(() => server.unchanged >= 1, "idle", one);
  const [bare, away] = [join(place.folder, "remote.git"), join(place.folder, "away.git")];
  renameSync(bare, away);
  const before = server.unchanged;
  server.add({ number: 2 });
  await until(() => server.unchanged >= before + 3, "looked", one);
  renameSync(away, bare);
  await takenUp(place, [1, 2], one);
  await ralph(place, join(place.folder, "a"), ["stop"]);
  expect((await one.end).code, one.out()).toBe(0);
}, 240_000);

test("a run that keeps looking works on what became ready during its turns, in Linear too", async () => {
  await using server = await linearServer();
  using place = farm("http://127.0.0.1:1");
  server.add("ENG-9", { labels: [] });
  server.add("ENG-2", { blockedBy: ["ENG-9"] });
  server.add("ENG-1");
  const clone = place.clone("a", { name: "linear", project: "ENG", url: server.url });
  const words = ["run", "--ui", "plain", "--every", "1s"];
  const one = start(place, clone, words, { LINEAR_API_KEY: TOKEN, TURN_SECONDS: "2" });
  await until(() => existsSync(place.turns), "its turn", one);
  server.close("ENG-9");
  await until(() => server.state("ENG-2") !== "Todo", "ENG-2 is taken up", one);
  await ralph(place, clone, ["stop"]);
  expect((await one.end).code, one.out()).toBe(0);
}, 240_000);

test("a run that keeps looking lets go of an issue that was closed during its turn", async () => {
  await using server = await githubServer();
  using place = farm(server.url);
  const issue = server.add({ number: 1 });
  const clone = place.clone("a");
  const one = start(place, clone, [...RUN, "--every", "1s"], { TURN_SECONDS: "2" });
  await turnBegins(place, 1, one);
  issue.state = "CLOSED";
  await until(() => server.comments.some(({ body }) => body.includes("it is closed")), "told", one);
  await until(() => server.unchanged >= 1, "idle", one);
  expect(place.remote("for-each-ref", "refs/ralph/claims/")).toBe("");
  await ralph(place, clone, ["stop"]);
  await one.end;
}, 240_000);

test.each([["is closed", 200], ["cannot be read", 500]])(
  "an issue that %s between two attempts is not called worked on any more",
  async (_name, status) => {
    await using server = await githubServer();
    using place = farm(server.url);
    const issue = server.add({ number: 1, body: "Verify: `false`" });
    server.fail = (name) => {
      if (name !== "GRAPHQL issue" || !existsSync(place.turns)) return null;
      if (status === 500) return { status };
      issue.state = "CLOSED";
      return null;
    };
    await ralph(place, place.clone("a"), RUN);
    expect(place.remote("for-each-ref", "refs/ralph/claims/")).toBe("");
    expect(issue.labels).toEqual(["ralph"]);
    expect(server.comments[0]?.body).toContain(status === 500 ? "Ralph has stopped" : "it is closed");
  },
  240_000,
);

test("a run that keeps looking takes up what another gave up, asked for again, and let go of", async () => {
  await using server = await githubServer();
  using place = farm(server.url);
  server.add({ number: 1 });
  const [clone, other] = [place.clone("a"), place.clone("b")];
  const end = 'grep -oE "<ralph [a-z0-9]+>" | head -1 | sed "s/$/BLOCKED: which?<\\/ralph>/"';
  await ralph(place, other, [...RUN, "--agent-cmd", end]);
  expect(server.issues.get(1)?.labels).toContain("ralph: blocked");
  const one = start(place, clone, [...RUN, "--every", "1s"]);
  await until(() => server.unchanged >= 1, "idle", one);
  const again = start(place, other, [...RUN, "--retry-blocked"], { TURN_SECONDS: "600" });
  await turnBegins(place, 1, again);
  await ralph(place, other, ["stop", "--now"]);
  await again.end;
  await takenUp(place, [1, 1], one);
  await ralph(place, clone, ["stop"]);
  expect((await one.end).code, one.out()).toBe(0);
}, 240_000);
