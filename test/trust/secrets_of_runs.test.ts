import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { type Cli, ralphCli } from "../e2e/cli.ts";
import { printed, VARIABLES } from "./secret_lines.ts";
import { needs } from "../needs.ts";

type Lines = ReturnType<typeof printed>;

/** The project with `secrets.txt` beside it, and what runs `ralph` in it. */
function withSecrets(cli: Cli): {
  readonly root: string;
  readonly lines: Lines;
  readonly ralph: (...args: readonly string[]) => string;
} {
  const { command: [file = "", ...start], root, environment } = cli.env(VARIABLES).prepare();
  const lines = printed();
  writeFileSync(join(dirname(root), "secrets.txt"), `${lines.map(([line]) => line).join("\n")}\n`);
  const ralph = (...args: readonly string[]): string => {
    const done = spawnSync(file, [...start, ...args], { cwd: root, env: environment, encoding: "utf8" });
    return `${done.stdout}${done.stderr}`;
  };
  return { root, lines, ralph };
}

/** Lists the places in which one of the secrets is in clear, and which. */
function placesOf(lines: Lines, shown: Readonly<Record<string, string>>): readonly string[] {
  return lines.flatMap(([line, hidden]) =>
    Object.entries(shown).filter(([, text]) => text.includes(hidden)).map(([place]) => `${place}: ${line.slice(0, 40)}`)
  );
}

test("no secret that agent, check and hook print is stored or shown anywhere", () => {
  const cli = ralphCli()
    .files({
      "ralph.config.json": JSON.stringify({
        provider: { command: "worker" },
        hooks: [{ id: "print", command: "cat ../secrets.txt", isolated: false }],
      }),
      "scripts/ralph/prd.json": JSON.stringify({
        branchName: "main",
        userStories: [{
          id: "US-001",
          title: "Add a.txt",
          acceptanceCriteria: ["Verify: `cat ../secrets.txt; cat ../secrets.txt >&2; test -f a.txt`"],
          priority: 1,
          passes: false,
          notes: "",
        }],
      }),
    })
    .agent(
      "worker",
      "cat ../secrets.txt; cat ../secrets.txt >&2; if [ -f ../once ]; then touch a.txt; fi; touch ../once\n" +
        "echo '<promise>COMPLETE</promise>'",
    );
  const { root, lines, ralph } = withSecrets(cli);

  const shown = {
    run: ralph("run", "--json", "--max-iterations", "1"),
    again: ralph("run", "--verbose"),
    status: ralph("status"),
    report: ralph("report"),
    html: ralph("report", "--format", "html"),
    json: ralph("report", "--format", "json"),
    statusJson: ralph("status", "--json"),
    nextJson: ralph("next", "--json"),
    validateJson: ralph("validate", "--json"),
    verifyJson: ralph("verify", "--json"),
    verify: ralph("verify"),
    gate: ralph("gate", "--base", "HEAD~1", "--json"),
    gateHook: ralph("gate", "--base", "HEAD~1", "--hook"),
    doctor: ralph("doctor"),
    watch: ralph("watch", "--json"),
    history: spawnSync("git", ["log", "-p", "--all"], { cwd: root, encoding: "utf8" }).stdout,
    ...stored(root),
  };

  expect(shown.again).toContain("passed");
  expect(readFileSync(join(root, "scripts/ralph/prd.json"), "utf8")).toContain('"passes": true');
  expect(placesOf(lines, shown)).toEqual([]);
  expect(Object.entries(shown).some(([path, text]) => path.includes("hook-iter1-print") && text.includes("***"))).toBe(
    true,
  );
  expect(Object.keys(shown).some((path) => path.endsWith("check-1.log"))).toBe(true);
  expect(Object.keys(shown).some((path) => path.includes("journal"))).toBe(true);
  expect(Object.values(shown).filter((text) => text.includes("***")).length).toBeGreaterThan(5);
});

