/** Two workers, and turns that do more than their work: nothing of it is lost with a tree, and the branch only grows. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Cli, ralphCli } from "./cli.ts";

const MAIN = `$(dirname "$(git rev-parse --path-format=absolute --git-common-dir)")`;

/** Stories of one file each; the turn at US-001 does more. */
function project(more: string): Cli {
  const userStories = ["US-001", "US-002", "US-003"].map((id) => ({
    id,
    title: `Write ${id}`,
    acceptanceCriteria: [`Verify: \`test -f ${id}.txt\``],
    priority: 1,
    passes: false,
    notes: "",
  }));
  return ralphCli().files({
    "scripts/ralph/prd.json": JSON.stringify({ branchName: "ralph/x", userStories }),
    "ralph.config.json": JSON.stringify({ verify: { baseline: false } }),
  }).agent(
    "worker",
    `id=$(grep -oE 'US-[0-9]{3}' | head -1)\necho x > $id.txt; if test $id = US-001; then ${more}; else sleep 0.5; fi\n` +
      "echo '<promise>COMPLETE</promise>'",
  ).args("run", "--agent-cmd", "worker", "--parallel", "2");
}

test("what git cannot commit is set aside before the tree goes, and named", async () => {
  const nested = "mkdir nested; git -C nested init -q; echo precious > nested/note";
  const { root, stderr } = await project(`${nested}; echo bytes > "$(printf '\\377-name')"`).expectExit(0);

  const aside = join(root, ".git/ralph/aside");
  expect(readFileSync(join(aside, "nested/note"), "utf8")).toBe("precious\n");
  const [other = ""] = readdirSync(aside).filter((name) => name !== "nested");
  expect(readFileSync(join(aside, other), "utf8")).toBe("bytes\n");
  expect(stderr).toContain("it is set aside: [ROOT]/.git/ralph/aside/nested");
});

test("packages that a story installs are there when it is checked again, and in the project's tree", async () => {
  const install = 'sleep 1; echo \'{"lockfileVersion":3,"n":2}\' > package-lock.json; mkdir node_modules/b; ' +
    "echo b > node_modules/b/i";
  const { read, stderr } = await project(install).files({
    ".gitignore": "node_modules/\n",
    "package-lock.json": '{"lockfileVersion":3}',
    "check.sh": "test ! -e US-001.txt || test -f node_modules/b/i\n",
    "ralph.config.json": JSON.stringify({
      verify: { default: ["sh check.sh"], baseline: false },
      workspace: { copy: ["node_modules"] },
    }),
  }).before("mkdir -p node_modules/a; echo 1 > node_modules/a/i").expectExit(0);

  expect(stderr).toContain("US-001 landed, checked again as it was merged");
  expect(read("node_modules/b/i")).toBe("b\n");
});

test("a folder that a turn has replaced is kept where its warning says", async () => {
  const link = "rm -r scripts; mkdir ../put; echo precious > ../put/note; ln -s ../put scripts";
  const { root, stderr } = await project(link).expectExit(3);

  const place = /what it put there is kept as (\S+\/aside\/scripts)\b/.exec(stderr)?.[1] ?? "";
  expect(place).toContain(".git/ralph/aside/scripts");
  expect(readdirSync(join(root, ".git/ralph/aside"))).toContain("scripts");
});

test.each([
  ["checkout -q main", "instead of ralph/x"],
  ["update-ref -d refs/heads/ralph/x", "rewrote history"],
])("before anything has landed, `git %s` in the project is undone, and said", async (command, said) => {
  const made = await project(`git -C "${MAIN}" ${command}`).expectExit(0);

  expect(made.stderr).toContain(said);
  expect(made.git("log", "--format=%s", "ralph/x").split("\n").filter((line) => line.startsWith("feat:"))).toHaveLength(
    3,
  );
  expect(made.git("log", "--format=%s", "main").trim()).not.toContain("feat:");
  expect(made.git("rev-list", "--count", "--max-parents=0", "ralph/x").trim()).toBe("1");
});
