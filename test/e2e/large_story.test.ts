import { expect, test } from "vitest";
import { ralphCli } from "./cli.ts";

const story = (id: string, priority: number) => ({
  id,
  title: `Write ${id}`,
  acceptanceCriteria: [`Verify: \`test -d ${id}\``],
  priority,
  passes: false,
  notes: "",
});

test("a story over 600 changed lines of product is named in the last lines and in the request; tests do not count", async () => {
  const prd = { branchName: "ralph/large", userStories: [story("US-001", 1), story("US-002", 2)] };
  const ended = await ralphCli()
    .files({ "scripts/ralph/prd.json": JSON.stringify(prd) })
    .agent(
      "worker",
      `id=$(grep -o 'US-00[12]' | head -1); mkdir $id
case $id in US-001) seq 601 > $id/data.js;; *) seq 600 > $id/data.js; seq 900 > $id/data.test.js;; esac
echo '<promise>COMPLETE</promise>'`,
    )
    .args("run", "--agent-cmd", "worker", "--quiet").expectExit(0);

  expect(ended.stderr).toContain("too large  US-001 (601): more than 600 changed lines of the product");
  expect(ended.stderr).not.toContain("US-002 (");
  const review = await ralphCli(ended.root).args("report", "--for", "review").expectExit(0);
  expect(review.stdout).toContain("- too large: US-001 (601): more than 600 changed lines");
});
