import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { exitCodeOf } from "../../../lib/recipe/outcome.ts";
import { plan } from "../../../lib/workflows/exec/plan/plan.ts";
import { answering, contextOn, draft, envelope, replying, story, testRepository } from "./exec_context.ts";

const GOAL = "add a health endpoint";
const FINISHED = draft(story("US-001", 1), story("US-002", 2));

function outside(status: string): readonly string[] {
  return status.split("\n").filter((line) => line !== "" && !line.slice(3).startsWith("scripts/"));
}

describe("plan()", () => {
  test("plan() asks, drafts, reviews, writes the PRD after a yes, and commits it", async () => {
    using repository = testRepository();
    const agent = replying(
      envelope({
        questions: ["Which path?", "Which command tests it?"],
        uncertainties: [{ topic: "router", reason: "r", evidenceMissing: "e" }],
      }),
      (request) => {
        expect(existsSync(join(repository.root, "scripts/ralph/codebase_map.md"))).toBe(true);
        expect(request.prompt).toContain("Q: Which path?\nA: /health");
        return envelope({ prdDraft: FINISHED, recommendUnderstand: { shouldRun: true, reasons: ["large"] } });
      },
    );
    const prompter = answering({
      "Which path?": "/health",
      "Which command tests it?": "npm test",
      "plan.write-prd": "yes",
    });
    await using ralph = await contextOn(repository, { agent, prompter });

    const planned = await plan(ralph, { goal: GOAL });

    expect(planned).toMatchObject({
      status: "approved",
      file: "scripts/ralph/prd.json",
      uncertainties: [{ topic: "router" }],
      recommendUnderstand: { shouldRun: true, reasons: ["large"] },
      mapWasMissing: true,
    });
    expect(JSON.parse(repository.read("scripts/ralph/prd.json"))).toEqual(FINISHED);
    expect(prompter.asked.map(({ id, message }) => [id, message])).toEqual([
      ["plan.question", "Which path?"],
      ["plan.question", "Which command tests it?"],
      ["plan.write-prd", "Write this PRD to `scripts/ralph/prd.json`?"],
    ]);
    expect(prompter.asked.at(-1)).toMatchObject({ kind: "select", keys: true, initial: "no", gate: "prd" });
    expect(repository.git("log", "--format=%s")).toBe("ralph: plan approved\nstart");
    expect(repository.git("show", "--name-only", "--format=").split("\n")).toContain(
      "scripts/ralph/plan_transcript.md",
    );
    expect(repository.git("status", "--porcelain")).toBe("");
  });

  test("plan() keeps what the seed asks for in plan_state.json and plan_transcript.md", async () => {
    using repository = testRepository();
    const uncertainties = [{ topic: "router", reason: "r", evidenceMissing: "e" }];
    const first = envelope({ questions: ["Which path?"], uncertainties });
    const agent = replying(first, envelope({ prdDraft: FINISHED, uncertainties }));
    const prompter = answering({ "plan.question": "/health", "plan.write-prd": "yes" });
    await using ralph = await contextOn(repository, { agent, prompter });

    await plan(ralph, { goal: GOAL });

    const state = JSON.parse(repository.read("scripts/ralph/plan_state.json"));
    const { root, goal } = { root: repository.root, goal: GOAL };
    expect(state).toMatchObject({ schemaVersion: 1, root, goal, state: "done", uncertainties, lastPrdDraft: FINISHED });
    expect(state.recommendUnderstand).toEqual({ shouldRun: false, reasons: [] });
    const iso = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect([state.createdAt, state.updatedAt, state.approvedPrdAt]).toEqual([iso, iso, iso]);
    expect(state.qa).toEqual([{ id: "q-1", question: "Which path?", answer: "/health", askedAt: iso }]);
    const transcript = repository.read("scripts/ralph/plan_transcript.md");
    const parts = [
      `> ${GOAL}`,
      "> Which path?",
      "> /health",
      `\`\`\`json\n${first}\n\`\`\``,
      "    US-001 Title of US-001 (priority 1)",
      "    Verify: true",
    ];
    for (const part of [...parts, "## PRD approved"]) expect(transcript).toContain(part);
    expect(transcript.match(/^## .*/gm)).toEqual([
      "## Goal",
      "## Agent's answer",
      "## Question",
      "## Agent's answer",
      "## PRD summary",
      "## PRD approved",
    ]);
  });

  test("plan() makes nothing outside scripts/ralph/ before the approval, and writes no PRD", async () => {
    using repository = testRepository();
    const before = repository.git("rev-parse", "HEAD");
    const agent = replying(envelope({ questions: ["Which path?"] }), envelope({ prdDraft: FINISHED }));
    const prompter = answering({ "plan.question": "x", "plan.write-prd": "<interrupt>" });
    await using ralph = await contextOn(repository, { agent, prompter });

    const planned = await plan(ralph, { goal: GOAL });

    expect(planned).toEqual({ status: "aborted" });
    expect(outside(repository.git("status", "--porcelain"))).toEqual([]);
    expect(repository.git("rev-parse", "HEAD")).toBe(before);
    expect(repository.git("status", "--porcelain", "--", "scripts/ralph/prd.json")).toBe("");
  });

  test("plan() asks what to change, tells it to the agent, and shows the new draft", async () => {
    using repository = testRepository();
    const agent = replying(envelope({ prdDraft: FINISHED }), envelope({ prdDraft: draft(story("US-009", 1)) }));
    const prompter = answering({ "plan.write-prd": ["change", "yes"], "plan.change": "only one story" });
    await using ralph = await contextOn(repository, { agent, prompter });

    const planned = await plan(ralph, { goal: GOAL });

    expect(planned.status).toBe("approved");
    expect(agent.prompts[1]).toContain("Q: What should change?\nA: only one story");
    expect(agent.prompts[1]).toContain('"id": "US-002"');
    expect(JSON.parse(repository.read("scripts/ralph/prd.json")).userStories.map(({ id }: { id: string }) => id))
      .toEqual(["US-009"]);
    expect(repository.read("scripts/ralph/plan_transcript.md")).toContain("## PRD not approved");
  });

  test.each([
    ["a no", { "plan.write-prd": "no" }],
    ["an empty answer to what should change", { "plan.write-prd": "change", "plan.change": " " }],
  ])("plan() is declined by %s, and can be gone on with", async (_by, said) => {
    using repository = testRepository();
    const agent = replying(envelope({ prdDraft: FINISHED }));
    await using first = await contextOn(repository, {
      agent,
      prompter: answering(said),
    });

    const declined = await plan(first, { goal: GOAL });

    expect([declined.status, exitCodeOf(declined)]).toEqual(["declined", 0]);
    await first[Symbol.asyncDispose]();
    await using second = await contextOn(repository, { agent, prompter: answering({ "plan.write-prd": "yes" }) });
    expect((await plan(second, { resume: true })).status).toBe("approved");
    expect(agent.prompts.length).toBe(1);
  });

  test("plan() is blocked where nobody approves, and keeps the state", async () => {
    using repository = testRepository();
    const agent = replying(envelope({ questions: ["Which path?"] }), envelope({ prdDraft: FINISHED }));
    await using ralph = await contextOn(repository, { agent, answers: { otherwise: "as you like" } });

    const planned = await plan(ralph, { goal: GOAL });

    expect([planned.status, exitCodeOf(planned)]).toEqual(["blocked", 3]);
    expect(JSON.stringify(planned)).toContain("plan.write-prd");
    const state = JSON.parse(repository.read("scripts/ralph/plan_state.json"));
    expect([state.state, state.qa[0].answer]).toEqual(["review_prd", "as you like"]);
    expect(repository.read("scripts/ralph/plan_transcript.md")).toContain("Answer (from the answers file):");
  });

  test("plan() is blocked by a question that no answers file knows, and resumes at that question", async () => {
    using repository = testRepository();
    const agent = replying(envelope({ questions: ["Which path?", "Which port?"] }), envelope({ prdDraft: FINISHED }));
    const answers = { questions: [{ match: "PATH", answer: "/health" }] };
    await using ralph = await contextOn(repository, { agent, answers });

    const blocked = await plan(ralph, { goal: GOAL });

    expect(blocked.status).toBe("blocked");
    await ralph[Symbol.asyncDispose]();
    const prompter = answering({ "Which port?": "80", "plan.write-prd": "yes" });
    await using second = await contextOn(repository, { agent, prompter });
    expect((await plan(second, { goal: ` ${GOAL} ` })).status).toBe("approved");
    expect(prompter.asked.map(({ message }) => message)).toEqual([
      "Which port?",
      "Write this PRD to `scripts/ralph/prd.json`?",
    ]);
    expect(agent.prompts.length).toBe(2);
  });

  test.each(["", "   "])("plan() refuses the goal %j before it makes anything", async (goal) => {
    using repository = testRepository();
    await using ralph = await contextOn(repository, { agent: replying(""), prompter: answering({}) });

    await expect(plan(ralph, { goal })).rejects.toMatchObject({ code: "option-invalid", exitCode: 2 });
    await expect(plan(ralph, { resume: true })).rejects.toMatchObject({ code: "usage" });
    expect(existsSync(join(repository.root, "scripts"))).toBe(false);
  });

  test("plan() makes nothing when the agent cannot be used", async () => {
    using repository = testRepository();
    await using ralph = await contextOn(repository, {
      agent: { command: "no-such-agent-at-all" },
      prompter: answering({}),
    });

    await expect(plan(ralph, { goal: GOAL })).rejects.toMatchObject({ code: "agent-not-found", exitCode: 4 });
    expect(existsSync(join(repository.root, "scripts"))).toBe(false);
  });

  test("plan() ends with 4 when the agent turns out to be unusable", async () => {
    using repository = testRepository();
    const agent = replying(() => ({ end: { reason: "agent-unusable", message: "log in first" } }));
    await using ralph = await contextOn(repository, { agent, prompter: answering({}) });

    const planned = await plan(ralph, { goal: GOAL });

    expect(planned).toEqual({ status: "failed", reason: "agent-unusable", messages: ["log in first"] });
    expect(exitCodeOf(planned)).toBe(4);
  });

  test("plan() leaves a damaged PRD and a damaged state as they are, and says where", async () => {
    using repository = testRepository({ "scripts/ralph/prd.json": "{\n" });
    await using ralph = await contextOn(repository, { agent: replying(""), prompter: answering({}) });

    await expect(plan(ralph, { goal: GOAL })).rejects.toMatchObject({
      code: "state-invalid",
      message: expect.stringContaining("prd.json: not valid JSON: line 2, column 1"),
    });
    expect(repository.read("scripts/ralph/prd.json")).toBe("{\n");
    repository.write("scripts/ralph/prd.json", '{"branchName":"b","userStories":[]}');
    repository.write(
      "scripts/ralph/plan_state.json",
      '{"schemaVersion":2,"root":"r","goal":7,"createdAt":"","updatedAt":""}',
    );
    await expect(plan(ralph, { goal: GOAL })).rejects.toMatchObject({
      code: "state-invalid",
      message: expect.stringMatching(/plan_state\.json: schemaVersion: .*1.*; goal: .*string/),
    });
    expect(repository.read("scripts/ralph/plan_state.json")).toContain('"schemaVersion":2');
  });
});
