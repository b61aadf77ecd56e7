import type { Script, ScriptedTurn } from "../../../agents/scripted/types.ts";
import { CODEBASE_MAP_FILE } from "../types.ts";
import { ADD, codebaseMap, DONE, DONE_WRONG, LEFT, todoScript, TOPICS } from "./project.ts";

/** The goal that the demonstration builds. */
export const GOAL = "add the commands `add`, `done` and `left` to the to-do list";

/** The planner's questions, each with the answer that is used, or suggested, in the demonstration. */
export const QUESTIONS: readonly { readonly question: string; readonly answer: string }[] = [
  { question: "What should `done` do with an item: tick it, or take it away?", answer: "tick it" },
  { question: "I found `sh test.sh`. Is it what must pass in the end?", answer: "yes, all of it" },
];

const DRAFT = {
  branchName: "ralph/todo-commands",
  userStories: [
    story(1, "Add items", ["`sh todo.sh add TEXT` appends an open item", "Verify: `sh test.sh add`"]),
    story(2, "Tick items off", ["`sh todo.sh done N` ticks item N and no other", "Verify: `sh test.sh done`"]),
    story(3, "Count what is left", [
      "`sh todo.sh left` prints how many items are open",
      "Verify: `sh test.sh left`",
      "Verify: `sh test.sh`",
    ]),
  ],
};

const PLAN = "# Plan: from a goal to a PRD";
const UNDERSTAND = "# Understand one topic";
const IMPLEMENT = "# Implement one story";
const COMPLETE = "<promise>COMPLETE</promise>";

/**
 * The scripted agent's turns in the demonstration. It claims too early once, as agents do.
 *
 * @param today local day, `YYYY-MM-DD`
 * @param pause seconds that each turn takes, for a person who watches
 */
export function demoScript(today: string, pause: number): Script {
  const turns: readonly ScriptedTurn[] = [
    { match: PLAN, say: envelope(QUESTIONS.map(({ question }) => question), null) },
    { match: PLAN, times: "any", say: envelope([], DRAFT) },
    ...TOPICS.map((topic, index): ScriptedTurn => ({
      match: [UNDERSTAND, topic],
      write: { [CODEBASE_MAP_FILE]: codebaseMap(index + 1, today) },
      say: [`Noted: ${topic}.`, COMPLETE],
    })),
    implement("US-001", todoScript(ADD), "`add` works."),
    implement("US-002", todoScript(ADD, DONE_WRONG), "`done` works, I am sure of it."),
    implement(
      "US-002",
      todoScript(ADD, DONE),
      "The test showed that every item was ticked: now only item N is.",
      "2. [x] bread",
    ),
    implement("US-003", todoScript(ADD, DONE, LEFT), "`left` works."),
  ];
  return { turns: turns.map((turn) => ({ ...turn, delay: pause })) };
}

function implement(id: string, content: string, words: string, seen?: string): ScriptedTurn {
  const match = [IMPLEMENT, id, ...(seen === undefined ? [] : [seen])];
  return { match, write: { "todo.sh": content }, say: [words, COMPLETE] };
}

function envelope(questions: readonly string[], prdDraft: unknown): string {
  return JSON.stringify(
    {
      questions,
      uncertainties: [],
      prdDraft,
      recommendUnderstand: { shouldRun: true, reasons: ["no one has described this code yet"] },
    },
    null,
    2,
  );
}

function story(number: number, title: string, acceptanceCriteria: readonly string[]): unknown {
  return { id: `US-00${number}`, title, acceptanceCriteria, priority: number, passes: false, notes: "" };
}
