import { describe, expect, test } from "vitest";
import { PROMPTS } from "../../lib/generated/prompts.ts";
import { fillPrompt, findPrompt, promptWarnings, renderPrompt, unknownPlaceholders } from "../../lib/prompts/render.ts";
import { testRepository } from "../workflows/exec/exec_context.ts";

const STORY = {
  attempt: "1",
  branch: "main",
  checks: "- `npm test`",
  failure: "exit 1",
  id: "US-001",
  item: "US-001: T",
  nonce: "k3f9ab",
  notes: "None.",
  title: "T",
};

describe("promptWarnings()", () => {
  test("promptWarnings() names file, line and the placeholder that is meant, and files that replace nothing", async () => {
    using repository = testRepository({
      "scripts/ralph/prompt.md": "# Mine\n\nDo {{itm}} and {{ title }}.\n",
      ".ralph/prompts/feature_run.md": "{{storyId}} {{project}}\n{{zzzzzz}}\n",
      ".ralph/prompts/exec_rum.md": "{{id}}",
    });

    expect((await promptWarnings(repository.root)).map(({ path, text }) => `${path}: ${text}`)).toEqual([
      ".ralph/prompts/exec_rum.md: no prompt has this name; did you mean exec_run.md?",
      "scripts/ralph/prompt.md: line 3: nothing fills {{itm}}, which stays as it is; did you mean {{item}}?",
      expect.stringMatching(
        /^\.ralph\/prompts\/feature_run\.md: line 2: nothing fills \{\{zzzzzz\}\}.+known: acceptanceCriteria, attempt, /,
      ),
    ]);
  });

  test.each(Object.keys(PROMPTS))("every placeholder of the shipped %s is one that Ralph fills", (name) => {
    expect(unknownPlaceholders(PROMPTS[name] ?? "", name as "exec_run")).toEqual([]);
  });
});

describe("renderPrompt()", () => {
  test("renderPrompt() takes the workflow's file, then .ralph/prompts, then the built-in prompt", async () => {
    using repository = testRepository();
    const { root } = repository;

    const builtIn = await findPrompt("exec_run", { root });
    repository.write(".ralph/prompts/exec_run.md", "second {{id}}");
    const second = await renderPrompt("exec_run", STORY, { root });
    repository.write("scripts/ralph/prompt.md", "first {{ id }}");
    const first = await renderPrompt("exec_run", STORY, { root });

    expect([builtIn.from, builtIn.text]).toEqual(["built-in", PROMPTS["exec_run"]]);
    expect([second, first]).toEqual(["second US-001", "first US-001"]);
  });

  test("renderPrompt() appends the current item and the last failure to a file without placeholders", async () => {
    using repository = testRepository({ "scripts/ralph/prompt.md": "Do your best. {{other}}\n" });

    const text = await renderPrompt("exec_run", STORY, repository);

    expect(text).toBe(
      "Do your best. {{other}}\n\n## Current item\n\nUS-001: T\n\n## What Ralph checks after your turn\n\n- `npm test`\n\n## What went wrong last time\n\nexit 1\n",
    );
  });

  test("findPrompt() refuses a name that no prompt has", async () => {
    using repository = testRepository();

    await expect(findPrompt("nothing", repository)).rejects.toMatchObject({ code: "internal" });
  });

  test("fillPrompt() fills in one pass and takes values as they are", () => {
    expect(fillPrompt("{{a}} {{b}} {{c}}", { a: "{{b}} $& $1", b: "x" })).toBe("{{b}} $& $1 x {{c}}");
  });

  test.each(Object.keys(PROMPTS))("the prompt %s has no line that is a marker by itself", (name) => {
    const lines = (PROMPTS[name] ?? "").split("\n").map((line) => line.replaceAll(/[\s*_`]/g, ""));

    expect(lines.filter((line) => /^<(promise|ralph)>.*<\/\1>$/.test(line))).toEqual([]);
  });

  test.each(
    "exec_run exec_understand feature_run feature_verify gsd_execute gsd_summary spec_build spec_decompose spec_investigate spec_plan spec_verify sprint_rules"
      .split(" "),
  )("%s offers an honest exit", (name) => {
    expect(PROMPTS[name]).toContain("`<ralph {{nonce}}>BLOCKED: [why]</ralph>`");
  });
});
