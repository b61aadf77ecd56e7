import { expect, test } from "vitest";
import { ralphCli } from "./cli.ts";
import { ACCEPT, feature, prd, PRD_FILE, story } from "./feature_project.ts";

const CRITERIA = ["verify: `exit 1`", "Verify: `test -f README.md`"];
const WARNING = 'US-001: no command is run for "verify: `exit 1`": a check has the form Verify: `command`';
const CONFIG = { verify: { default: ["test -d ."] } };

test("exec names a criterion that looks like a check and is none, before it is paid for, and by `ralph validate`", async () => {
  const one = { id: "US-001", title: "A", acceptanceCriteria: CRITERIA, priority: 1, passes: false, notes: "" };
  const { root, stderr } = await ralphCli().files({
    "README.md": "x\n",
    "scripts/ralph/prd.json": JSON.stringify({ branchName: "main", userStories: [one] }),
    "ralph.config.json": JSON.stringify(CONFIG),
  }).args("run", "--agent-cmd", "touch a; echo '<promise>COMPLETE</promise>'", "--max-iterations", "1").expectExit(0);
  expect(stderr.split(WARNING)).toHaveLength(2);
  expect(stderr.indexOf(WARNING)).toBeLessThan(stderr.indexOf("started, transcript"));

  const open = JSON.stringify({ branchName: "main", userStories: [one] });
  const validated = await ralphCli(root).dirty({ "scripts/ralph/prd.json": open }).args("validate").expectExit(0);
  expect(validated.stdout).toContain(WARNING);
});

test("feature names it as well", async () => {
  const stories = [story("US-001", { acceptanceCriteria: CRITERIA })];
  const run = await feature(`${ACCEPT} *) touch README.md; done_;;`, stories, CONFIG).args("run", "auth").expectExit(0);
  expect(run.stderr.split(WARNING)).toHaveLength(2);

  const validated = await ralphCli(run.root).dirty({ [PRD_FILE]: prd(stories) }).args("validate").expectExit(0);
  expect(validated.stdout).toContain(WARNING);
});
