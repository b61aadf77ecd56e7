/** The live view in a real terminal: what stands on the screen, and that nothing of it stays. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Cli, ralphCli } from "./cli.ts";
import { tmuxScreen } from "./tmux.ts";
import { needs } from "../needs.ts";

const WAIT = (name: string): string =>
  `until test -f ../${name} || [ $((waits = waits + 1)) -gt 1200 ]; do sleep 0.1; done`;
const LINES = [
  { type: "system", subtype: "init", session_id: "s", model: "m" },
  message({ type: "text", text: "I look at it first.\nNow \u001b[2J\u001b[31mthe\ttest 日本語" }),
  message({ type: "tool_use", id: "1", name: "Bash", input: { command: `npm test -- ${"--verbose ".repeat(20)}` } }),
];
const RESULT = {
  type: "result",
  subtype: "success",
  is_error: false,
  stop_reason: "end_turn",
  result: "<promise>COMPLETE</promise>",
  total_cost_usd: 0.25,
  usage: { input_tokens: 12_000, output_tokens: 345 },
};
/** Prints like `claude -p`, and waits in the middle until the test has looked. */
const CLAUDE = `cat > /dev/null
cat <<'END'
${LINES.map((line) => JSON.stringify(line)).join("\n")}
END
${WAIT("turn")}
echo a >> a.txt
cat <<'END'
${JSON.stringify(RESULT)}
END`;

/** The view's own words: no other line has them. */
const VIEW_REGEXP = /· iteration \d|tokens, \S*\$/;

function message(content: object): object {
  return { type: "assistant", message: { id: "m", type: "message", role: "assistant", content: [content] } };
}

function project(...args: readonly string[]): Cli {
  const check = `echo checking; test -f a.txt && ${WAIT("check")}`; // it fails at once before the work
  const story = { id: "US-001", title: "Add login", acceptanceCriteria: [`Verify: \`${check}\``], priority: 1 };
  const stories = [{ ...story, passes: false, notes: "" }, {
    ...story,
    id: "US-002",
    acceptanceCriteria: ["Verify: `test $(wc -l < a.txt) = 2`"],
    passes: false,
    notes: "",
  }];
  return ralphCli().files({ "scripts/ralph/prd.json": JSON.stringify({ branchName: "main", userStories: stories }) })
    .agent("claude", CLAUDE).args("run", "--agent", "claude", ...args);
}

describe("the live view", needs("tmux"), () => {
  test("shows the turn, then the check, and is gone at the end", async () => {
    const prepared = project("--max-iterations", "1").prepare();
    const screen = tmuxScreen(prepared, 80, 24);

    const turn = await screen.shows(/US-001 Add login · iteration 1\/1 · \d+[ms].*\n.*Bash npm/);
    expect(turn).toMatch(/^ {2}claude · Bash npm test -- --verbose .*…$/m);
    expect(turn).toMatch(/^ {2}│ Now the test 日本語$/m);
    writeFileSync(join(prepared.root, "../turn"), "");
    const check = await screen.shows(/check 1\/1 echo checking.*\n {2}│ checking/);
    expect(check).toMatch(/agent claude .*12,345 tokens, about \$0\.25/);
    expect(check.split("\n").filter((line) => VIEW_REGEXP.test(line))).toHaveLength(1);
    writeFileSync(join(prepared.root, "../check"), "");
    const end = await screen.shows(/exit 1$/);

    expect(end).not.toMatch(VIEW_REGEXP);
    expect(end).toMatch(/verified in .*\n(.*\n)*▲ exhausted: 1 verified in 1 iteration\n(.*\n)*exit 1$/);
  });

  test("follows the terminal's size, and Ctrl-C leaves nothing of it", async () => {
    const screen = tmuxScreen(project().prepare(), 80, 24);
    await screen.shows(/· iteration 1 · \d+[ms].*\n.*Bash npm/);

    screen.resize(40, 12);
    const narrow = await screen.shows(
      /^◆ US-001 Add login · .*1 · \d+[ms].*\n {2}claude · Bash npm te.*…\n {2}│ Now/m,
    );
    expect(narrow.match(/^◆ US-001 Add login ·/gm)).toHaveLength(1); // a long time leaves no room for "iteration"
    screen.resize(100, 30);
    const wide = await screen.shows(/Bash npm test -- --verbose --verbose --verbose --verbose --v.*…\n/);
    expect(wide.match(/iteration 1 ·/g)).toHaveLength(1);
    screen.keys("C-c");
    const end = await screen.shows(/exit 130$/);

    expect(end).not.toMatch(VIEW_REGEXP);
    expect(end).toMatch(/interrupted in .*\n\n▲ aborted/);
  });

  test("makes room for a question, and comes back after the answer", async () => {
    const prepared = project("--interactive").prepare();
    for (const name of ["turn", "check"]) writeFileSync(join(prepared.root, "..", name), "");
    const screen = tmuxScreen(prepared, 80, 30);

    const question = await screen.shows(/Continue with the next iteration\?\n\[Y\] yes {2}\[n\] no$/);
    expect(question).not.toMatch(VIEW_REGEXP);
    rmSync(join(prepared.root, "../turn"));
    screen.keys("y");
    await screen.shows(
      /^◆ US-002 Add login · iteration 2 · \d+[ms].*\n {2}run 12\.3k tokens, ~\$0\.25/m,
    );
    writeFileSync(join(prepared.root, "../turn"), "");
    const end = await screen.shows(/verified in(.*\n)*.*verified in(.*\n)*.*exit 0$/);

    expect(end).not.toMatch(VIEW_REGEXP);
  });

  test.each([["--ui", "plain"], ["--quiet"]])("is not there with %s %s", async (...args) => {
    const prepared = project(...args, "--max-iterations", "1").prepare();
    const screen = tmuxScreen(prepared, 80, 24);
    await new Promise((done) => setTimeout(done, 1500));
    expect(screen.text()).not.toMatch(VIEW_REGEXP);
    for (const name of ["turn", "check"]) writeFileSync(join(prepared.root, "..", name), "");

    await screen.shows(/exit 1$/);
  });

  test("is not there where lines cannot be drawn over", async () => {
    const prepared = project("--max-iterations", "1").env({ TERM: "dumb" }).prepare();
    const screen = tmuxScreen(prepared, 80, 24);
    await screen.shows(/at work/);
    await new Promise((done) => setTimeout(done, 500));
    expect(screen.text()).not.toMatch(VIEW_REGEXP);
    for (const name of ["turn", "check"]) writeFileSync(join(prepared.root, "..", name), "");

    await screen.shows(/exit 1$/);
  });
});
