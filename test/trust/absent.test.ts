import { expect, test } from "vitest";
import { type Cli, ralphCli } from "../e2e/cli.ts";

/** A story that needs `made.txt`, which the agent makes, and another file. */
function project(check: string, config: object = {}): Cli {
  const story = {
    id: "US-001",
    title: "Make it",
    acceptanceCriteria: [`Verify: \`${check}\``],
    priority: 1,
    notes: "",
  };
  return ralphCli().files({
    ".gitignore": "*.db\n",
    "ralph.config.json": JSON.stringify({ provider: { command: "worker" }, ...config }),
    "scripts/ralph/prd.json": JSON.stringify({ branchName: "main", userStories: [{ ...story, passes: false }] }),
  });
}

const WORKER = "touch made.txt; echo '<promise>COMPLETE</promise>'";

test("a file that only the tree has: said before the first turn, and at the end no turn is spent on it", async () => {
  const { stderr, root } = await project("test -f app.db && test -f made.txt").before("echo rows > app.db")
    .agent("worker", WORKER).args("run").expectExit(1);

  expect(stderr).toContain("names app.db, which git does not have: name it in `workspace.copy`");
  expect(stderr).toContain("HEAD fails the final check without what git does not have");
  expect(stderr).toMatch(/the tree has since before the run, and git has not: app\.db \(name in `workspace\.copy`/);
  expect(stderr).toContain("in 1 iteration");
  expect(root).not.toBe("");
});

test("a file that the work is to make in a folder that git does not have yet: checked in the clean checkout", async () => {
  const { stderr } = await project("grep -q a notes/made.txt").before("mkdir -p notes empty; echo mine > notes/own.txt")
    .agent("worker", "echo a > notes/made.txt; echo '<promise>COMPLETE</promise>'").args("run").expectExit(0);

  expect(stderr).toContain("passed: 1 verified");
  expect(stderr).not.toMatch(/not reproducible|git does not have/);
});

test("the same file, named by `workspace.copy`", async () => {
  const { read } = await project("test -f app.db && test -f made.txt", { workspace: { copy: ["app.db"] } })
    .before("echo rows > app.db").agent("worker", WORKER).args("run").expectExit(0);

  expect(read("app.db")).toBe("rows\n");
});

test("a submodule that a turn moved and did not commit is named, and is no person's change", async () => {
  const { stderr } = await project("test -f lib/two && test -f made.txt")
    .before(
      "set -e; git init -q ../lib; cd ../lib; git config user.name a; git config user.email a@b; " +
        "git commit -q --allow-empty -m one; cd - > /dev/null; " +
        "git -c protocol.file.allow=always submodule --quiet add ../lib lib; git commit -qm lib",
    )
    .agent(
      "worker",
      "touch made.txt lib/two; git -C lib add -A; git -C lib -c user.name=a -c user.email=a@b commit -qm two; " +
        "echo '<promise>COMPLETE</promise>'",
    )
    .args("run", "--max-iterations", "2").expectExit(1);

  expect(stderr).toContain("HEAD has not: lib (a submodule, which Ralph leaves to the turn to commit)");
  expect(stderr).not.toContain("your uncommitted changes");
});
