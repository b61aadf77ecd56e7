import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { ralphCli } from "../e2e/cli.ts";
import { needs } from "../needs.ts";

const PRD = JSON.stringify({
  branchName: "main",
  userStories: [{
    id: "US-001",
    title: "Add a.txt",
    acceptanceCriteria: ["Verify: `test -f a.txt`"],
    priority: 1,
    passes: false,
    notes: "",
  }],
});

test("no other user can read Ralph's own files and folders, whatever the umask is", needs("a POSIX system"), () => {
  const { command: [file = "", ...own], root, cwd, environment } = ralphCli()
    .files({ "scripts/ralph/prd.json": PRD })
    .agent("worker", "touch a.txt; echo '<promise>COMPLETE</promise>'")
    .args("run", "--agent-cmd", "worker").prepare();
  execFileSync("sh", ["-c", 'umask 000; exec "$@"', "sh", file, ...own], { cwd, env: environment, stdio: "ignore" });

  const open = (folder: string, ...but: readonly string[]): string =>
    execFileSync("find", [folder, ...but, "(", "-perm", "-040", "-o", "-perm", "-004", ")", "-print"], {
      cwd: root,
      encoding: "utf8",
    });
  expect(open(".git/ralph", "!", "-path", "*/bin/*")).toBe("");
  expect(open("../home/.cache/checkouts", "-mindepth", "1", "-maxdepth", "1")).toBe("");
});
