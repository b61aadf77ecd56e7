import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Agent, Prompter, Question, RalphContext, TurnRequest } from "../../../lib/context/context.ts";
import { createRalph, type RalphOptions } from "../../../lib/recipe/create_ralph.ts";
import { unconfined } from "../../../lib/testing/test_context.ts";
import { RalphError } from "../../../lib/errors/ralph_error.ts";
import type { RalphEvent } from "../../../lib/events/types.ts";
import { createHost } from "../../../lib/host/create_host.ts";
import type { AgentTurn, TurnEnd } from "../../../lib/backlog/types.ts";
import { makeRepository, writeFiles } from "../../repository.ts";

/** One turn of the agent in a test: what it says, or what it does and says. */
export type Reply =
  | string
  | ((request: TurnRequest) => string | Partial<AgentTurn> | Promise<string | Partial<AgentTurn>>);

export interface TestAgent extends Agent {
  readonly prompts: string[];
}

/** An agent whose turns are the replies, one after the other; the last one again when they are used up. */
export function replying(...replies: readonly Reply[]): TestAgent {
  const prompts: string[] = [];
  return {
    name: "test",
    prompts,
    ensureUsable: () => Promise.resolve(),
    async runTurn(request) {
      const reply = replies[Math.min(prompts.length, replies.length - 1)] ?? "";
      prompts.push(request.prompt);
      const said = typeof reply === "string" ? reply : await reply(request);
      const turn = typeof said === "string" ? { text: said } : said;
      const text = turn.text ?? "";
      const end: TurnEnd = { reason: "completed" };
      const usage = {
        inputTokens: null,
        outputTokens: null,
        cachedTokens: null,
        reasoningTokens: null,
        costUsd: null,
        estimated: false,
      };
      const lines = text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
      return { end, text, lines, usage, transcript: request.transcript, durationMs: 1, ...turn };
    },
  };
}

/** The answers, by question id or by the words of the question; anything else ends the test. */
export type TestAnswers = Readonly<Record<string, string | readonly string[]>>;

export interface TestPrompter extends Prompter {
  readonly asked: Question[];
}

export function answering(answers: TestAnswers, options: { readonly interactive?: boolean } = {}): TestPrompter {
  const asked: Question[] = [];
  const used = new Map<string, number>();
  return {
    interactive: options.interactive ?? true,
    asked,
    ask(question) {
      asked.push(question);
      const key = Object.hasOwn(answers, question.message) ? question.message : question.id;
      const given = answers[key];
      const number = used.get(key) ?? 0;
      used.set(key, number + 1);
      const value = typeof given === "string" ? given : given?.[Math.min(number, given.length - 1)];
      if (value === "<interrupt>") return Promise.reject(new RalphError("interrupted"));
      if (value === undefined) {
        const details = { id: question.id, question: question.message };
        return Promise.reject(new RalphError("answer-missing", { details }));
      }
      return Promise.resolve({ value, source: "terminal" });
    },
  };
}

/** A git repository in a temporary folder, taken away when disposed. */
export interface TestRepository extends Disposable {
  readonly root: string;
  git(...arguments_: readonly string[]): string;
  write(path: string, text: string): void;
  read(path: string): string;
}

export function testRepository(files: Readonly<Record<string, string>> = {}): TestRepository {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "ralph-exec-")));
  const git = makeRepository(root, { files: { "README.md": "# Project\n", ...files } });
  return {
    root,
    git: (...arguments_) => git(...arguments_).trimEnd(),
    write: (path, text) => writeFiles(root, { [path]: text }),
    read: (path) => readFileSync(join(root, path), "utf8"),
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true, maxRetries: 3 }),
  };
}

/** A context on a repository, with the clock at noon of a day of our choice. */
export async function contextOn(
  repository: Pick<TestRepository, "root">,
  options: RalphOptions & { readonly today?: string } = {},
): Promise<RalphContext & AsyncDisposable & { readonly seen: RalphEvent[] }> {
  const { today = "2026-03-10", ...rest } = options;
  const host = createHost();
  const clock = { ...host.clock, now: () => new Date(`${today}T12:00:00`).getTime() };
  const seen: RalphEvent[] = [];
  const sinks = [{ emit: (event: RalphEvent) => void seen.push(event) }];
  const ralph = await createRalph({
    root: repository.root,
    sinks,
    ...rest,
    config: unconfined(rest.config),
    host: { ...host, clock },
  });
  return {
    ...ralph,
    seen,
    async [Symbol.asyncDispose]() {
      await ralph[Symbol.asyncDispose]();
      await host.processes[Symbol.asyncDispose]();
    },
  };
}

/** A story with a check. */
export function story(id: string, priority: number, more: object = {}): object {
  return {
    id,
    title: `Title of ${id}`,
    acceptanceCriteria: ["It works", "Verify: `true`"],
    priority,
    passes: false,
    notes: "",
    ...more,
  };
}

/** An answer of the planner's agent. */
export function envelope(parts: object): string {
  const nothing = {
    questions: [],
    uncertainties: [],
    prdDraft: null,
    recommendUnderstand: { shouldRun: false, reasons: [] },
  };
  return JSON.stringify({ ...nothing, ...parts });
}

export function draft(...stories: readonly object[]): object {
  return { branchName: "ralph/feature", userStories: stories };
}
