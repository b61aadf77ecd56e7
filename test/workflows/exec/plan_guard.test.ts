import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { exitCodeOf } from "../../../lib/recipe/outcome.ts";
import { plan } from "../../../lib/workflows/exec/plan/plan.ts";
import { answering, contextOn, draft, envelope, replying, story, testRepository } from "./exec_context.ts";

const GOAL = "add a health endpoint";
const GOOD = envelope({ prdDraft: draft(story("US-001", 1)) });

describe("plan() guards", () => {
  test.each<[string, (root: string, git: (...arguments_: string[]) => string) => void, readonly string[]]>([
    ["a changed file", (root) => writeFileSync(join(root, "README.md"), "changed\n"), ["README.md"]],
    ["a deleted file", (root) => rmSync(join(root, "README.md")), ["README.md"]],
    [
      "a file that it committed",
      (root, git) => {
        writeFileSync(join(root, "src.ts"), "x\n");
        git("add", "src.ts");
        git("commit", "-q", "-m", "sneaky");
      },
      ["src.ts"],
    ],
    ["a file beside the folder", (root) => writeFileSync(join(root, "scripts/other.sh"), "x\n"), ["scripts/other.sh"]],
  ])("plan() fails when the planner wrote %s, and leaves it as it is", async (_name, write, paths) => {
    using repository = testRepository({ "scripts/other.sh": "true\n" });
    const agent = replying(() => {
      write(repository.root, repository.git);
      return GOOD;
    });
    await using ralph = await contextOn(repository, { agent, prompter: answering({ "plan.write-prd": "yes" }) });

    const planned = await plan(ralph, { goal: GOAL });

    expect(planned).toMatchObject({ status: "failed", reason: "trespassed" });
    expect(exitCodeOf(planned)).toBe(1);
    const messages = planned.status === "failed" ? planned.messages : [];
    expect(messages[0]).toBe(`changed while the planner was at work, by it or by you: ${paths.join(", ")}`);
    expect(ralph.seen).toContainEqual({ type: "trespass", by: "planner", paths, diff: messages[1] });
    expect(messages[1]).toContain(`b/${paths[0]}`);
    expect(repository.git("status", "--porcelain") + repository.git("log", "--format=%s")).toMatch(
      /src\.ts|README|other\.sh|sneaky/,
    );
    expect(existsSync(join(repository.root, "scripts/ralph/prd.json"))).toBe(false);
  });

  test("plan() reports what a log, a server or an editor wrote meanwhile, and continues", async () => {
    using repository = testRepository({ "notes.md": "mine\n" });
    repository.write("notes.md", "being edited\n");
    const agent = replying(() => {
      repository.write("dev.log", "GET /\n");
      repository.write("notes.md", "saved again\n");
      return GOOD;
    });
    await using ralph = await contextOn(repository, { agent, prompter: answering({ "plan.write-prd": "yes" }) });

    expect((await plan(ralph, { goal: GOAL })).status).toBe("approved");

    expect(ralph.seen).toContainEqual({
      type: "note",
      level: "warn",
      message: "changed while the planner was at work, by it or by something else, and left alone: dev.log, notes.md" +
        ` (\`git show refs/ralph/kept/${ralph.run.id}-planner:notes.md\` prints it as the run found it)`,
    });
    expect(repository.read("notes.md")).toBe("saved again\n");
  });

  test("plan() does not blame the planner for what was dirty before its turn", async () => {
    using repository = testRepository();
    repository.write("README.md", "a person's edit\n");
    repository.write("notes.txt", "a person's file\n");
    await using ralph = await contextOn(repository, {
      agent: replying(GOOD),
      prompter: answering({ "plan.write-prd": "yes" }),
    });

    expect((await plan(ralph, { goal: GOAL })).status).toBe("approved");

    expect(repository.git("status", "--porcelain")).toBe(" M README.md\n?? notes.txt");
    expect(repository.read("README.md")).toBe("a person's edit\n");
  });

  test("a planner that takes a person's uncommitted work or a branch away is named, and takes nothing", async () => {
    using repository = testRepository();
    repository.write("README.md", "a person's edit\n");
    repository.write("notes.txt", "a person's file\n");
    const other = repository.git("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "other").trim();
    repository.git("branch", "other", other);
    const agent = replying(() => {
      repository.git("stash", "-u");
      repository.git("stash", "drop");
      repository.git("branch", "-D", "other");
      return GOOD;
    });
    await using ralph = await contextOn(repository, { agent, prompter: answering({ "plan.write-prd": "yes" }) });

    expect((await plan(ralph, { goal: GOAL })).status).toBe("approved");

    expect(repository.git("status", "--porcelain")).toBe(" M README.md\n?? notes.txt");
    expect(repository.read("README.md")).toBe("a person's edit\n");
    expect(repository.read("notes.txt")).toBe("a person's file\n");
    const said = ralph.seen.flatMap((event) => event.type === "note" ? [event.message] : []).join("\n");
    expect(said).toMatch(/the planner changed or removed uncommitted work, which was restored: README\.md, notes\.txt/);
    expect(said).toMatch(/other was removed: kept as refs\/ralph\/lost\/\S+\.other/);
    expect(repository.git("for-each-ref", "refs/ralph/lost", "refs/ralph/kept").split("\n")).toHaveLength(2);
  });

  test("a planner that rewrites history is asked again, and history is as it was", async () => {
    using repository = testRepository();
    const [before] = repository.git("log", "--format=%H").split("\n");
    const agent = replying(() => {
      repository.git("commit", "--amend", "-q", "-m", "other");
      return GOOD;
    }, GOOD);
    await using ralph = await contextOn(repository, { agent, prompter: answering({ "plan.write-prd": "yes" }) });

    expect((await plan(ralph, { goal: GOAL })).status).toBe("approved");

    expect(repository.git("log", "--format=%H", "--", "README.md").trim()).toBe(before);
    expect(JSON.stringify(ralph.seen)).toContain("rewrote history");
  });

  test("plan() puts back what the planner wrote into state files, and keeps its version in the run's folder", async () => {
    using repository = testRepository({ "scripts/ralph/codebase_map.md": "# Map\n" });
    const agent = replying((request) => {
      const forged = JSON.stringify(draft(story("US-666", 1, { passes: true })));
      for (
        const [path, text] of [["prd.json", forged], ["plan_state.json", "{}"], ["codebase_map.md", "no map"], [
          "plan_transcript.md",
          "",
        ]]
      ) {
        writeFileSync(join(request.cwd, "scripts/ralph", path!), text!);
      }
      return envelope({ questions: ["a?"] });
    }, GOOD);
    await using ralph = await contextOn(repository, {
      agent,
      prompter: answering({ "a?": "x", "plan.write-prd": "<interrupt>" }),
    });

    const planned = await plan(ralph, { goal: GOAL });

    expect(planned.status).toBe("aborted");
    expect(existsSync(join(repository.root, "scripts/ralph/prd.json"))).toBe(false);
    expect(repository.read("scripts/ralph/codebase_map.md")).toBe("# Map\n");
    expect(JSON.parse(repository.read("scripts/ralph/plan_state.json"))).toMatchObject({
      goal: GOAL,
      state: "review_prd",
    });
    expect(repository.read("scripts/ralph/plan_transcript.md")).toContain("> a?");
    const folder = await ralph.run.folder("scripts/ralph/runs");
    expect(existsSync(join(folder, "plan-1-prd.json"))).toBe(true);
    const [put] = ralph.seen.filter((event) => event.type === "state-restored");
    expect(put?.type === "state-restored" ? put.paths.toSorted() : []).toEqual([
      "scripts/ralph/codebase_map.md",
      "scripts/ralph/plan_state.json",
      "scripts/ralph/plan_transcript.md",
      "scripts/ralph/prd.json",
    ]);
  });

  test("plan() lets the planner write other files below scripts/ralph/", async () => {
    using repository = testRepository();
    const agent = replying((request) => {
      writeFileSync(join(request.cwd, "scripts/ralph/plan_context.md"), "context\n");
      return GOOD;
    });
    await using ralph = await contextOn(repository, { agent, prompter: answering({ "plan.write-prd": "yes" }) });

    expect((await plan(ralph, { goal: GOAL })).status).toBe("approved");
    expect(repository.read("scripts/ralph/plan_context.md")).toBe("context\n");
  });
});
