/** `ralph gate --status`: the verdict as a commit status, by the forge's own program. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Cli, type Project, ralphCli } from "./cli.ts";
import { standIn, withRemote } from "./finish_world.ts";

const CONFIG = `{ "verify": { "default": ["test -f done.txt"] } }`;

async function project(url?: string): Promise<Project> {
  const made = await ralphCli().files({ "ralph.config.json": CONFIG }).args("--version").expectExit(0);
  if (url !== undefined) withRemote(made, url);
  made.git("switch", "-qc", "work");
  return made;
}

function gate(root: string, ...args: string[]): Cli {
  return ralphCli(root).env({ PATH: `${root}-bin:${process.env["PATH"]}` })
    .args("gate", "--base", "main", "--status", ...args);
}

test.each([
  ["gh", "git@github.com:o/p.git", "github.com", "repos/o/p", "failure"],
  ["glab", "https://gitlab.example.com/g/sub/p", "gitlab.example.com", "projects/g%2Fsub%2Fp", "failed"],
])("%s is told the verdict on the judged commit", async (program, url, host, path, failed) => {
  const { root, git } = await project(url);
  const noted = standIn(root, program, "exit 0");
  const told = (): readonly string[] => readFileSync(noted, "utf8").trim().split("\n");

  const red = await gate(root).expectExit(1);
  expect(red.stderr).toContain(`status \`ralph\` of ${git("rev-parse", "HEAD").slice(0, 12)}: ${failed}`);
  expect(told()).toEqual([
    "api",
    `${path}/statuses/${git("rev-parse", "HEAD")}`,
    "--method=POST",
    `--hostname=${host}`,
    `--raw-field=state=${failed}`,
    "--raw-field=context=ralph",
    expect.stringMatching(/^--raw-field=description=test -f done\.txt: exit 1/),
  ]);

  writeFileSync(join(root, "done.txt"), "");
  git("add", "-A");
  git("commit", "-qm", "done");
  const { stdout } = await gate(root, "--json").expectExit(0);
  expect(JSON.parse(stdout)).toMatchObject({ status: "passed" });
  expect(told()).toContain("--raw-field=state=success");
  expect(told()[1]).toBe(`${path}/statuses/${git("rev-parse", "HEAD")}`);
});

test("a status that cannot be set is said, and changes no verdict", async () => {
  const { root } = await project("git@github.com:o/p.git");
  standIn(root, "gh", '[ "$1" = --version ] || { echo "HTTP 422: No commit found" >&2; exit 1; }');
  expect((await gate(root).expectExit(1)).stderr).toContain("no status was set: gh: HTTP 422: No commit found");
  const uncommitted = await gate(root).dirty({ "done.txt": "" }).expectExit(0);
  expect(uncommitted.stderr).toContain("no status was set: the judged work is on no branch");

  const alone = await project();
  expect((await gate(alone.root).expectExit(1)).stderr).toContain("no status was set: no remote is at a forge");
});
