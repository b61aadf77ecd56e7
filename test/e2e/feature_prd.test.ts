import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { localDate } from "../../lib/host/local_date.ts";
import { hashText } from "../../lib/host/files.ts";
import { type Cli, CONSENT, ralphCli } from "./cli.ts";
import { prd, PRD_FILE, story } from "./feature_project.ts";

const DAY = localDate(Date.now());
const MARKDOWN = ".ralph/2024-01-15-auth/prd.md";
const FINAL = prd([story("US-001")]);
/** Finalizes with what stands in ../draft, or a PRD of one story. */
const AGENT = `p=$(cat); case "$p" in
*"PRD Finalization"*) printf '\`\`\`json\\n'; if [ -f ../draft ]; then cat ../draft; else echo '${
  FINAL.replaceAll("\n", "")
}'; fi; printf '\\n\`\`\`\\n';;
*"PRD Refinement"*) case "$p" in *"The user: smaller"*) echo "# Auth, smaller" > ${MARKDOWN};; *) echo "What would you like to improve?";; esac;;
*"PRD Creation"*) mkdir -p .ralph/${DAY}-auth; echo "# Auth" > .ralph/${DAY}-auth/prd.md;;
*"Final Verification"*) echo "<ralph>VERIFIED</ralph>";;
*) echo good > US-001.txt; echo "<ralph>DONE</ralph>";;
esac`;
const CONFIG = JSON.stringify({ provider: { command: "worker" }, verify: { default: ["test -d ."] } });

function project(files: Readonly<Record<string, string>> = {}): Cli {
  return ralphCli().files({ "ralph.config.json": CONFIG, ...files }).agent("worker", AGENT);
}

function answers(prompts: object): Readonly<Record<string, string>> {
  return { "answers.json": JSON.stringify({ prompts }) };
}