test("no secret that a task's turns and checks print is in the plan, its queries and its log", () => {
  const task = { t: "task", id: "t-0001", spec: "a.md", name: "Add a.txt", s: "p", priority: "high" };
  const accept = "it is there. Verify: `cat ../secrets.txt; test -f a.txt`";
  const cli = ralphCli()
    .files({
      "ralph.config.json": JSON.stringify({ workflow: "spec", provider: { command: "worker" } }),
      "ralph/specs/a.md": "# A\n\na.txt is there.\n",
      "ralph/plan.jsonl": `${JSON.stringify({ t: "spec", spec: "a.md" })}\n${JSON.stringify({ ...task, accept })}\n`,
    })
    .agent(
      "worker",
      'cat ../secrets.txt; secret=$(sed -n 1p ../secrets.txt); case "$RALPH_STAGE" in ' +
        'BUILD) if [ -f ../once ]; then touch a.txt; fi; touch ../once; ralph issue add "found $secret"; ralph task done t-0001 ;; ' +
        'VERIFY) ralph task reject t-0001 "not with $secret" ;; *) : ;; esac',
    );
  const { root, lines, ralph } = withSecrets(cli);

  const shown = {
    run: ralph("build", "--non-interactive", "--json", "--max-iterations", "4"),
    log: ralph("log"),
    logJson: ralph("log", "--json"),
    query: ralph("query"),
    tasks: ralph("query", "tasks"),
    issues: ralph("query", "issues"),
    next: ralph("query", "next"),
    status: ralph("status", "--json"),
    report: ralph("report", "--format", "json"),
    history: spawnSync("git", ["log", "-p", "--all"], { cwd: root, encoding: "utf8" }).stdout,
    ...stored(root),
  };

  expect(shown.issues + shown.log + shown.query).toContain("***");
  expect(placesOf(lines, shown)).toEqual([]);
});

test("what a run keeps is for its owner alone", needs("a POSIX system"), async () => {
  const { root } = await ralphCli()
    .files({
      "ralph.config.json": JSON.stringify({
        provider: { command: "worker" },
        verify: { default: ["echo checked && test -d ."] },
      }),
    })
    .files({ "scripts/ralph/prd.json": JSON.stringify({ branchName: "main", userStories: [STORY] }) })
    .agent("worker", "touch a.txt; echo '<promise>COMPLETE</promise>'")
    .args("run").expectExit(0);

  const runs = join(root, "scripts/ralph/runs");
  const [run = ""] = readdirSync(runs).filter((name) => /^\d/.test(name));
  const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8);
  const files = readdirSync(join(runs, run), { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  const journal = readdirSync(join(root, ".git/ralph")).find((name) => name.startsWith("journal")) ?? "";
  expect([mode(join(runs, run)), mode(join(root, ".git/ralph")), mode(join(root, ".git/ralph", journal))])
    .toEqual(["700", "700", "600"]);
  expect(files.length).toBeGreaterThan(2);
  expect([...new Set(files.map((one) => mode(join(one.parentPath, one.name))))]).toEqual(["600"]);
});

const STORY = {
  id: "US-001",
  title: `Use ${"gh"}p_IIIIabcdefghijklmnopqrstuvwxyz012345`,
  acceptanceCriteria: ["Verify: `test -f a.txt`"],
  priority: 1,
  passes: false,
  notes: "",
};

test("an event that a file's text came into is masked as well", async () => {
  const { root, stdout } = await ralphCli()
    .files({
      "ralph.config.json": JSON.stringify({
        provider: { command: "worker" },
        verify: { default: ["echo checked && test -d ."] },
      }),
    })
    .files({ "scripts/ralph/prd.json": JSON.stringify({ branchName: "main", userStories: [STORY] }) })
    .agent("worker", "touch a.txt; echo '<promise>COMPLETE</promise>'")
    .args("run", "--json").expectExit(0);

  const events = Object.entries(stored(root)).filter(([path]) => path.endsWith("events.ndjson"));
  expect(events).toHaveLength(1);
  for (const text of [stdout, ...events.map(([, found]) => found)]) {
    expect(text).toContain("Use ***");
    expect(text).not.toContain("p_IIIIabc");
  }
});

/** Every file of a project, what is in its git directory included, but git's own objects. */
function stored(root: string): Readonly<Record<string, string>> {
  const found = readdirSync(root, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  const paths = found.map((one) => join(one.parentPath, one.name)).filter((path) => !path.includes("/objects/"));
  return Object.fromEntries(paths.map((path) => [path.slice(root.length + 1), readFileSync(path, "utf8")]));
}
