import { expect, test } from "vitest";
import { ralphCli } from "./cli.ts";
import { ACCEPT, feature, story } from "./feature_project.ts";

const STAYS = /working on the branch better\/name, as ralph\/\w+ is called now/;

test("exec stays on a branch that was renamed between two runs, and tells the agent its name", async () => {
  const userStories = ["US-001", "US-002"].map((id, index) => ({
    id,
    title: `Do ${id}`,
    acceptanceCriteria: [`Verify: \`test -f ${id}\``],
    priority: index + 1,
    passes: false,
    notes: "",
  }));
  const worker = "cat > ../prompt; touch US-001; [ -f ../second ] && touch US-002; echo '<promise>COMPLETE</promise>'";
  const run = ["run", "--agent-cmd", "worker"];
  const first = await ralphCli().agent("worker", worker)
    .files({ "scripts/ralph/prd.json": JSON.stringify({ branchName: "ralph/a", userStories }) })
    .args(...run, "--max-iterations", "1").expectExit(1);
  first.git("branch", "-m", "ralph/a", "better/name");

  const { git, read, stderr } = await ralphCli(first.root).dirty({ "../second": "" }).args(...run).expectExit(0);

  expect(stderr).toMatch(STAYS);
  expect(git("branch", "--format=%(refname:short)").split("\n")).toEqual(["better/name", "main"]);
  expect(read("../prompt")).toContain("on the branch `better/name`");
});

test("feature stays on it as well; another branch that is checked out is no such name", async () => {
  const agent = `${ACCEPT} *) echo good > US-001.txt; done_;;`;
  const first = await feature(agent, [story("US-001")]).args("run", "auth", "--max-iterations", "1").expectExit(1);
  first.git("branch", "-m", "ralph/auth", "better/name");

  const { git, stderr } = await ralphCli(first.root).args("run", "auth").expectExit(0);
  expect(stderr).toMatch(STAYS);
  expect(git("branch", "--show-current")).toBe("better/name");

  git("switch", "-c", "other");
  const elsewhere = await ralphCli(first.root).args("run", "auth").expectExit(0);
  expect(elsewhere.git("branch", "--show-current")).toBe("ralph/auth");
});