describe("ralph prd FEATURE", () => {
  test("`ralph plan FEATURE` does the same in this workflow", async () => {
    const { stderr } = await project(answers({ "prd.finalize": "no" }))
      .args("plan", "auth", "--workflow", "feature", "--answers", "answers.json").expectExit(0);

    expect(stderr).toContain(`Saved to .ralph/${DAY}-auth/prd.md`);
  });

  test("new: written by the agent, not finalized yet; the next call offers to", async () => {
    const first = await project(answers({ "prd.finalize": "no" })).args("prd", "auth", "--answers", "answers.json")
      .expectExit(0);

    expect(first.stderr).toContain('Starting PRD for "auth"...');
    expect(first.stderr).toContain(`Saved to .ralph/${DAY}-auth/prd.md`);
    expect(first.stderr).toContain("Run 'ralph prd auth' to continue");
    expect(first.read(`.ralph/${DAY}-auth/prd.json`)).toBeNull();

    const second = await ralphCli(first.root).dirty(answers({ "prd.action": "finalize" })).args(
      "prd",
      "AUTH",
      "--answers",
      "answers.json",
    ).expectExit(0);
    const text = second.read(`.ralph/${DAY}-auth/prd.json`) ?? "";
    expect(JSON.parse(text)).toMatchObject({
      prdSha256: hashText("# Auth\n"),
      userStories: [{ id: "US-001", passes: false }],
    });
    expect(second.stderr).toContain("Ready! Run 'ralph run auth'");
    expect(second.git("log", "-1", "--format=%s|%b")).toBe("chore: update prd.json|ralph: auth finalized");
    expect(second.git("show", "--name-only", "--format=", "HEAD").split("\n")).toEqual([
      ".ralph/.gitignore",
      `.ralph/${DAY}-auth/prd.json`,
      `.ralph/${DAY}-auth/prd.md`,
    ]);
  });

  test.each([["--non-interactive"], ["--ui", "plain"]])(
    "a finalized PRD is never run because nobody chose (%s)",
    async (...flags) => {
      const files = { [PRD_FILE]: FINAL, ".ralph/2024-01-15-auth/prd.md": "# Auth\n" };
      const { stderr, git } = await project(files).stdin("").args("prd", "auth", ...flags).expectExit(3);

      expect(stderr).toContain("prd.action");
      expect(stderr).not.toContain("run: feature");
      expect(git("branch", "--format=%(refname:short)")).toBe("main");
    },
  );

  test("a check whose program is not installed ends a new PRD before the agent is paid for", async () => {
    const config = { provider: { command: "worker" }, verify: { default: ["no-such-runner --all"] } };
    const { stderr, read } = await project({ "ralph.config.json": JSON.stringify(config) })
      .agent("worker", "touch ../paid")
      .args("prd", "auth", "--ui", "plain").expectExit(3);

    expect(stderr).toContain("no-such-runner --all cannot run: no-such-runner was not found");
    expect(read("../paid")).toBeNull();
  });

  test("the letters of the menu are its answers", async () => {
    const files = { [PRD_FILE]: FINAL, ".ralph/2024-01-15-auth/prd.md": "# Auth\n" };
    const { stderr } = await project(files).stdin("E\n").args("prd", "auth", "--ui", "plain").expectExit(0);

    expect(stderr).toContain("run: feature");
  });

  test("a draft: the menu has three ways on, and A) keeps refining, turn by turn", async () => {
    const prompts = { "prd.action": "refine", "prd.finalize": "yes" };
    const given = {
      "answers.json": JSON.stringify({ questions: [{ match: "like to improve", answer: "smaller" }], prompts }),
    };
    const { read } = await project({ [MARKDOWN]: "# Auth\n", ...given }).args(
      "prd",
      "auth",
      "--answers",
      "answers.json",
    ).expectExit(0);

    expect(read(MARKDOWN)).toBe("# Auth, smaller\n");
    expect(JSON.parse(read(PRD_FILE) ?? "").prdSha256).toBe(hashText("# Auth, smaller\n"));
  });

  test("a draft that is not valid is fed back; after maxRetries it ends with 1 and prd.json is as it was", async () => {
    const draft = JSON.stringify({ schemaVersion: 2, project: "p", branchName: "b", userStories: [] });
    const { stderr, read } = await project({
      [MARKDOWN]: "# Auth\n",
      [PRD_FILE]: FINAL,
      ...answers({ "prd.action": "finalize" }),
    })
      .before(`printf '%s' '${draft}' > ../draft`).args("prd", "auth", "--answers", "answers.json").expectExit(1);

    expect(stderr.match(/the draft of prd.json is not valid/g)).toHaveLength(3);
    expect(stderr).toContain("userStories must have at least one story");
    expect(read(PRD_FILE)).toBe(FINAL);
  });

  test("updating keeps the state of stories with the same id and criteria, and nothing of what the agent says of it", async () => {
    const before = prd([
      story("US-001", { passes: true, retries: 1, lastResult: { completedAt: "x", commit: "abc", summary: "s" } }),
      story("US-002", { passes: true }),
    ], { run: { startedAt: "s", currentStoryId: null, learnings: ["l"], verifiedAt: "v" } });
    const draft = prd([
      story("US-001", { retries: 7, title: "better" }),
      story("US-002", { passes: true, acceptanceCriteria: ["another"] }),
    ]);
    const { read } = await project({
      [MARKDOWN]: "# Auth\n",
      [PRD_FILE]: before,
      ...answers({ "prd.action": "finalize" }),
    })
      .before(`cat > ../draft <<'END'\n${draft}END\n`).args("prd", "auth", "--answers", "answers.json").expectExit(0);

    const now = JSON.parse(read(PRD_FILE) ?? "");
    expect(now.userStories).toMatchObject([
      { title: "better", passes: true, retries: 1, lastResult: { commit: "abc" } },
      { passes: false, retries: 0 },
    ]);
    expect(now.run).toEqual({ startedAt: "s", currentStoryId: null, learnings: ["l"] });
  });

  test("an agent that writes code while it should write a PRD is stopped, with what it wrote", async () => {
    const { stderr, read } = await ralphCli().files({ "ralph.config.json": CONFIG, "app.js": "", ...answers({}) })
      .agent("worker", "echo code > app.js").args("prd", "auth", "--answers", "answers.json").expectExit(1);

    expect(stderr).toContain("changed while the planner was at work");
    expect(stderr).toContain("app.js");
    expect(read("app.js")).toBe("code\n");
  });

  test("finalized: C) and D) open the editor, $VISUAL before $EDITOR; a change of prd.md asks to finalize again", async () => {
    const files = { [MARKDOWN]: "# Auth\n", [PRD_FILE]: prd([story("US-001")], { prdSha256: hashText("# Auth\n") }) };
    const edited = await project({ ...files, ...answers({ "prd.action": "edit" }) }).agent(
      "my-editor",
      'echo more >> "$2"; echo "$1" > ../flag',
    )
      .env({ VISUAL: "my-editor --wait", EDITOR: "false" }).args("prd", "auth", "--answers", "answers.json").expectExit(
        0,
      );
    expect(edited.read(MARKDOWN)).toBe("# Auth\nmore\n");
    expect(readFileSync(join(edited.root, "../flag"), "utf8")).toBe("--wait\n");
    expect(edited.stderr).toContain("prd.md has changed since prd.json was made of it");

    const json = await project({ ...files, ...answers({ "prd.action": "edit-json" }) }).agent(
      "ed2",
      `sed -i 's/"schemaVersion": 2/"schemaVersion": 3/' "$1"`,
    )
      .env({ EDITOR: "ed2" }).args("prd", "auth", "--answers", "answers.json").expectExit(0);
    expect(json.stderr).toContain("invalid schemaVersion: expected 2, got 3");

    const none = await project({ ...files, ...answers({ "prd.action": "edit" }) }).env({ VISUAL: "", EDITOR: "" }).args(
      "prd",
      "auth",
      "--answers",
      "answers.json",
    ).expectExit(2);
    expect(none.stderr).toContain("no editor is configured");
    const failed = await project({ ...files, ...answers({ "prd.action": "edit" }) }).env({ VISUAL: "false" }).args(
      "prd",
      "auth",
      "--answers",
      "answers.json",
    ).expectExit(1);
    expect(failed.stderr).toContain("`false` ended with 1");
  });

  test("finalized: E) starts the execution", async () => {
    const { stderr, read } = await project({
      [MARKDOWN]: "# Auth\n",
      [PRD_FILE]: FINAL,
      ...answers({ "prd.action": "run" }),
    }).args("prd", "auth", "--answers", "answers.json").expectExit(0);

    expect(stderr).toContain("passed: 1 verified");
    expect(JSON.parse(read(PRD_FILE) ?? "").userStories[0].passes).toBe(true);
  });

  test("in a terminal the agent's own session is handed over, without --print, the prompt as its last argument", async () => {
    const session =
      `[ "$1" = --yes ] || exit 9; [ -t 0 ] && [ -t 1 ] || exit 8; case "$2" in "# PRD Creation: auth"*) ;; *) exit 7;; esac
echo "Which login?"; read answer; mkdir -p .ralph/${DAY}-auth; echo "# Auth by $answer" > .ralph/${DAY}-auth/prd.md`;
    const { read, stdout } = await ralphCli().files({
      "ralph.config.json": JSON.stringify({
        provider: { command: "claude -p", args: ["--unattended"], interactiveArgs: ["--yes"] },
        verify: { default: ["true || x"] },
      }),
    })
      .agent("claude", session).args("prd", "auth")
      .terminal([CONSENT, "y"], ["Which login?", "mail\r"], ["Ready to finalize?", "n"]).expectExit(0);

    expect(read(`.ralph/${DAY}-auth/prd.md`)).toBe("# Auth by mail\n");
    expect(stdout).toContain("Run 'ralph prd auth' to continue");
  });

  test("in a terminal the menu of a finalized PRD shows A) to E)", async () => {
    const { stdout } = await project({ [MARKDOWN]: "# Auth\n", [PRD_FILE]: FINAL }).args("prd", "auth").terminal([
      CONSENT,
      "y",
    ], [
      "E) Start execution",
      "\u0003",
    ]).expectExit(130);

    for (
      const label of [
        "PRD is ready: .ralph/2024-01-15-auth/",
        "A) Refine further",
        "B) Update prd.json",
        "C) Edit markdown",
        "D) Edit prd.json",
      ]
    ) expect(stdout).toContain(label);
  });

  test("without a terminal and without answers nothing starts; a missing answer is exit 3, the PRD kept", async () => {
    await project().args("prd", "auth").expectExit(2);
    const { read } = await project().args("prd", "auth", "--non-interactive").expectExit(0); // the default of "finalize?" is no
    expect(read(`.ralph/${DAY}-auth/prd.md`)).toBe("# Auth\n");
    await project().args("prd", "5", "--non-interactive").expectExit(2);
    await ralphCli().files({ "ralph.config.json": CONFIG }).agent("worker", "echo What is it?").args(
      "prd",
      "auth",
      "--non-interactive",
    ).expectExit(3);
  });
});
