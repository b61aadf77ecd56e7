import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ralphCli } from "./cli.ts";

const PRD = JSON.stringify({
  branchName: "ralph/hello",
  userStories: [{
    id: "US-001",
    title: "Write hello.txt",
    acceptanceCriteria: ["It greets", "Verify: `test -f hello.txt`"],
    priority: 1,
    passes: false,
    notes: "",
  }],
});

/** A project whose one story has passed on `ralph/hello`. */
async function finished(): Promise<{ readonly root: string; readonly git: (...args: string[]) => string }> {
  const { root } = await ralphCli()
    .files({
      "scripts/ralph/prd.json": PRD,
      "scripts/ralph/plan_state.json": JSON.stringify({ goal: "greet whoever runs it" }),
    })
    .agent("worker", "cat > /dev/null; echo hello > hello.txt; git add hello.txt; git commit -qm mine")
    .args("run", "--agent-cmd", "worker", "--quiet").expectExit(0);
  const git = (...args: string[]): string => execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();
  return { root, git };
}

/** A bare repository beside it, as `origin`; `url` is what git believes it to be. */
function withRemote({ root, git }: Awaited<ReturnType<typeof finished>>, url?: string): string {
  const bare = `${root}-origin.git`;
  execFileSync("git", ["init", "-q", "--bare", "--initial-branch=main", bare]);
  git("remote", "add", "origin", url ?? bare);
  if (url !== undefined) git("config", `url.${bare}.insteadOf`, url);
  git("push", "-q", "origin", "main");
  return bare;
}

/** A program on PATH that notes its arguments and prints. */
function standIn(root: string, name: string, script: string): string {
  const bin = `${root}-bin`;
  mkdirSync(bin, { recursive: true });
  const noted = join(bin, `${name}.txt`);
  const lines = `#!/bin/sh\n[ "$1" = --version ] || for one in "$@"; do echo "$one"; done > ${noted}\n${script}\n`;
  writeFileSync(join(bin, name), lines);
  chmodSync(join(bin, name), 0o755);
  return noted;
}

function finish(root: string, ...args: string[]): ReturnType<typeof ralphCli> {
  return ralphCli(root).env({ PATH: `${root}-bin:${process.env["PATH"]}` }).args("finish", ...args);
}

describe("ralph finish", () => {
  test("without a remote merges here after a yes, and the next goal begins clean", async () => {
    const { root, git } = await finished();

    const asked = await finish(root, "--approve", "all").expectExit(3);
    expect(asked.stderr).toContain("ralph finish --approve finish");
    expect(git("log", "-1", "--format=%s", "main")).toBe("start");

    const { stderr } = await finish(root, "--approve", "finish").expectExit(0);

    expect(stderr).toContain("ralph/hello from main: 1 commit");
    expect(stderr).toContain("ralph/hello is merged into main");
    expect(git("branch", "--show-current")).toBe("main");
    expect(git("log", "-1", "--format=%s")).toBe("greet whoever runs it");
    expect(git("status", "--porcelain")).toBe("");
    expect(readFileSync(join(root, "hello.txt"), "utf8")).toBe("hello\n");
    expect(existsSync(join(root, "scripts/ralph/prd.json"))).toBe(false);
    expect(existsSync(join(root, "scripts/ralph/archive/hello/prd.json"))).toBe(true);
    expect((await finish(root, "--approve", "finish").expectExit(2)).stderr).toContain("nothing to finish");
  });

  test("asks gh for a pull request with criteria and checks, also a second time", async () => {
    const project = await finished();
    const { root, git } = project;
    const bare = withRemote(project, "https://github.com/ada/hello.git");
    const noted = standIn(root, "gh", "echo https://github.com/ada/hello/pull/1");

    const dry = await finish(root, "--dry-run").expectExit(0);
    expect(dry.stdout).toContain("by gh pr create");
    expect(existsSync(noted)).toBe(false);
    expect(git("ls-remote", bare)).not.toContain("ralph/hello");

    const { stderr } = await finish(root, "--approve", "finish", "--draft").expectExit(0);

    expect(stderr).toContain("pull request: https://github.com/ada/hello/pull/1");
    const asked = readFileSync(noted, "utf8");
    expect(asked).toMatch(/^pr\ncreate\n--head\nralph\/hello\n--base\nmain\n--title\ngreet whoever runs it\n--body\n/);
    expect(asked).toContain(
      "### US-001: Write hello.txt\n\nverified\n\n- It greets\n- Verify: `test -f hello.txt`\n- ✓",
    );
    expect(asked).toMatch(/\n--draft\n$/);
    expect(git("rev-parse", "HEAD")).toBe(git("ls-remote", bare, "refs/heads/ralph/hello").split("\t")[0]);

    standIn(
      root,
      "gh",
      'echo "a pull request already exists: https://github.com/ada/hello/pull/1" >&2; [ "$1" = --version ]',
    );
    expect((await finish(root, "--approve", "finish").expectExit(0)).stderr).toContain("open already: https://github");
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

  test("leaves all as it was where the push is refused, a merge conflicts, or the tree is dirty", async () => {
    const project = await finished();
    const { root, git } = project;
    const bare = withRemote(project);
    writeFileSync(join(bare, "hooks/pre-receive"), "#!/bin/sh\necho no pushes today >&2; exit 1\n", { mode: 0o755 });
    const refused = await finish(root, "--approve", "finish").expectExit(1);
    expect(refused.stderr).toContain("no pushes today");
    expect(git("branch", "--show-current")).toBe("ralph/hello");

    git("switch", "-q", "main");
    writeFileSync(join(root, "hello.txt"), "other\n");
    git("add", "hello.txt");
    git("commit", "-qm", "other");
    git("switch", "-q", "ralph/hello");
    git("remote", "remove", "origin");
    const before = git("rev-parse", "main");
    const conflict = await finish(root, "--approve", "finish").expectExit(1);
    expect(conflict.stderr).toContain("both have changed hello.txt");
    expect([git("branch", "--show-current"), git("rev-parse", "main")]).toEqual(["ralph/hello", before]);

    writeFileSync(join(root, "hello.txt"), "edited\n");
    expect((await finish(root, "--approve", "finish").expectExit(2)).stderr).toContain("not committed");
  });
});
