import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { plainText } from "../../lib/ui/text.ts";
import { ralphCli } from "../e2e/cli.ts";
import { planText, PROJECT, THREE, TWO } from "../workflows/gsd/planning.ts";

const KEY = "sk-live-ABCDEFGH12345678";
/** As a person reads it. */
const READABLE = /sk-live-ABCDEFGH12345678/;
const STORY = { id: "US-001", title: "Add b.txt", acceptanceCriteria: ["it is there"], priority: 1 };
const PRD = { branchName: "main", userStories: [{ ...STORY, passes: false, notes: "" }] };
const SPRINT = ".claude/sprints/s";
const FEATURE = ".ralph/2024-01-15-auth/prd.json";

/** Each workflow: its files, its command, and how its agent claims to be done. */
const WORKFLOWS: Readonly<Record<string, { files: Record<string, string>; args: readonly string[]; claim: string }>> = {
  exec: {
    files: { "scripts/ralph/prd.json": JSON.stringify(PRD) },
    args: ["run"],
    claim: "echo '<promise>COMPLETE</promise>'",
  },
  feature: {
    files: { [FEATURE]: JSON.stringify({ schemaVersion: 2, project: "P", description: "d", ...PRD }) },
    args: ["run", "auth"],
    claim:
      'case "$prompt" in *"Final Verification"*) echo "<ralph>VERIFIED</ralph>";; *) echo "<ralph>DONE</ralph>";; esac',
  },
  spec: {
    files: {
      "ralph/specs/a.md": "# A\n\nb.txt is there.\n",
      "ralph/plan.jsonl": '{"t":"spec","spec":"a.md"}\n' +
        '{"t":"task","id":"t-0001","spec":"a.md","name":"Add b.txt","s":"p","accept":"it is there"}\n',
    },
    args: ["build", "--non-interactive"],
    claim: 'case "$RALPH_STAGE" in BUILD) ralph task done t-0001;; VERIFY) ralph task accept t-0001;; esac',
  },
  sprint: {
    files: { [`${SPRINT}/SPRINT.yaml`]: "workflow: ralph\ngoal: |\n  Add b.txt\n" },
    args: ["run", SPRINT],
    claim: "echo 'RALPH_COMPLETE: ok'",
  },
  gsd: {
    files: { ...PROJECT, [TWO]: planText("one.txt"), [THREE]: planText("one.txt") },
    args: ["run", "--loop"],
    claim: `echo right > one.txt; printf '%s\\n' "$prompt" | grep -o '###PLAN_COMPLETE [a-z0-9]*###' | head -1`,
  },
};

/** The files of the work tree, and the text of every object of git. */
function keptIn(root: string): Readonly<Record<string, string>> {
  const found = readdirSync(root, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  const paths = found.map((one) => join(one.parentPath, one.name).slice(root.length + 1));
  const texts = paths.filter((path) => !path.startsWith(".git/"))
    .map((path) => [path, readFileSync(join(root, path), "utf8")] as const);
  const objects = execFileSync("git", ["cat-file", "--batch-all-objects", "--batch"], { cwd: root, encoding: "utf8" });
  return { ...Object.fromEntries(texts), "git's objects": objects };
}

function readable(text: string): string {
  return plainText(text.replaceAll(/\\u([\da-f]{4})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16))));
}

function placesOf(texts: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(texts).filter(([, text]) => READABLE.test(readable(text)))
    .map(([place]) => place);
}

describe("a secret in a check's command is in no file and no commit", () => {
  test.each(Object.entries(WORKFLOWS))("%s", (name, { files, args, claim }) => {
    const cli = ralphCli()
      .files({
        "ralph.config.json": JSON.stringify({
          ...name === "spec" ? { workflow: "spec" } : {},
          provider: { command: "worker" },
          verify: { default: ["test -d ."] },
        }),
        ...files,
      })
      .agent("worker", `prompt=$(cat); if [ -f ../once ]; then touch b.txt; fi; touch ../once; ${claim}`)
      .env({ MY_API_KEY: KEY });
    const { command: [file = "", ...start], root, environment } = cli.prepare();
    const ralph = (...line: readonly string[]): string => {
      const done = spawnSync(file, [...start, ...line], { cwd: root, env: environment, encoding: "utf8" });
      return `${done.stdout}${done.stderr}`;
    };

    const shown = { run: "", report: "", html: "", json: "" };
    if (name === "sprint") ralph("plan", SPRINT);
    const run = (): string => ralph(...args, "--verify", `test -f b.txt # ${KEY}`);
    shown.run = run() + (name === "gsd" ? run() : ""); // a plan that fails as a whole stops the loop
    shown.report = ralph("report");
    shown.html = ralph("report", "--format", "html");
    shown.json = ralph("report", "--format", "json");

    expect(shown.run).toContain("test -f b.txt # ***");
    expect(readdirSync(root)).toContain("b.txt");
    const kept = keptIn(root);
    expect(Object.values(kept).join("\n")).toContain("# ***");
    expect(placesOf({ ...shown, ...kept })).toEqual([]);
  });
});

/** A check's script prints the key with this in its middle. */
const SPLITS: Readonly<Record<string, string>> = {
  "a colour of grep": 'echo "error: k=$MY_API_KEY" | grep --color=always sk-live; exit 1',
  "NUL": `printf 'error: k=%s\\000%s\\n' "\${MY_API_KEY%????????????}" "\${MY_API_KEY#????????????}"; exit 1`,
  "no width":
    `printf 'error: k=%s\\342\\200\\213%s\\n' "\${MY_API_KEY%????????????}" "\${MY_API_KEY#????????????}"; exit 1`,
};

describe("a secret that something invisible splits is nowhere to be read", () => {
  test.each(Object.entries(SPLITS))("%s", (_split, script) => {
    const cli = ralphCli()
      .files({
        "ralph.config.json": JSON.stringify({
          provider: { command: "worker" },
          verify: { default: ["sh check.sh"] },
        }),
        "check.sh": `${script}\n`,
        "scripts/ralph/prd.json": JSON.stringify(PRD),
      })
      .agent("worker", "touch b.txt; sh check.sh; echo '<promise>COMPLETE</promise>'")
      .env({ MY_API_KEY: KEY });
    const { command: [file = "", ...start], root, environment } = cli.prepare();
    const ralph = (...line: readonly string[]): string => {
      const done = spawnSync(file, [...start, ...line], { cwd: root, env: environment, encoding: "utf8" });
      return `${done.stdout}${done.stderr}`;
    };

    const shown = {
      run: ralph("run", "--max-iterations", "2", "--verbose"),
      report: ralph("report"),
      html: ralph("report", "--format", "html"),
      json: ralph("report", "--format", "json"),
    };

    expect(shown.run).toContain("k=***");
    expect(readFileSync(join(root, "scripts/ralph/prd.json"), "utf8")).toContain("***");
    expect(placesOf({ ...shown, ...keptIn(root) })).toEqual([]);
  });
});
