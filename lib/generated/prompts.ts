// Written by tools/embed_prompts.mjs from prompts/*.md: edit those, then run it.
// deno-fmt-ignore-file

/** Every built-in prompt by its name. */
export const PROMPTS: Readonly<Record<string, string>> = {
  "exec_plan": `# Plan: from a goal to a PRD

You plan work in an existing repository together with a person. Ralph carries your questions to them, and gives you their answers in your next turn. Each turn is a fresh process: all that you know is on this page and in the repository. Read the repository as much as you like. Change nothing: until the PRD is approved, a change outside \`scripts/ralph/\` ends planning as failed, and Ralph's own files are put back.

## The goal

{{goal}}

## Questions and answers so far

{{answers}}

## The PRD that stands in \`scripts/ralph/prd.json\`

{{existing}}

## Your last draft

{{draft}}

## The codebase map

{{map}}

## Commands found in the project's files

{{commands}}

{{round}}

## What to find out

Ask only what the goal, the answers and the code leave open, and ask it so that one short answer settles it. Look at:

1. Scope and non-goals.
2. Interfaces: API shape, endpoints, CLI, or where the UI meets the code.
3. Authentication and authorization: who may do what, if that matters here.
4. Data model changes and migrations, if there are any.
5. Error handling: what is expected when something goes wrong.
6. Verification: the exact commands (types, tests, lint) and their expected outcome. Propose what you found in the project and have the person confirm it.

## How a good PRD looks

- Atomic stories: each can be implemented, tested and committed in one turn by somebody who sees only that story and the code. Foundations first; \`priority\` counts up from 1, without repeats.
- Acceptance criteria are testable statements, not intentions. Do not invent files, endpoints or UI that nobody spoke of.
- Every story has at least one criterion in exactly the form \`\`Verify: \`command\` \`\`. Ralph runs these commands after the story's turn, from the root, and the story passes only when all of them succeed. Commands end by themselves (no server, no watch mode), exit 0 when the story is done, and fail while it is not. Other text in back-ticks is never run.
- \`passes\` is \`false\` and \`notes\` is \`""\` in every new story: Ralph sets them. A story that is kept from the PRD above keeps its \`id\` and its criteria word for word.

## What to answer

Your whole answer is one JSON object: no Markdown, no code fence, no words around it. It has exactly these four keys:

{
  "questions": ["one question each; empty when you have enough"],
  "uncertainties": [{"topic": "…", "reason": "…", "evidenceMissing": "…"}],
  "prdDraft": null,
  "recommendUnderstand": {"shouldRun": false, "reasons": []}
}

- Either ask (\`questions\` filled, \`prdDraft\` null) or draft (\`questions\` empty, \`prdDraft\` filled). Never neither.
- \`uncertainties\` names what you could not find out about the code, and what evidence would settle it; usually empty.
- \`recommendUnderstand.shouldRun\` is true when exploring the code first would change the plan or save failed attempts; say why in \`reasons\`.
- \`prdDraft\` is an object with exactly \`branchName\` (such as \`ralph/short-name\`) and \`userStories\`; each story has exactly these keys:

{"id": "US-001", "title": "…", "acceptanceCriteria": ["…", "Verify: \`npm test\`"], "priority": 1, "passes": false, "notes": ""}

{{errors}}
`,
  "exec_prd": `You are a product manager and a test lead. Write a PRD as one JSON object that is saved as \`scripts/ralph/prd.json\`.
(This file is for use by hand, with any chat: fill in the context below and paste all of it. \`ralph plan "<goal>"\` does the same by questions.)

Output:
- Only valid JSON: no Markdown, no code fences, no comments.
- The object has exactly these keys: "branchName", "userStories".
- Each story has exactly these keys: "id", "title", "acceptanceCriteria", "priority", "passes", "notes".
- "passes" is false and "notes" is "" in every story.

Shape (not the text):
{
  "branchName": "ralph/feature-name",
  "userStories": [
    {
      "id": "US-001",
      "title": "Short description of the story",
      "acceptanceCriteria": [
        "First testable requirement",
        "Second testable requirement",
        "Verify: \`npm test\`"
      ],
      "priority": 1,
      "passes": false,
      "notes": ""
    }
  ]
}

Content:
- Stories are small and atomic: each can be implemented and verified in one turn.
- A lower "priority" comes first. Priorities start at 1 and do not repeat.
- Criteria are explicit, testable and in order. Every story has at least one in exactly the form of the last one above: "Verify:", a space, and the command between back-ticks. Ralph runs it; the story passes only when it exits 0.
- Do not invent UI, endpoints or files that the context does not describe.
- Core flows first, then the edge cases that matter.

CONTEXT (fill in)

## What is being built, in two or three sentences


## Branch name, such as ralph/add-user-auth


## For whom, and what problem it solves


## Requirements
1.
2.
3.

## Out of scope
-

## Language, framework, conventions
-

## Existing code that this meets


## Verification commands
- Types:
- Tests:
- Lint:

## Constraints and anything else

`,
  "exec_run": `# Implement one story

You work in a git repository, on the branch \`{{branch}}\`. Implement the one story below and nothing else.

## The story

{{item}}

This is attempt {{attempt}}.

## What Ralph checks after your turn

{{checks}}

The story passes only when every check succeeds, run by Ralph itself, whatever you say about it. Run them before you end your turn.

## What went wrong last time

{{failure}}

## Notes kept with the story

{{notes}}

## How to work

1. Read \`scripts/ralph/progress.txt\`, its \`## Codebase Patterns\` part first, and in \`scripts/ralph/codebase_map.md\` only the sections that concern this story.
2. Make the smallest change that meets every criterion. Follow the conventions that the code already has.
3. Run the checks and fix your change until they pass. Never weaken, skip or delete a test or a check to get there.
4. Commit your work on the current branch with the subject \`feat: {{id}} - {{title}}\`. Do not push, switch branches, merge, stash, or discard changes that are not yours.
5. Append what a later story should know to \`scripts/ralph/progress.txt\`; a rule that holds for the whole code goes under \`## Codebase Patterns\`.

Leave \`scripts/ralph/prd.json\` and \`ralph.config.json\` alone. Ralph alone sets \`passes\`, after its checks; what you write into these files is put back.

When the story is done and committed, end your answer with \`<promise {{nonce}}>COMPLETE</promise>\` as its last line.

When you cannot finish it, because something is missing, contradictory or impossible, end your answer with \`<ralph {{nonce}}>BLOCKED: [why]</ralph>\` instead. A person will look at it at once; it is an honest result and costs no attempt. Ralph repeats the checks elsewhere, in a clean copy of what is committed, so nothing is won by making them pass in any other way.
`,
  "exec_understand": `# Understand one topic of this codebase

You explore an existing codebase and write down what a developer needs to know, with evidence.

**Hard rule:** the only file you may change is \`scripts/ralph/codebase_map.md\`. No code, tests, configuration, dependencies, other notes, and no commits. Ralph compares the working tree before and after your turn; any other change ends the run as failed.

## The topic of this turn

{{item}}

Today is {{today}}.

## What went wrong last time

{{failure}}

## What to do

1. Read \`scripts/ralph/codebase_map.md\`.
2. Investigate the topic above, and only that one. (Without a topic: take the first unchecked item under \`## Next Topics\`. Otherwise follow this default order:

     1) How to run locally (setup, environment variables, start commands)
     2) Build, test, lint and CI gates (what runs where, and how)
     3) Repository layout and module boundaries
     4) Entrypoints (server, worker, cron, CLI)
     5) Configuration, environment variables, secrets, feature flags
     6) Authentication and authorization (where permissions are enforced)
     7) Data model and persistence (migrations, transactions)
     8) Core domain flow 1 (traced end to end)
     9) Core domain flow 2 (traced end to end)
    10) External integrations (third-party APIs, webhooks, queues)
    11) Observability (logging, metrics, tracing, error reporting)
    12) Deployment and release process

   )
3. Start where much is said in few lines: README and docs, manifests and lock files, build and test scripts, entrypoints, routes, models and migrations.
4. Append a note to the end of \`scripts/ralph/codebase_map.md\`, in the form below, and tick the topic in the checklist (\`- [x]\`). Keep the rest of the file as it is.

## Form of a note

\`\`\`markdown
## YYYY-MM-DD - Topic

- **Summary**: one to three points
- **Evidence**:
  - \`path/to/file.ext:10-42\`: what to look for there
- **Conventions and invariants**: what the code requires of a change
- **Risks**: what breaks easily
- **Open questions**: what only a person can answer
\`\`\`

Every fact names its evidence: a file, a name in it, line numbers where you have them. Mark a guess as a guess and add an open question. A topic that does not exist here (no database, say) is a note too: say so and tick it.

When the note is written and the topic ticked, end your answer with \`<promise {{nonce}}>COMPLETE</promise>\` as its last line. When you cannot write it, end with \`<ralph {{nonce}}>BLOCKED: [why]</ralph>\` instead: a person will look at it.
`,
  "feature_prd_create": `# PRD Creation: {{feature}}

Help create a Product Requirements Document for this feature. Write no code yet, and change no file but the one named below.

## Clarifying Questions

Ask 3-5 critical questions:
- Problem/Goal: What problem does this solve?
- Core Functionality: What are the key actions?
- Scope: What should it NOT do?
- Success Criteria: How do we know it's done?

Format with lettered options:

    1. What is the primary goal?
       A. Option one
       B. Option two
       C. Other: [specify]

Wait for user answers before proceeding.

## The conversation so far

{{conversation}}

## Generate PRD

After answers, create a detailed PRD with:
- Introduction/Overview
- Goals
- User Stories (small, one session each)
- Functional Requirements
- Non-Goals
- Technical Considerations

### Story Rules
- Each story completable in ONE session
- Priority order: schema → backend → UI
- Include "Typecheck passes" in all criteria
- Include "Verify in browser" for UI stories, with the page: \`Visit /settings\`
- A criterion that one command can check names it in this form: Verify: \`npm test\`

Save to: {{file}}
`,
  "feature_prd_finalize": `# PRD Finalization: {{feature}}

Convert this PRD to prd.json. Write no code, and change no other file.

{{prdContent}}

## Output Format

    {
      "schemaVersion": 2,
      "project": "[from directory or PRD]",
      "branchName": "ralph/{{feature}}",
      "description": "[from PRD intro]",
      "run": {
        "startedAt": null,
        "currentStoryId": null,
        "learnings": []
      },
      "userStories": [...]
    }

### Story Fields
- \`id\`: US-001, US-002, etc.
- \`title\`, \`description\`: from the PRD
- \`acceptanceCriteria\`: a list of texts, one criterion each
- \`tags\`: ["ui"] for stories with browser verification
- \`priority\`: Based on dependency order
- \`passes\`: false
- \`retries\`: 0
- \`blocked\`: false
- \`lastResult\`: null
- \`notes\`: ""

## The prd.json that is there

{{existing}}

A story that stays the same keeps its \`id\` and its \`acceptanceCriteria\` word for word.

## What was wrong with your last answer

{{problems}}

Save to: {{file}}

If you cannot write files, answer with the JSON alone, in one code fence.
`,
  "feature_prd_refine": `# PRD Refinement: {{feature}}

Current PRD:

{{prdContent}}

Help refine this PRD. Write no code yet, and change no file but the one named below. What would you like to improve?
- Add/remove/modify stories?
- Clarify acceptance criteria?
- Adjust scope?
- Split large stories?

## The conversation so far

{{conversation}}

After refinement, save updated version to: {{file}}
`,
  "feature_run": `# Story Implementation

You work in a git repository, on the branch \`{{branch}}\`. Implement the one story below and nothing else.

## Your Task

Implement the following story:

**ID:** {{storyId}}
**Title:** {{storyTitle}}
**Description:** {{storyDescription}}
**Tags:** {{tags}}

**Acceptance Criteria:**
{{acceptanceCriteria}}

This is attempt {{attempt}}.

## What went wrong last time

{{failure}}

## Notes kept with the story

{{notes}}

## Instructions

1. Read the codebase to understand context
2. Implement the story following existing patterns
3. Write tests for your implementation
4. If this is a UI story (tagged "ui"):
   - Write e2e tests that verify the UI works
   - Tests should cover the acceptance criteria
5. Commit your changes with message: \`feat: {{storyId}} - {{storyTitle}}\`. Do not push, switch branches, merge, stash, or discard changes that are not yours
6. When you find out something that a later story should know, say it on a line of its own, in the form \`<ralph>LEARNING:what you found out</ralph>\`
7. When complete, output on a line of its own: {{doneMarker}}

If the story is done already, change nothing and output the marker: the verification decides.
When you cannot finish it, because something is missing, contradictory or impossible, leave the marker out and end with \`<ralph {{nonce}}>BLOCKED: [why]</ralph>\` on a line of its own. A person will look at it at once; it is an honest result and costs no retry.

Leave \`prd.json\` and \`ralph.config.json\` alone: Ralph keeps them, and what you write into them is put back. Leave servers to Ralph too: it starts and stops them.

## Verification

After you signal done, Ralph runs these:
{{verifyCommands}}

Your story only passes if ALL of them succeed. Run the commands yourself first. Never weaken, skip or delete a test or a check to get there: Ralph repeats the checks elsewhere, in a clean copy of what is committed, so nothing is won by making them pass in any other way.

## Project Context

{{learnings}}
`,
  "feature_verify": `# Final Verification

All stories have been implemented, on the branch \`{{branch}}\`. Perform a comprehensive review. Change nothing.

## Verification Commands

{{verifyCommands}}

{{result}}

## Review Checklist

1. **Test Coverage**: Are all new functions/routes tested?
2. **Acceptance Criteria**: Does each story meet ALL criteria?
3. **Code Quality**: Are patterns consistent with codebase?
4. **Missing Pieces**: Anything incomplete or skipped?

## Stories Implemented

{{storySummaries}}

## Project Context

{{learnings}}

## The answer before this one

{{failure}}

## Your Task

Review the implementation thoroughly. If you find issues, output two lines, each with nothing else on it: the IDs of the stories that need rework, in the form \`<ralph>RESET:US-001,US-003</ralph>\`, and why, in the form \`<ralph>REASON:US-001 missing test coverage, US-003 form validation incomplete</ralph>\`.

If everything is complete and verified, end with a line that holds only \`<ralph {{nonce}}>VERIFIED</ralph>\`.

When you cannot review it, end with \`<ralph {{nonce}}>BLOCKED: [why]</ralph>\` instead: a person will look at it. Ralph repeats the checks elsewhere, in a clean copy of what is committed.
`,
  "gsd_execute": `You are executing a plan. {{presence}}

## Your Mission
Execute the tasks of the plan. Verify each one. Commit atomically.

## Plan Location
{{plan_path}}

Read it in full, and the files that its context names, before you begin. It is plan {{id}} of phase {{phase}}: {{title}}
This is attempt {{attempt}}. What an earlier attempt did is still in the working tree and in git: look before you repeat it.

## Tasks
{{tasks}}

## What Ralph runs after your turn
Ralph runs these itself and counts only their result. Ralph repeats the checks elsewhere, in a clean copy of what is committed, so nothing is won by making them pass in any other way:

{{checks}}

What else the plan wants verified is for you to do; Ralph does not run it:

{{not_checkable}}

## What went wrong last time
{{failure}}

## Verification Protocol
After EVERY task:
1. Verify it as its \`<verify>\` says
2. If it fails, retry the task ONCE
3. If it still fails, signal ###TASK_FAILED:{task name}### and STOP

After ALL tasks:
1. Verify all that the plan's \`<verification>\` names
2. ALL of it must hold before you create the SUMMARY
3. If any of it fails, signal ###PLAN_FAILED:{check name}### and STOP

## Commit Protocol
After each task passes verification, in the form \`{type}({phase}-{plan}): {task_name}\`:

\`\`\`bash
git add <files>
git commit -m "feat({{id}}): <task name>"
\`\`\`

Do not push. Do not edit \`## Current Position\` of .planning/STATE.md, nor .planning/ROADMAP.md: Ralph does.
Decisions, issues and what the next session must know belong in the other sections of STATE.md.

## Completion Signal
When ALL tasks are done AND ALL verification passes:
1. Create {{summary_path}}: what was built, which decisions were taken, deviations from the plan, the commits
2. Print as the last line, by itself: ###PLAN_COMPLETE {{nonce}}###

## Failure Signals
Each on a line of its own:
- ###TASK_FAILED:{name}### - a task could not be completed
- ###PLAN_FAILED:{check}### - the plan's verification failed
- ###BLOCKED:{reason}### or \`<ralph {{nonce}}>BLOCKED: [why]</ralph>\` - you cannot continue, a person is needed: an honest result, which costs no retry

## Rules
- NO placeholders or stubs
- NO skipping verification
- NO continuing after failure
- If uncertain, ###BLOCKED:uncertain###
`,
  "gsd_summary": `Plan {{id}} was executed and has passed its verification, but its SUMMARY is missing. Write it, and nothing else.

## The plan
{{plan_path}}: {{title}}

{{tasks}}

## What to write
Create {{summary_path}}: what was built, which decisions were taken, deviations from the plan, the commits
(\`git log --oneline\` shows them). Change no other file.

Then print as the last line, by itself: ###PLAN_COMPLETE {{nonce}}###
When you cannot write it, print \`<ralph {{nonce}}>BLOCKED: [why]</ralph>\` by itself instead: a person will look at it.
`,
  "review": `# Review one change

You work in a git repository. Another agent has worked on the item below and says that it is done; Ralph's checks pass. You are the reviewer, not the author: find out whether it is done, and done well.

## The item

{{item}}

## What was changed

{{change}}

## How to review

1. Compare every acceptance criterion with what the code does. Read the code around the change, and run it where that tells more. What a comment, a commit message or the author says proves nothing.
2. Look for what tests do not show: a criterion that is met in name only, a result that is written in for the cases that are tested, an error that is swallowed, a test that was deleted, skipped or weakened, something else that broke.
3. Judge this item, not the whole project: what was wrong before and is not asked for is no reason to reject. Neither is taste.

Change nothing in this repository: no file, no commit, no branch. A review that writes counts as none.

## How to answer

{{answer}}
`,
  "spec_build": `# Build one task

You work in a git repository. Do the one task below and nothing else.

The spec that it comes from: \`{{spec}}\`

## The task

{{item}}

This is attempt {{attempt}}.

## What Ralph checks after your turn

{{checks}}

The task stays done only when every check succeeds, run by Ralph itself, whatever you say about it.

## What went wrong last time

{{failure}}

## How to work

1. Read the task, the parts of the spec that it is about, and the code around it.
2. Make the smallest change that does the task. Follow the conventions that the code already has.
3. Run the checks and fix your change until they pass. Never weaken, skip or delete a test or a check to get there.
4. Commit your work on the current branch with the subject \`feat: {{id}} - {{name}}\`. Do not push, switch branches, merge, stash, or discard changes that are not yours.
5. Then say that it is done: \`ralph task done {{id}}\`. Run it once, at the end, and for no other task.
6. Something wrong that is not part of the task: \`ralph issue add "what you found, and where"\`. Do not fix it now.

\`ralph\` is on your PATH; \`ralph query\` shows the plan. What you say with it is a claim: Ralph writes the plan after its checks. Leave \`ralph/plan.jsonl\` and \`ralph.config.json\` alone: what you write into them is reverted.

When you cannot finish the task, because something is missing, contradictory or impossible, do not run \`ralph task done\`: end your answer with \`<ralph {{nonce}}>BLOCKED: [why]</ralph>\` on a line of its own. A person will look at it at once; it is an honest result and costs no attempt. Ralph repeats the checks elsewhere, in a clean copy of what is committed, so nothing is won by making them pass in any other way.
`,
  "spec_decompose": `# Take a task apart

You work in a git repository. The agent that worked on this task ran out of time or of context before it was done: the task is too large for one turn. Cut it into parts. Implement nothing.

The spec: \`{{spec}}\`

## The task

{{item}}

## How far the last turn came

{{log}}

## What went wrong last time

{{failure}}

## How to work

1. Look at the log above and at the working tree (\`git status\`, \`git diff\`): what was done may still be there, finished or not.
2. Add two to five parts that together are the task, each small enough for one turn, the first one taking up what is there:

   \`\`\`sh
   ralph task add "the first part" --parent {{id}} --notes "…" --accept "Verify: \\\`command\\\`"
   ralph task add "the second part" --parent {{id}} --deps t-FIRST --accept "…"
   \`\`\`

   \`ralph query tasks\` shows their ids. What the whole task had to meet, the parts together must meet: Ralph gives the commands of the whole to the part that comes last.
3. Do not add a part that is the whole task again.

Ralph takes the task out of the plan when you have ended; whatever waited for it then waits for all its parts. Change no file. \`ralph\` is on your PATH. Leave \`ralph/plan.jsonl\` alone: what you write into it is reverted.

When the task cannot be taken apart, end your answer with \`<ralph {{nonce}}>BLOCKED: [why]</ralph>\` on a line of its own: a person will look at it.
`,
  "spec_investigate": `# Look into the issues

You work in a git repository. All tasks are done; these issues were found on the way. Settle them.

The spec: \`{{spec}}\`

## The issues

{{item}}

## What went wrong last time

{{failure}}

## How to work

For each issue find its cause, then do one of these:

- It is real, and the spec asks for it to work: \`ralph task add "what to do" --notes "the cause, and where" --accept "how to see that it is fixed. Verify: \\\`command\\\`" --created-from ISSUE_ID\`, then \`ralph issue done ISSUE_ID\`. One task an issue, and only for work that must be done.
- It is not real, is fixed already, or is no matter of this spec: \`ralph issue done ISSUE_ID\`, and say why in your answer.

Do not fix anything in this turn, and do not add issues for the sake of completeness. \`ralph\` is on your PATH; \`ralph query issues\` shows the list. Leave \`ralph/plan.jsonl\` alone: what you write into it is reverted.

When you cannot find out, end your answer with \`<ralph {{nonce}}>BLOCKED: [why]</ralph>\` on a line of its own: a person will look at it. Ralph checks what you add elsewhere, in a clean copy of what is committed.
`,
  "spec_plan": `# Plan a spec

You work in a git repository. Find what is missing between the spec and the code, and write it down as tasks. Implement nothing.

The spec: \`{{spec}}\`

## What the plan holds already

{{item}}

## What went wrong last time

{{failure}}

## How to work

1. Read the spec as a whole, then the code that it is about. A requirement that the code already meets needs no task: check, do not assume.
2. Cut the gap into tasks. Each is done by a fresh agent in one turn that sees only the task, the spec and the code: small, with one purpose, and leaving the project in working order.
3. Add them with the \`ralph\` command, which is on your PATH. Several at once, one JSON object a line; \`id\` only where another task depends on it:

   \`\`\`sh
   ralph task add - <<'TASKS'
   {"id": "t-parse", "name": "Parse the header", "notes": "lib/header.ts; keep the old signature", "accept": "Verify: \`npm test -- header\`"}
   {"name": "Report a bad header", "deps": ["t-parse"], "priority": "high", "accept": "Exit code 2 with the line number. Verify: \`npm test -- report\`"}
   TASKS
   \`\`\`

   One alone: \`ralph task add "Parse the header" --notes "…" --accept "…" --deps t-1a2b --priority high\`.
4. \`accept\` says how one can see that the task is done. A command that must succeed is named in the form \`\`Verify: \`command\` \`\`; Ralph runs these, and nothing else in back-ticks. Name one wherever there is one.
5. \`deps\` names tasks that must be done before. No task may depend on itself by way of others.
6. Look at the result with \`ralph query tasks --text\`.

Write no file: neither code nor \`ralph/plan.jsonl\`, which only the \`ralph\` command changes. A task of the same name is brought up to date, not doubled.

When all tasks are in the plan, end with the line \`[RALPH] PLAN_COMPLETE {{nonce}}: Added N tasks\`. When the code already meets the whole spec, add none and end with \`[RALPH] PLAN_COMPLETE {{nonce}}: Added 0 tasks\`.

When the spec cannot be planned, because it is contradictory or something is missing, end with \`<ralph {{nonce}}>BLOCKED: [why]</ralph>\` on a line of its own instead: a person will look at it. Ralph repeats the checks that you name elsewhere, in a clean copy of what is committed.
`,
  "spec_verify": `# Verify what was done

You work in a git repository. Every task of the plan is marked as done. Find out whether that is so: you are the reviewer, not the author.

The spec: \`{{spec}}\`

## The tasks

{{item}}

## What Ralph's checks say

{{checks}}

## What went wrong last time

{{failure}}

## How to work

1. For each task, compare what its \`Accepted when\` and the spec demand with what the code does. Read the code; run it. A claim in a commit message or a comment proves nothing.
2. A task that falls short, or whose check failed above: \`ralph task reject ID "what is missing, exactly, and how you saw it"\`. It goes back to be built again with your reason in its prompt.
3. Where the way that was taken cannot lead there, reject it and add the new one: \`ralph task add "…" --notes "…" --accept "…" --supersedes ID\`. It keeps the commands of the old one.
4. Something wrong that belongs to no task: \`ralph issue add "what you found, and where"\`.
5. When nothing was rejected and every check passed: \`ralph task accept\`. It takes all done tasks out of the plan. Then end with the line \`[RALPH] SPEC_COMPLETE\`; otherwise with \`[RALPH] SPEC_INCOMPLETE\`.

Change no code. \`ralph\` is on your PATH; \`ralph query tasks\` shows every field. Leave \`ralph/plan.jsonl\` alone: what you write into it is reverted. After your turn Ralph runs its checks again; what you accepted comes back when one fails. They are repeated elsewhere too, in a clean copy of what is committed.

When you cannot find out, end with \`<ralph {{nonce}}>BLOCKED: [why]</ralph>\` on a line of its own instead: a person will look at it.
`,
  "sprint_goal": `# Analyse the goal

You work alone in a git repository. This is iteration {{iteration}} of a sprint; each iteration is a fresh process that knows only this page and the repository.

## The goal

{{goal}}

## Steps so far

{{steps}}

## What went wrong last time

{{failure}}

## What to do now

1. Look at the repository, and at what has been done already.
2. Break what is left of the goal into concrete steps, each small enough for one iteration, and add them by \`ralph step add\`.
3. Then carry out the first pending step, and complete it.

## How the sprint works

{{rules}}

## What Ralph checks before the sprint counts as complete

{{checks}}
`,
  "sprint_reflection": `# Reflect

You work alone in a git repository. This is iteration {{iteration}} of a sprint; each iteration is a fresh process that knows only this page and the repository. No step is pending.

## The goal

{{goal}}

## All steps

{{steps}}

## What went wrong last time

{{failure}}

## What to do now

Look at what the repository holds against the goal: is all of it reached, are edge cases or tests missing, is the documentation right? Then choose one:

- The goal is reached: say so, with a detailed summary.
- More work is needed: add the steps.
- You cannot continue: ask for a person.

## How the sprint works

{{rules}}

## What Ralph checks before the sprint counts as complete

{{checks}}
`,
  "sprint_rules": `The sprint's state is \`{{file}}\`. Ralph keeps it; you change it by these commands, from any folder:

- \`ralph step add "what to do"\` adds a step and prints its id. \`ralph step add -\` reads a longer text from standard input.
- \`ralph step done ID\` completes one step. Complete a step only when its work is done and committed.
- \`ralph step list\` shows all steps.

Commit your work on the current branch. Do not push, switch branches, merge, stash, or discard changes that are not yours. Leave \`ralph.config.json\` alone.

When the whole goal is reached, and only then, end your answer with a line of its own that begins with \`RALPH_COMPLETE {{nonce}}:\` and continues with a summary of what was achieved. Ralph runs its checks before it believes that. Ralph repeats the checks elsewhere, in a clean copy of what is committed, so nothing is won by making them pass in any other way.

When you cannot continue without a person, end your answer with \`<ralph {{nonce}}>BLOCKED: [why]</ralph>\` on a line of its own. The step is set aside, or the sprint stops where no step is in progress, and a person will look at it; it is an honest result and costs no attempt.

Instead of these signals you may end your answer with one JSON object: \`status\` (\`continue\`, \`goal-complete\` or \`needs-human\`), \`summary\`, \`completedStepIds\`, \`pendingSteps\` (each with \`id: null\` and \`prompt\`), \`goalCompleteSummary\`, \`humanNeeded\`.
`,
  "sprint_step": `# Carry out one step

You work alone in a git repository. This is iteration {{iteration}} of a sprint; each iteration is a fresh process that knows only this page and the repository.

## The step

{{step}}

## The goal it belongs to

{{goal}}

## All steps

{{steps}}

## What went wrong last time

{{failure}}

## What to do now

1. Carry out this one step, tests included.
2. Complete it: \`ralph step done {{id}}\`.
3. Add steps when you found that more is needed.
4. End your turn. Other steps are other iterations.

## How the sprint works

{{rules}}

## What Ralph checks before the sprint counts as complete

{{checks}}
`,
};
