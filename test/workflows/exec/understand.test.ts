import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { TurnRequest } from "../../../lib/context/context.ts";
import { exitCodeOf } from "../../../lib/recipe/outcome.ts";
import { understand } from "../../../lib/workflows/exec/understand/understand.ts";
import { answering, contextOn, type Reply, replying, testRepository } from "./exec_context.ts";

const MAP = "scripts/ralph/codebase_map.md";
const TODAY = "2026-03-10";
const DONE = "<promise>COMPLETE</promise>";

function topicOf({ prompt }: TurnRequest): string {
  return /## The topic of this turn\n\n(.*)\n/.exec(prompt)?.[1] ?? "";
}

/** Writes a note and ticks the topic, as it is asked to. */
const obedient: Reply = (request) => {
  const file = join(request.cwd, MAP);
  const topic = topicOf(request);
  writeFileSync(
    file,
    `${readFileSync(file, "utf8").replace(`- [ ] ${topic}`, `- [x] ${topic}`)}\n## ${TODAY} - ${topic}\n\n- known\n`,
  );
  return DONE;
};

describe("understand()", () => {
  test("understand() looks at one open topic an iteration and commits the map each time", async () => {
    using repository = testRepository({ [MAP]: "## Next Topics\n- [ ] one\n- [x] two\n- [ ] three\n" });
    const agent = replying(obedient);
    await using ralph = await contextOn(repository, { agent });

    const understood = await understand(ralph);

    expect(understood).toMatchObject({ status: "passed", topicsLeft: [], turns: 2 });
    expect(agent.prompts.map((prompt) => topicOf({ prompt } as TurnRequest))).toEqual(["one", "three"]);
    expect(agent.prompts[0]).toContain(`Today is ${TODAY}`);
    expect(repository.git("log", "--format=%s")).toBe("ralph: understood three\nralph: understood one\nstart");
    expect(repository.git("branch", "--show-current")).toBe("main");
    expect(repository.git("status", "--porcelain")).toBe("");
  });

  test("understand() makes the map from the template when it is missing", async () => {
    using repository = testRepository();
    await using ralph = await contextOn(repository, { agent: replying(obedient) });

    const understood = await understand(ralph, { maxItems: 1 });

    expect(understood).toMatchObject({ status: "passed", turns: 1 });
    expect(understood.topicsLeft.length).toBe(11);
    expect(exitCodeOf(understood)).toBe(0);
    const note = ralph.seen.findLast((event) => event.type === "note");
    expect(note?.type === "note" ? note.message : "").toMatch(/^11 topics are left: Build/);
    const notes = ralph.seen.flatMap((event) => event.type === "note" ? [event.message] : []);
    expect(notes.filter((one) => one.includes("uncommitted") || one.includes("not committed"))).toEqual([]);
  });

  test("understand() leaves a plan that nobody has committed as it is", async () => {
    using repository = testRepository({ [MAP]: "## Next Topics\n- [ ] one\n" });
    await using ralph = await contextOn(repository, { agent: replying(obedient) });
    writeFileSync(join(repository.root, "scripts/ralph/prd.json"), "{}");

    expect((await understand(ralph)).status).toBe("passed");

    expect(repository.git("log", "--format=%s")).toBe("ralph: understood one\nstart");
    expect(repository.git("status", "--porcelain")).toBe("?? scripts/ralph/prd.json");
  });

  test("understand() is passed with the topics left when its turns are used up", async () => {
    using repository = testRepository({ [MAP]: "## Next Topics\n- [ ] one\n- [ ] two\n" });
    await using ralph = await contextOn(repository, { agent: replying(obedient) });

    expect(await understand(ralph, { maxIterations: 1 })).toMatchObject({ status: "passed", topicsLeft: ["two"] });
  });

  test("understand() ticks the topic itself when the agent wrote the note and forgot the box", async () => {
    using repository = testRepository({ [MAP]: "## Next Topics\n- [ ] one\n" });
    const forgetful = replying((request) => {
      appendFileSync(join(request.cwd, MAP), `\n## ${TODAY} - one\n`);
      return "";
    });
    await using ralph = await contextOn(repository, { agent: forgetful });

    expect((await understand(ralph)).status).toBe("passed");
    expect(repository.read(MAP)).toContain("- [x] one");
  });

  test("understand() believes no marker: a topic without a note comes again, with what was missing, and is parked", async () => {
    using repository = testRepository({ [MAP]: "## Next Topics\n- [ ] one\n" });
    const agent = replying(DONE);
    await using ralph = await contextOn(repository, { agent, config: { maxRetries: 2 } });

    const understood = await understand(ralph);

    expect(understood).toMatchObject({ status: "blocked", topicsLeft: ["one"] });
    expect(agent.prompts.length).toBe(2);
    expect(agent.prompts[1]).toContain("holds no new note");
  });

  test("understand() takes no tick for a note: the box is cleared, and the topic comes again", async () => {
    using repository = testRepository({ [MAP]: "## Next Topics\n- [ ] one\n" });
    const agent = replying((request) => {
      const file = join(request.cwd, MAP);
      writeFileSync(file, readFileSync(file, "utf8").replace("[ ]", "[x]"));
      return DONE;
    });
    await using ralph = await contextOn(repository, { agent, config: { maxRetries: 2 } });

    expect(await understand(ralph)).toMatchObject({ status: "blocked", topicsLeft: ["one"] });
    expect(agent.prompts[1]).toContain("although the topic is ticked");
    expect(repository.read(MAP)).toContain("- [ ] one");
  });

  test.each<[string, string]>([["another file", "src.ts"], ["a file beside the map", "scripts/ralph/progress.txt"]])(
    "understand() fails when the agent writes %s, whatever else it did, and shows diff and path",
    async (_name, path) => {
      using repository = testRepository({ [MAP]: "## Next Topics\n- [ ] one\n- [ ] two\n" });
      const agent = replying(async (request) => {
        writeFileSync(join(request.cwd, path), "trespassed\n");
        return typeof obedient === "function" ? await obedient(request) : "";
      });
      await using ralph = await contextOn(repository, { agent });

      const understood = await understand(ralph);

      expect(understood).toMatchObject({
        status: "failed",
        reason: "trespassed",
        reasons: [expect.stringContaining(path)],
      });
      expect([exitCodeOf(understood), agent.prompts.length]).toEqual([1, 1]);
      const shown = ralph.seen.flatMap((event) => event.type === "trespass" ? event.diff : []).join("\n");
      expect(shown).toContain("+trespassed");
      expect(repository.read(path)).toBe("trespassed\n");
      expect(repository.git("log", "--format=%s")).toBe("start");
    },
  );

  test("understand() fails when the agent edits the PRD, and puts it back", async () => {
    const prd = '{"branchName":"b","userStories":[]}';
    using repository = testRepository({ [MAP]: "## Next Topics\n- [ ] one\n", "scripts/ralph/prd.json": prd });
    const agent = replying(async (request) => {
      writeFileSync(join(request.cwd, "scripts/ralph/prd.json"), '{"branchName":"c","userStories":[]}');
      return typeof obedient === "function" ? await obedient(request) : "";
    });
    await using ralph = await contextOn(repository, { agent });

    const understood = await understand(ralph);

    expect(understood).toMatchObject({ status: "failed" });
    expect(JSON.stringify(understood)).toContain("scripts/ralph/prd.json");
    expect(repository.read("scripts/ralph/prd.json")).toBe(prd);
  });

  test("understand() follows the prompt's default order where the map has no checklist", async () => {
    const prompt = "Look around. Otherwise follow this default order:\n  1) Build\n  2) Tests (all)\n";
    using repository = testRepository({ [MAP]: "# Map\n", "scripts/ralph/understand_prompt.md": prompt });
    const seen: string[] = [];
    const agent = replying((request) => {
      const topic = /## Current item\n\n(.*)\n/.exec(request.prompt)?.[1] ?? "";
      seen.push(topic);
      appendFileSync(join(request.cwd, MAP), `\n## ${TODAY} - ${topic}\n`);
      return DONE;
    });
    await using ralph = await contextOn(repository, { agent });

    expect(await understand(ralph)).toMatchObject({ status: "passed", topicsLeft: [] });
    expect(seen).toEqual(["Build", "Tests (all)"]);
  });

  test("understand() makes nothing when the agent cannot be used", async () => {
    using repository = testRepository();
    await using ralph = await contextOn(repository, {
      agent: { command: "no-such-agent-at-all" },
      prompter: answering({}),
    });

    await expect(understand(ralph)).rejects.toMatchObject({ code: "agent-not-found" });
    expect(existsSync(join(repository.root, "scripts"))).toBe(false);
  });
});
