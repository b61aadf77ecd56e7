import { chmodSync, readFileSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import type { Attempt, Backlog } from "../../lib/backlog/types.ts";
import { memoryBacklog } from "../../lib/mod.ts";
import type { Job } from "../../lib/machines/job.ts";
import { runLoop } from "../../lib/loop/run/run_loop.ts";
import { landResult, takeJobs, workJob } from "../../lib/machines/jobs.ts";
import { type TestContext, testContext } from "../../lib/testing/mod.ts";
import { featureFindings } from "../../lib/workflows/feature/claim.ts";
import { gsdFindings } from "../../lib/workflows/gsd/claim.ts";
import { specFindings } from "../../lib/workflows/spec/turn_claims.ts";

const TURN = { write: { "a.txt": "a" }, say: "<ralph>DONE</ralph>" };
const USAGE = {
  inputTokens: 1,
  outputTokens: 1,
  cachedTokens: null,
  reasoningTokens: null,
  costUsd: null,
  estimated: false,
};
const ENDED = {
  end: { reason: "completed" },
  usage: USAGE,
  transcript: "x",
  durationMs: 1,
  changedFiles: [],
  base: null,
  head: null,
};
const VERIFIED = {
  status: "verified",
  claim: { status: "done" },
  turn: ENDED,
  verification: { status: "passed", results: [] },
};

function backlogOf() {
  return memoryBacklog([{ id: "a", title: "write a.txt", checks: ["test -f a.txt"] }]);
}

async function taken(ralph: TestContext): Promise<Job> {
  const { jobs: [job] } = await takeJobs(ralph, backlogOf());
  expect(job).toBeDefined();
  return job as Job;
}

/** Anyone who may push below refs/ralph/ can put this there. */
async function push({ tree }: TestContext, { attempt: { id }, base }: Job, attempt: object): Promise<void> {
  const own = { subjects: [], trailers: [] };
  const result = { v: 1, attempt: { id, number: 1, ...attempt }, commit: null, own, worker: "w" };
  const message = `ralph: attempt ${id}\n\n${JSON.stringify(result)}`;
  const commit = (await tree.git("commit-tree", `${base}^{tree}`, "-p", base, "-m", message)).trim();
  await tree.git("push", "--quiet", "origin", `${commit}:refs/ralph/attempts/${id}`);
}

test("what a worker calls verified without a commit is checked like any other result", async () => {
  await using ralph = await testContext({ remote: true });
  await push(ralph, await taken(ralph), VERIFIED);

  const { landed } = await landResult(ralph, backlogOf());

  expect(landed).toMatchObject([{ item: "a", status: "open" }]);
});

test("a worker that found nothing to do is believed where the checks agree", async () => {
  await using ralph = await testContext({ files: { "a.txt": "a" }, remote: true });
  await push(ralph, await taken(ralph), VERIFIED);

  const { landed, outcome } = await landResult(ralph, backlogOf());

  expect(landed).toMatchObject([{ item: "a", status: "passed" }]);
  expect(outcome.status).toBe("passed");
});

test.each([
  ["a status that there is not", { ...VERIFIED, status: "weird" }],
  ["no turn", { status: "verified" }],
  ["a cost below 0, which would make room in the budget", {
    ...VERIFIED,
    turn: { ...ENDED, usage: { ...USAGE, costUsd: -5 } },
  }],
  ["an option of git's in the place of a commit", { ...VERIFIED, turn: { ...ENDED, base: "--output=x" } }],
])("a result with %s parks its item and breaks no landing", async (_, attempt) => {
  await using ralph = await testContext({ remote: true });
  await push(ralph, await taken(ralph), attempt);

  const { landed, outcome } = await landResult(ralph, backlogOf());

  expect(landed).toMatchObject([{ item: "a", status: "parked" }]);
  expect(outcome).toMatchObject({ status: "blocked", reasons: [expect.stringContaining("the result cannot be read")] });
});

/** A backlog whose claims hold findings, and what it was given to settle. */
function findingBacklog(settled: Attempt[]): Backlog {
  const backlog = backlogOf() as Backlog;
  return {
    ...backlog,
    findings: () => z.object({ learnings: z.array(z.string()) }),
    settle(item, attempt) {
      settled.push(attempt);
      return backlog.settle(item, attempt);
    },
  };
}

const claiming = (findings: unknown): object => ({ ...VERIFIED, claim: { status: "done", findings } });

test.each([
  ["that the backlog's schema does not take", { learnings: "rm -rf" }, findingBacklog([])],
  ["where the backlog has none", { learnings: ["a"] }, backlogOf()],
])("a result with findings %s parks its item, and says which field", async (_, findings, backlog) => {
  await using ralph = await testContext({ files: { "a.txt": "a" }, remote: true });
  const job = await taken(ralph);
  await push(ralph, job, claiming(findings));

  const { landed, outcome } = await landResult(ralph, backlog as Backlog);

  expect(landed).toMatchObject([{ item: "a", status: "parked" }]);
  const reason = new RegExp(`result of attempt ${job.attempt.id} is not used: claim\\.findings.*: .*expected`);
  expect(outcome).toMatchObject({ status: "blocked", reasons: [expect.stringMatching(reason)] });
});

test("findings that fit reach the backlog as its schema reads them", async () => {
  await using ralph = await testContext({ files: { "a.txt": "a" }, remote: true });
  await push(ralph, await taken(ralph), claiming({ learnings: ["a"], more: { __proto__: null } }));
  const settled: Attempt[] = [];

  const { landed } = await landResult(ralph, findingBacklog(settled));

  expect(landed).toMatchObject([{ item: "a", status: "passed" }]);
  expect(settled.map(({ claim }) => claim?.findings)).toEqual([{ learnings: ["a"] }]);
});

test.each(
  [
    ["feature", featureFindings, { learnings: ["a"], reset: [], reason: "" }, {
      learnings: [7],
      reset: [],
      reason: "",
    }],
    ["spec", specFindings, { claims: [{ v: 1, command: "task done", at: 1, id: "t-1" }] }, {
      claims: [{ command: "rm" }],
    }],
    ["gsd", gsdFindings, { signal: null, summaryOnly: false }, {
      signal: { kind: "NO", payload: "" },
      summaryOnly: true,
    }],
  ] as const,
)("%s reads its own findings, and no others", async (_, schema, own, other) => {
  const { "~standard": { validate } } = await schema();

  expect(await validate(JSON.parse(JSON.stringify(own)))).toEqual({ value: own });
  expect(await validate(other)).toMatchObject({ issues: expect.arrayContaining([expect.anything()]) });
});

test("a file of a person's that the job's commit has as well is not written over", async () => {
  await using ralph = await testContext({ remote: true, agent: { turns: [TURN] } });
  const { tree } = ralph;
  await tree.write({ "notes.md": "theirs" });
  await tree.git("add", "--all");
  await tree.git("commit", "--quiet", "--message", "notes");
  const job = await taken(ralph);
  await tree.git("reset", "--quiet", "--hard", "HEAD~1");
  await tree.write({ "notes.md": "mine" });

  const worked = workJob(ralph, backlogOf(), job);

  await expect(worked).rejects.toMatchObject({ code: "job-clone-unfit", message: expect.stringContaining("notes.md") });
  expect(await tree.read("notes.md")).toBe("mine");
});

test("what a clone keeps of other runs stays in it", async () => {
  await using ralph = await testContext({ remote: true });
  const { tree } = ralph;
  const other = (await tree.git("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "mine alone")).trim();
  await tree.git("update-ref", "refs/ralph/work/another-run.1", other);

  await taken(ralph);

  const url = (await tree.git("remote", "get-url", "origin")).trim();
  expect(await tree.git("-C", url, "for-each-ref", "--format=%(refname)")).toContain("refs/ralph/runs/");
  expect(await tree.git("-C", url, "rev-list", "--all")).not.toContain(other);
});

test("a clone that has worked on another backlog takes part, shares nothing of it and keeps it", async () => {
  await using ralph = await testContext({ remote: true, agent: { turns: [TURN, TURN] } });
  const other = { ...memoryBacklog([{ id: "private", title: "mine alone", checks: ["true"] }]), scope: "other" };
  expect((await runLoop(ralph, other)).status).toBe("passed");
  const { tree } = ralph;
  await tree.git("push", "--quiet", "origin", "HEAD");
  const journal = (): string => readFileSync(join(ralph.root, ".git/ralph/journal.jsonl"), "utf8");

  const job = await taken(ralph);

  const shared = await tree.git(
    "show",
    `${(await tree.git("for-each-ref", "--format=%(refname)", "refs/ralph/runs")).trim()}:journal.jsonl`,
  );
  expect(shared).toContain(job.attempt.id);
  expect(shared).not.toContain("private");
  // as where the run has been elsewhere meanwhile
  const before = journal();
  await tree.write({
    ".git/ralph/journal.jsonl": before.split("\n").filter((line) => line.includes("private")).map((line) => `${line}\n`)
      .join(""),
  });
  await tree.git("update-ref", "-d", (await tree.git("for-each-ref", "--format=%(refname)", "refs/ralph/runs")).trim());
  await ralph.journal.refresh();

  expect((await taken(ralph)).attempt.id).toBe(job.attempt.id);
  expect(journal()).toContain("private");
});

test("of two that take at once one is refused, and its clone takes part again as it is", async () => {
  await using ralph = await testContext({ remote: true });
  const { tree } = ralph;
  const url = (await tree.git("remote", "get-url", "origin")).trim();
  const hook = join(url, "hooks/pre-receive"); // another one is first, between the look and the push
  await tree.write({ [relative(ralph.root, hook)]: "#!/bin/sh\necho 'stale info' >&2; exit 1\n" });
  chmodSync(hook, 0o755);

  await expect(takeJobs(ralph, backlogOf())).rejects.toMatchObject({ code: "job-stale" });
  expect((await tree.git("for-each-ref", "refs/ralph")).trim()).toBe("");

  rmSync(hook);
  await taken(ralph);
  expect(readFileSync(join(ralph.root, ".git/ralph/journal.jsonl"), "utf8").match(/"begun"/g)).toHaveLength(1);
});

test("of two that land at once one is refused, and lands after a fetch what is still to land", async () => {
  await using ralph = await testContext({ remote: true, agent: { turns: [TURN] } });
  const { tree } = ralph;
  await workJob(ralph, backlogOf(), await taken(ralph));
  const url = (await tree.git("remote", "get-url", "origin")).trim();
  const before = (await tree.git("rev-parse", "HEAD")).trim();
  const hook = join(url, "hooks/pre-receive"); // another one is first, between the look and the push
  await tree.write({ [relative(ralph.root, hook)]: "#!/bin/sh\necho 'stale info' >&2; exit 1\n" });
  chmodSync(hook, 0o755);

  await expect(landResult(ralph, backlogOf())).rejects.toMatchObject({ code: "job-stale" });
  expect((await tree.git("rev-parse", "HEAD")).trim()).toBe(before);
  expect((await tree.git("status", "--porcelain")).trim()).toBe("");

  rmSync(hook);
  await tree.git("clone", "--quiet", url, ".git/other"); // what the other one has pushed
  const theirs = ["-C", ".git/other", "-c", "user.name=b", "-c", "user.email=b@example.com"];
  await tree.git(...theirs, "commit", "--quiet", "--allow-empty", "--message", "theirs");
  await tree.git("-C", ".git/other", "push", "--quiet", "origin", "HEAD");
  await tree.git("pull", "--quiet", "--ff-only", "origin", "main");
  const { landed, outcome } = await landResult(ralph, backlogOf());

  expect(landed).toMatchObject([{ item: "a", status: "passed" }]);
  expect(outcome.status).toBe("passed");
  const subjects = await tree.git("-C", url, "log", "--format=%s", "main");
  expect(subjects.match(/write a\.txt/g)).toHaveLength(1);
  expect(subjects).toContain("theirs");
});

test("a clone in which work on a job was killed goes back to its branch with the next one", async () => {
  await using ralph = await testContext({ remote: true, agent: { turns: [TURN] } });
  const { tree } = ralph;
  const job = await taken(ralph);
  await tree.git("checkout", "--quiet", "--detach", job.base); // as the killed call has left it
  await tree.write({ ".git/ralph/left-checkout": `${job.base} main` });

  await workJob(ralph, backlogOf(), job);

  expect((await tree.git("branch", "--show-current")).trim()).toBe("main");
});
