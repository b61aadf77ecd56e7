import { afterAll, beforeAll, expect, test } from "vitest";
import { execFileSync } from "node:child_process";
import { mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openRepository } from "../../lib/git/open_repository.ts";
import type { Repository } from "../../lib/git/repository.ts";
import { createHost } from "../../lib/host/create_host.ts";
import { fakeClock } from "../../lib/testing/fake_clock.ts";
import { Claims, type ClaimsOptions } from "../../lib/trackers/claims.ts";
import { gitIn, makeRepository } from "../repository.ts";

const HEARTBEAT = 1000;
const ISSUE = { id: "#1", asks: "a" };
const host = createHost();
let folder: string;
let count = 0;

beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), "ralph-claims-"))));
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await host.processes[Symbol.asyncDispose]();
});

interface Runners {
  readonly bare: string;
  runner(holder: string, change?: Partial<ClaimsOptions>): Promise<Claims & { readonly path: string }>;
}

function runners(): Runners {
  count += 1;
  const bare = join(folder, `${count}.git`);
  execFileSync("git", ["init", "--quiet", "--bare", "--initial-branch=main", bare]);
  let made = 0;
  return {
    bare,
    async runner(holder, change = {}) {
      made += 1;
      const path = join(folder, `${count}-${made}`);
      execFileSync("git", ["init", "--quiet", path]);
      const git = makeRepository(path, { files: { a: "a" } });
      git("remote", "add", "origin", bare);
      const repository = await openRepository(host, path) as Repository;
      const claims = new Claims({
        repository,
        remote: "origin",
        clock: host.clock,
        ids: host.ids,
        tracker: "github acme/shop",
        holder,
        heartbeatMs: HEARTBEAT,
        retryBlocked: false,
        onAlone: () => {},
        ...change,
      });
      expect(await claims.look()).toBe(true);
      return Object.assign(claims, { path });
    },
  };
}

test("of eight runners at once one wins, every time", async () => {
  const { runner, bare } = runners();
  const all = await Promise.all([..."abcdefgh"].map((name) => runner(name)));
  for (const id of ["#1", "#2", "#3"]) {
    const ends = await Promise.all(all.map((one) => one.hold({ id, asks: "a" })));
    expect(ends.filter((end) => end === "held")).toHaveLength(1);
    expect(ends.filter((end) => end === "theirs")).toHaveLength(7);
  }
  expect(gitIn(bare)("fsck", "--strict", "--no-dangling")).toBe("");
});

test("taken over only after it was seen unchanged for two heartbeats, by the own clock", async () => {
  const { runner } = runners();
  const clock = fakeClock();
  const [one, other] = [await runner("one", { clock }), await runner("other", { clock })];
  expect(await one.hold(ISSUE)).toBe("held");
  await other.look();
  clock.advance(2 * HEARTBEAT - 1);
  expect(await other.hold(ISSUE)).toBe("theirs");
  await one.renew(); // it lives
  await other.look();
  clock.advance(2 * HEARTBEAT - 1);
  expect(await other.hold(ISSUE)).toBe("theirs");
  clock.advance(1);
  expect(await other.hold(ISSUE)).toBe("held");
  expect(await one.hold(ISSUE)).toBe("theirs");
  expect(await one.hold(ISSUE, "passed")).toBe("theirs");
});

test("what was claimed less than a heartbeat ago is held without a push, by whichever clock says more", async () => {
  const { runner, bare } = runners();
  const clock = fakeClock();
  let asleep = 0;
  const one = await runner("one", { clock: { ...clock, now: () => clock.now() + asleep } });
  const claim = (): string => gitIn(bare)("for-each-ref", "--format=%(objectname)", "refs/ralph/claims/");
  await one.hold(ISSUE);
  const first = claim();
  clock.advance(HEARTBEAT - 1);
  expect([await one.hold(ISSUE), claim()]).toEqual(["held", first]);
  asleep = 1;
  expect(await one.hold(ISSUE)).toBe("held");
  expect(claim()).not.toBe(first);
});

test("a claim is as old as its push, not as the answer to it", async () => {
  const { runner, bare } = runners();
  const one = await runner("one");
  const hook = `printf '#!/bin/sh\nsleep 1.2\n' > hooks/post-receive; chmod +x hooks/post-receive`;
  execFileSync("sh", ["-c", hook], { cwd: bare });
  const claim = (): string => gitIn(bare)("for-each-ref", "--format=%(objectname)", "refs/ralph/claims/");
  await one.hold(ISSUE);
  const first = claim();
  expect(await one.hold(ISSUE)).toBe("held");
  expect(claim()).not.toBe(first);
});

test("a claim that moved since it was seen is not taken over, however long ago that was", async () => {
  const { runner } = runners();
  const clock = fakeClock();
  const [one, other] = [await runner("one"), await runner("other", { clock })];
  await one.hold(ISSUE);
  await other.look();
  clock.advance(10 * HEARTBEAT);
  await one.renew();
  expect(await other.hold(ISSUE)).toBe("theirs");
});

