import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ralphCli } from "./cli.ts";
import { finish, finished, PRD, standIn, withRemote } from "./finish_world.ts";

describe("the request that ralph finish makes", () => {
  test("asks gh for a pull request with criteria and checks, also a second time", async () => {
    const project = await finished();
    const { root, git } = project;
    const bare = withRemote(project, "https://github.com/ada/hello.git");
    const noted = standIn(root, "gh", "echo https://github.com/ada/hello/pull/1");

    const dry = await finish(root, "--dry-run").expectExit(0);
    expect(dry.stdout).toContain("by gh pr create");
    const review = await ralphCli(root).args("report", "--for", "review").expectExit(0);
    expect(dry.stdout).toContain(review.stdout);
    expect(review.stdout).toMatch(
      /git checkout [\da-f]{10}\nralph gate --base [\da-f]{10} --verify 'test -f hello.txt'\n/,
    );
    expect(existsSync(noted)).toBe(false);
    expect(git("ls-remote", bare)).not.toContain("ralph/hello");

    const { stderr } = await finish(root, "--approve", "finish", "--draft").expectExit(0);

    expect(stderr).toContain("pull request: https://github.com/ada/hello/pull/1");
    const asked = readFileSync(noted, "utf8");
    expect(asked).toMatch(/^pr\ncreate\n--head\nralph\/hello\n--base\nmain\n--title\ngreet whoever runs it\n--body\n/);
    expect(asked).toMatch(
      /### Changed: 1 file, \+1 -0\n\n- `hello.txt` \+1 -0\n\n### Stories \(✓ passed at [\da-f]{10}\)\n\n\*\*US-001: Write hello.txt\*\* verified \([\da-f]{10}\)\n- It greets \(no check of its own\)\n- ✓ Verify: `test -f hello.txt`\n/,
    );
    expect(asked).toMatch(/\n--draft\n$/);
    expect(git("rev-parse", "HEAD")).toBe(git("ls-remote", bare, "refs/heads/ralph/hello").split("\t")[0]);
    expect(git("rev-parse", "--abbrev-ref", "@{upstream}")).toBe("origin/ralph/hello"); // `git pull` brings a reviewer's fix
  });

  test.each([[1, "feat: write hello.txt"], [3, "feat: write hello.txt, and 2 more"]])(
    "without a goal is named after its stories, in the project's own form (%i)",
    async (count, title) => {
      const [story] = JSON.parse(PRD).userStories;
      const userStories = Array.from(
        { length: count },
        (_, index) => ({ ...story, id: `US-00${index + 1}`, priority: index }),
      );
      userStories.forEach((one, index) => one.title += index === 0 ? "" : ` again ${index}`);
      const { root, git } = await ralphCli()
        .before('for one in a b c d e; do git commit -q --allow-empty -m "fix: $one"; done')
        .dirty({ "scripts/ralph/prd.json": JSON.stringify({ branchName: "ralph/hello", userStories }) })
        .agent("worker", "cat > /dev/null; date +%N >> hello.txt; echo '<promise>COMPLETE</promise>'")
        .args("run", "--agent-cmd", "worker", "--quiet").expectExit(0);

      await finish(root, "--approve", "finish").expectExit(0);

      expect(git("log", "-1", "--format=%s", "main")).toBe(title);
    },
  );

  test("of a fork: pushes to where git pushes, and asks the base's repository", async () => {
    const project = await finished();
    const { root, git } = project;
    const bare = withRemote(project, "https://github.com/ada/hello.git");
    git("fetch", "-q", "origin");
    git("branch", "-q", "--set-upstream-to=origin/main", "main");
    const fork = `${root}-fork.git`;
    git("clone", "-q", "--bare", bare, fork);
    git("remote", "add", "fork", "git@github.com:bob/hello.git");
    git("config", `url.${fork}.insteadOf`, "git@github.com:bob/hello.git");
    git("config", "remote.pushDefault", "fork");
    const noted = standIn(root, "gh", "echo https://github.com/ada/hello/pull/1");

    await finish(root, "--approve", "finish").expectExit(0);

    expect(readFileSync(noted, "utf8")).toMatch(/^pr\ncreate\n--head\nbob:ralph\/hello\n--base\nmain\n/);
    expect(git("ls-remote", fork, "refs/heads/ralph/hello").split("\t")[0]).toBe(git("rev-parse", "HEAD"));
    expect(git("ls-remote", bare)).not.toContain("ralph/hello");
  });

  test("names where the tests of each story are, as they are in the end", async () => {
    const stories = ["US-001", "US-002"].map((id, index) => ({
      ...JSON.parse(PRD).userStories[0],
      id,
      title: `Add ${id}`,
      priority: index + 1,
    }));
    const { root } = await ralphCli()
      .files({
        "scripts/ralph/prd.json": JSON.stringify({ branchName: "ralph/tests", userStories: stories }),
        "test/all.test.js": 'const test = require("node:test");\n',
      })
      .agent(
        "worker",
        `id=$(grep -om1 'US-00[12]: ' | tr -d ': '); echo "$id" >> hello.txt
{ echo; printf 'test("%s", () => {\\n});\\n' "$id"; cat test/all.test.js; } > test/new && mv test/new test/all.test.js
echo '<promise>COMPLETE</promise>'`,
      )
      .args("run", "--agent-cmd", "worker", "--quiet").expectExit(0);

    const { stdout } = await ralphCli(root).args("report", "--for", "review").expectExit(0);

    const lines = readFileSync(join(root, "test/all.test.js"), "utf8").split("\n");
    const named = [...stdout.matchAll(/\*\*(US-00\d): [^]*?- its tests: `test\/all.test.js:(\d+)`/g)];
    expect(named.map(([, id, line]) => [id, lines[Number(line) - 1]])).toEqual([
      ["US-001", 'test("US-001", () => {'],
      ["US-002", 'test("US-002", () => {'],
    ]);
  });

  test("has no secret, as `ralph report --for review` prints it", async () => {
    const secret = { MY_SECRET_TOKEN: "zq9secretZvalue77" };
    const { root } = await ralphCli().env(secret)
      .files({ "scripts/ralph/prd.json": PRD })
      .agent("worker", `touch hello.txt "$MY_SECRET_TOKEN.txt"; echo '<promise>COMPLETE</promise>'`)
      .args("run", "--agent-cmd", "worker", "--quiet").expectExit(0);

    const { stdout } = await ralphCli(root).env(secret).args("report", "--for", "review").expectExit(0);

    expect(stdout).toContain("- `***.txt`");
    expect(stdout).not.toContain(secret.MY_SECRET_TOKEN);
  });

  test("renews the text of a request that is open, unless somebody has edited it", async () => {
    for (
      const [program, host, view, edit] of [
        ["gh", "github.com", "body", "pr\nedit\nralph/hello\n--body\n"],
        ["glab", "gitlab.com", "description", "mr\nupdate\nralph/hello\n--description\n"],
      ] as const
    ) {
      const project = await finished();
      const { root } = project;
      withRemote(project, `https://${host}/ada/hello.git`);
      const told = `${root}-bin/told.json`;
      const noted = standIn(
        root,
        program,
        `[ "$2" != view ] || { cat ${told}; exit 0; }
[ "$2" != create ] || { echo "one already exists: https://${host}/ada/hello/1" >&2; exit 1; }`,
      );
      writeFileSync(told, "no JSON");
      const edited = await finish(root, "--approve", "finish").expectExit(0);
      expect(edited.stderr).toContain(`open already: https://${host}/ada/hello/1\nits text stays`);
      const made = `${root}-bin/made.txt`;
      standIn(root, program, `[ "$1" = --version ] || cp ${noted} ${made}; echo https://${host}/ada/hello/1`);
      await finish(root, "--approve", "finish").expectExit(0);
      const [, body = ""] = /\n--(?:body|description)\n([^]* -->\n)/.exec(readFileSync(made, "utf8")) ?? [];
      standIn(
        root,
        program,
        `[ "$2" != view ] || { cat ${told}; exit 0; }
[ "$2" != create ] || { echo "one already exists: https://${host}/ada/hello/1" >&2; exit 1; }`,
      );

      writeFileSync(told, JSON.stringify({ [view]: body.replaceAll("\n", "\r\n").trimEnd() }));
      const renewed = await finish(root, "--approve", "finish").expectExit(0);
      expect(renewed.stderr).toContain(`open already, with its text renewed: https://${host}/ada/hello/1`);
      expect(readFileSync(noted, "utf8")).toContain(`${edit}### Changed: 1 file`);

      writeFileSync(told, JSON.stringify({ [view]: body.replace("It greets", "It greets everybody") }));
      const { stderr } = await finish(root, "--approve", "finish").expectExit(0);
      expect(stderr).toContain("its text stays, since it may hold a person's words");
      expect(readFileSync(noted, "utf8")).not.toContain(edit);
    }
  });

  test("asks glab for a merge request, and pushes alone where no program is there", async () => {
    const project = await finished();
    const { root } = project;
    const bare = withRemote(project, "https://gitlab.example.org/ada/hello.git");
    const noted = standIn(root, "glab", "echo https://gitlab.example.org/ada/hello/-/merge_requests/1");

    const { stderr } = await finish(root, "--approve", "finish").expectExit(0);

    expect(stderr).toContain("merge request: https://gitlab.example.org/ada/hello/-/merge_requests/1");
    expect(readFileSync(noted, "utf8")).toMatch(/^mr\ncreate\n--source-branch\nralph\/hello\n--target-branch\nmain\n/);

    project.git("remote", "set-url", "origin", bare);
    const alone = await finish(root, "--approve", "finish").expectExit(0);
    expect(alone.stderr).toContain("next: open a request from ralph/hello to main");
  });
});
