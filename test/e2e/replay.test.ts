import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Cli, ralphCli } from "./cli.ts";

const PRD = JSON.stringify({
  branchName: "main",
  userStories: [{
    id: "US-001",
    title: "Write a.txt",
    acceptanceCriteria: ["Verify: `test -f a.txt`"],
    priority: 1,
    passes: false,
    notes: "",
  }],
});

function project(): Cli {
  return ralphCli().files({ "scripts/ralph/prd.json": PRD });
}

describe("record and replay", () => {
  test("a run that was recorded is played in another copy of the project, without its agent", async () => {
    const { root } = await project().agent(
      "worker",
      "cat > /dev/null; echo hi > a.txt; echo '<promise>COMPLETE</promise>'",
    )
      .args("run", "--agent-cmd", "worker", "--record", "../run.jsonl").expectExit(0);
    const cassette = join(root, "../run.jsonl");

    const { read, git, stderr } = await project().args("run", "--agent", "replay", "--cassette", cassette).expectExit(
      0,
    );

    expect(read("a.txt")).toBe("hi\n");
    expect(git("log", "--format=%s")).toContain("feat: US-001 - Write a.txt");
    expect(stderr).toContain("agent replay: completed");
  });

  test("a cassette in the project, or none to play, is refused before anything is done", async () => {
    const inside = await project().args("run", "--agent-cmd", "true", "--record", "run.jsonl").expectExit(2);
    const none = await project().args("run", "--agent", "replay").expectExit(2);

    expect(inside.stderr).toContain(
      "error: --record must be a file outside the project, or one that git ignores (got: run.jsonl)\n",
    );
    expect(none.stderr).toContain("error: --cassette must be the file that a run was recorded in (got: nothing)\n");
  });
});
