import { describe, expect, test } from "vitest";
import { type Cli, ralphCli } from "./cli.ts";

const RECIPE = `import { defineRecipe, gate } from "ralph";

export default defineRecipe({
  name: "ask",
  description: "asks, and writes nothing",
  async run(ralph) {
    const { value } = await ralph.prompter.ask({ id: "plan.question", kind: "text", message: "Which colour?" });
    const go = await gate(ralph, { name: "go", message: "Go?" });
    const other = await gate(ralph, { name: "other", message: "And the other?" });
    return { status: go.status === "approved" && other.status === "approved" ? "passed" : "blocked", reasons: [value] };
  },
});
`;

function ask(...args: string[]): Cli {
  return ralphCli().files({ "ask.ts": RECIPE }).args(
    "run-recipe",
    "ask.ts",
    "--agent-cmd",
    "true",
    "--approve",
    "go",
    ...args,
  );
}

describe("--approve gives consents and no more", () => {
  test("in a terminal the questions and the other gates are still asked", async () => {
    const { stdout } = await ask().terminal(["Which colour?", "green\r"], ["And the other?", "y"]).expectExit(0);

    expect(stdout).toContain("green");
    expect(stdout).not.toContain("Go? (");
  });

  test("in a terminal what --answers does not hold is still asked", async () => {
    const { stdout } = await ask("--answers", "answers.json").dirty({
      "answers.json": `{ "prompts": { "plan.question": "blue" } }`,
    })
      .terminal(["And the other?", "y"]).expectExit(0);

    expect(stdout).toContain("blue");
    expect(stdout).toContain("plan.question: blue (answers)");
  });

  test("with --non-interactive, or without a terminal, a question has no answer", async () => {
    await ask("--non-interactive").terminal().expectExit(3);
    const { stderr } = await ask().expectExit(3);

    expect(stderr).toContain("no answer to the question plan.question");
  });
});
