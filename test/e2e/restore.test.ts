import { existsSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { execFileSync, spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { ARTEFACT, ralphCli } from "./cli.ts";

const STORY = { id: "US-001", title: "Add a", priority: 1, passes: false, notes: "" };
const PRD = JSON.stringify({
  branchName: "main",
  userStories: [{ ...STORY, acceptanceCriteria: ["Verify: `sh check.sh`"] }],
});
const FILES = {
  "scripts/ralph/prd.json": PRD,
  "check.sh": "test -f a\n",
  "ralph.config.json": '{ "protect": ["check.sh"] }\n',
};
/** Rewrites its check in the first turn, plants a hook, and does the work in the second. */
const WORKER =
  "if [ -f ../second ]; then touch a; else touch ../second; echo true > check.sh; echo x > .git/hooks/pre-commit; fi; echo '<promise>COMPLETE</promise>'";

describe("ralph restore", () => {
  test("brings back what the run found, but for what git would run; the run names what was changed", async () => {
    const { root, stderr } = await ralphCli().files(FILES).agent("worker", WORKER)
      .args("run", "--agent-cmd", "worker", "--no-sandbox").expectExit(0); // in a sandbox it plants no hook
    const ralph = (...args: string[]) =>
      spawnSync(ARTEFACT[0] ?? "", [...ARTEFACT.slice(1), ...args], { cwd: root, encoding: "utf8" });

    const dry = ralph("restore", "--dry-run");
    const before = readFileSync(join(root, "check.sh"), "utf8");
    const done = ralph("restore");

    expect(stderr).toContain("  restored  check.sh: changed during the run; ");
    expect([dry.status, before]).toEqual([0, "test -f a\n"]);
    expect(dry.stdout).toMatch(/^check\.sh {2}\/.*\/restored\/\d+-check\.sh\n$/);
    expect([done.status, done.stdout]).toEqual([0, "check.sh  as the run found it\n"]);
    expect(done.stderr).toMatch(
      /^left out: \.git\/hooks\/pre-commit \(`ralph restore .* \.git\/hooks\/pre-commit`\)$/m,
    );
    expect(readFileSync(join(root, "check.sh"), "utf8")).toBe("true\n");
    expect(existsSync(join(root, ".git/hooks/pre-commit"))).toBe(false);
  });

  test(
    "adds a story that a person wrote during a run to what the run has passed since; two edits of one place stay",
    async () => {
      const storyOf = (id: string, priority: number) => ({
        id,
        title: `Do ${id}`,
        acceptanceCriteria: [`Verify: \`test -f ${id}\``],
        priority,
        passes: false,
        notes: "",
      });
      const stories = [storyOf("US-001", 1), storyOf("US-002", 2)];
      const text = (userStories: readonly object[]): string =>
        `${JSON.stringify({ branchName: "main", userStories }, null, 2)}\n`;
      const added = text([...stories, storyOf("US-003", 3)]);
      const worker = (edit: string): string =>
        `prompt=$(cat); [ -f ../once ] || { touch ../once; ${edit}; }
case "$prompt" in *US-002*) touch US-002;; *) touch US-001;; esac
echo '<promise>COMPLETE</promise>'`;
      const project = (edit: string) =>
        ralphCli().files({ "scripts/ralph/prd.json": text(stories), "added.json": added }).agent("worker", worker(edit))
          .args("run", "--agent-cmd", "worker").expectExit(0);

      const { root } = await project("cp added.json scripts/ralph/prd.json");
      const restored = await ralphCli(root).args("restore").expectExit(0);
      const { userStories } = JSON.parse(restored.read("scripts/ralph/prd.json") ?? "");
      expect(restored.stdout).toBe("scripts/ralph/prd.json  with what the run found\n");
      expect(userStories.map(({ id, passes }: typeof STORY) => [id, passes])).toEqual([
        ["US-001", true],
        ["US-002", true],
        ["US-003", false],
      ]);

      const other = await project('sed -i \'s/"passes": false/"passes": null/\' scripts/ralph/prd.json');
      const left = await ralphCli(other.root).args("restore").expectExit(1);
      expect(left.stderr).toMatch(/prd\.json has changed since: left as it is; what the run found is \S+\/restored\//);
      expect(left.git("status", "--porcelain")).toBe("");
    },
    60_000,
  );

  test("leaves a link and a folder in the place of what was kept, and brings back the others", async () => {
    const { root } = await foundIn("p/a.md", "q/b.md", "r/c.md", "s/d.md");
    const change = `rm -r p s; mkdir ../out in; echo a > ../out/a.md; echo d > in/d.md; ln -s ../out p; ln -s in s
rm q/b.md; mkdir q/b.md; echo i > q/b.md/i`;
    execFileSync("sh", ["-c", change], { cwd: root });
    const left = await ralphCli(root).args("restore").expectExit(1);

    expect(left.stdout).toBe("r/c.md  as the run found it\n");
    expect(left.stderr.match(/^\S+ has changed since: left as it is; .* \S+(?=\/restored\/\d+-)/gm)).toHaveLength(3);
    expect([readlinkSync(join(root, "p")), readlinkSync(join(root, "s"))]).toEqual(["../out", "in"]);
    const texts = ["../out/a.md", "in/d.md", "q/b.md/i", "r/c.md"].map((path) => left.read(path));
    expect(texts).toEqual(["a\n", "d\n", "i\n", "c\nFOUND\n"]);
  });

  test("leaves a link in the place of a file, and a file in the place of a folder", async () => {
    const { root } = await foundIn("p/a.md", "q/b.md", "r/c.md", "s/d.md");
    const change =
      "rm -r s; ln -s s s; mv p/a.md a.md; ln -s ../a.md p/a.md; rm -r q; echo q > q; rm r/c.md; ln -s c.md r/c.md";
    execFileSync("sh", ["-c", change], { cwd: root });
    const left = await ralphCli(root).args("restore").expectExit(1);

    expect(left.stdout).toBe("");
    expect([readlinkSync(join(root, "p/a.md")), left.read("a.md"), left.read("q")]).toEqual(["../a.md", "a\n", "q\n"]);
  });

  test("writes through a link that was there when the run began, and puts a found folder back", async () => {
    const worker = "echo FOUND >> p/a.md; rm t.md; mkdir t.md; echo FOUND > t.md/i";
    const { root } = await foundBy(
      worker,
      ["in/a.md", "t.md"],
      "mkdir -p in; ln -s in p; git add .; git commit -qm p",
    );
    const done = await ralphCli(root).args("restore").expectExit(0);
    expect(readlinkSync(join(root, "p"))).toBe("in");
    expect([done.read("in/a.md"), done.read("t.md/i")]).toEqual(["a\nFOUND\n", "FOUND\n"]);
  });

  test("names each earlier copy of a path that was found changed more than once", async () => {
    const { root } = await foundBy(
      "echo FOUND >> p/a.md; test -f ../1 && echo 2 >> p/a.md; touch ../1",
      ["p/a.md"],
      "",
      2,
    );
    const dry = await ralphCli(root).args("restore", "--dry-run").expectExit(0);
    const done = await ralphCli(root).args("restore").expectExit(0);

    const earlier = /p\/a\.md {2}earlier: \S+\/restored\/001-p-a\.md\n$/;
    expect(dry.stdout).toMatch(new RegExp(`^p/a\\.md {2}\\S+/restored/002-p-a\\.md\\n${earlier.source}`));
    expect(done.stdout).toMatch(new RegExp(`^p/a\\.md {2}as the run found it\\n${earlier.source}`));
    expect(done.read("p/a.md")).toBe("a\nFOUND\n2\n");
  });
});

/** A project after a run that found FOUND added to each of these files, and restored them. */
function foundIn(...paths: readonly string[]) {
  return foundBy(paths.map((path) => `echo FOUND >> ${path}`).join("; "), paths);
}

/** The same after any other worker. */
function foundBy(worker: string, paths: readonly string[], before = "true", turns = 1) {
  const files = paths.map((path) => [path, `${/(\w)\.md$/.exec(path)?.[1]}\n`]);
  return ralphCli().files({
    ...FILES,
    "ralph.config.json": JSON.stringify({ protect: ["p/**", "q/**", "r/**", "s/**", "t.md"] }),
    ...Object.fromEntries(files),
  }).before(before).agent("worker", `cat > /dev/null; ${worker}`)
    .args("run", "--max-iterations", String(turns), "--agent-cmd", "worker", "--no-sandbox").expectExit(1);
}