test("branch and claim move together or not at all", async () => {
  const { runner, bare } = runners();
  const clock = fakeClock();
  const [one, other] = [await runner("one"), await runner("other", { clock })];
  const remote = gitIn(bare);
  const commit = gitIn(one.path)("rev-parse", "HEAD").trim();
  await one.hold(ISSUE);
  await other.look();
  clock.advance(2 * HEARTBEAT);
  expect(await other.hold(ISSUE)).toBe("held");
  expect(await one.hold(ISSUE, "passed", { name: "ralph/one", commit })).toBe("theirs");
  expect(remote("branch", "--list")).toBe("");

  // a branch that is further than this one: the claim does not move either
  gitIn(other.path)("push", "--quiet", "origin", "HEAD:ralph/other");
  const claims = (): string => remote("for-each-ref", "--format=%(contents:body)", "refs/ralph/claims/");
  const unrelated = gitIn(other.path)("commit-tree", "HEAD^{tree}", "-m", "unrelated").trim();
  expect(await other.hold(ISSUE, "passed", { name: "ralph/other", commit: unrelated })).toBe("offline");
  expect(claims()).toContain('"working"');
});

test("a renewal that waits for its turn leaves what ended meanwhile", async () => {
  const { runner } = runners();
  const [one, other] = [await runner("one"), await runner("other")];
  const second = { id: "#2", asks: "a" };
  await one.hold(ISSUE);
  await one.hold(second);
  await Promise.all([one.renew(), one.hold(second, "passed")]);
  await other.look();
  expect([other.inTheWay(ISSUE)?.state, other.inTheWay(second)?.state]).toEqual(["working", "passed"]);
  expect(one.working().map(({ id }) => id)).toEqual(["#1"]);
});

test("passed stays passed, until the text is another one; given up is asked back by name", async () => {
  const { runner } = runners();
  const [one, other] = [await runner("one"), await runner("other")];
  const asking = await runner("asking", { retryBlocked: true });
  await one.hold(ISSUE, "passed");
  await one.hold({ id: "#2", asks: "a" }, "blocked");
  await other.look();
  await asking.look();
  expect(other.inTheWay(ISSUE)?.state).toBe("passed");
  expect(await other.hold({ id: "#2", asks: "a" })).toBe("theirs");
  expect(await asking.hold({ id: "#2", asks: "a" })).toBe("held");
  expect(await asking.hold(ISSUE)).toBe("theirs");
  expect(await other.hold({ id: "#1", asks: "b" })).toBe("held");
});

test("what is let go of is free; what is passed is kept", async () => {
  const { runner, bare } = runners();
  const [one, other] = [await runner("one"), await runner("other")];
  await one.hold(ISSUE);
  await one.hold({ id: "#2", asks: "a" }, "passed");
  await one.letGo(["#1", "#2"]);
  await one.renew();
  await other.look();
  expect(await other.hold(ISSUE)).toBe("held");
  expect(gitIn(bare)("for-each-ref", "refs/ralph/claims/").trim().split("\n")).toHaveLength(2);
});

test("a remote that is away says nothing; no remote, or no right to push, means one runner, said so", async () => {
  const { runner, bare } = runners();
  const said: string[] = [];
  const one = await runner("one", { onAlone: (why) => said.push(why) });
  gitIn(one.path)("remote", "set-url", "origin", `${bare}.away`);
  expect(await one.look()).toBe(false);
  expect(await one.hold(ISSUE)).toBe("offline");
  expect(said).toEqual([]);
  gitIn(one.path)("remote", "remove", "origin");
  expect(await one.look()).toBe(true);
  expect(await one.hold(ISSUE)).toBe("held");
  expect(said).toEqual(["there is no remote origin"]);

  const { runner: again, bare: closed } = runners();
  gitIn(closed)("config", "receive.denyNonFastForwards", "true");
  execFileSync("sh", [
    "-c",
    `printf '#!/bin/sh\\necho permission denied >&2; exit 1\\n' > hooks/pre-receive; chmod +x hooks/pre-receive`,
  ], {
    cwd: closed,
  });
  const reader = await again("reader", { onAlone: (why) => said.push(why) });
  expect(await reader.hold(ISSUE)).toBe("held");
  expect(said.at(-1)).toContain("permission denied");
});

test("a remote that is named by its address is no missing one while it is away", async () => {
  const { runner, bare } = runners();
  const said: string[] = [];
  const one = await runner("one", { remote: bare, onAlone: (why) => said.push(why) });
  renameSync(bare, `${bare}.away`);
  expect([await one.look(), await one.hold(ISSUE), said]).toEqual([false, "offline", []]);
});

test("the number of an issue is no lack of rights", async () => {
  const { runner, bare } = runners();
  const said: string[] = [];
  const one = await runner("one", { onAlone: (why) => said.push(why) });
  const hook = `printf '#!/bin/sh\nexit 1\n' > hooks/pre-receive; chmod +x hooks/pre-receive`;
  execFileSync("sh", ["-c", hook], { cwd: bare });
  expect(await one.hold({ id: "#403", asks: "a" })).toBe("offline");
  expect(said).toEqual([]);
});

test("a claim that this version cannot read belongs to someone", async () => {
  const { runner, bare } = runners();
  const one = await runner("one");
  await one.hold(ISSUE);
  const remote = gitIn(bare);
  const ref = remote("for-each-ref", "--format=%(refname)", "refs/ralph/claims/").trim();
  const strange = execFileSync("git", [
    "-c",
    "user.name=a",
    "-c",
    "user.email=a@b",
    "commit-tree",
    `${ref}^{tree}`,
    "-m",
    "x",
  ], {
    cwd: bare,
    encoding: "utf8",
  });
  remote("update-ref", ref, strange.trim());
  const other = await runner("other");
  expect(await other.hold(ISSUE)).toBe("theirs");
  expect(other.inTheWay(ISSUE)?.holder).toBe("another version of Ralph");
});
