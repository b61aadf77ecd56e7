import { PROMPTS } from "../../generated/prompts.ts";
import { formatPrd } from "./format.ts";
import {
  CODEBASE_MAP_FILE,
  PRD_FILE,
  PRD_PROMPT_FILE,
  PROGRESS_FILE,
  PROMPT_FILE,
  UNDERSTAND_PROMPT_FILE,
} from "./paths.ts";
import { DEFAULT_TOPICS } from "./understand/topics_default.ts";

const PROGRESS = `# Ralph progress log

## Codebase Patterns

- (rules that hold for the whole code; read these first)

## Iteration Notes

(Ralph adds a line after each story; agents append what a later story should know.)

---
`;

/** The codebase map that `ralph init` makes. */
export const MAP_TEMPLATE: string = `# Codebase Map

Built over time by \`ralph understand\`: one topic a turn, each fact with its evidence. Other files stay as they are.

## Next Topics (checklist)

Edit this list to fit the repository. A topic is ticked when its note is written.

${DEFAULT_TOPICS.map((topic) => `- [ ] ${topic}`).join("\n")}

## Quick Facts (keep up to date)

- **Language and framework**:
- **How to run**:
- **How to test**:
- **How to check types and lint**:
- **Main entrypoints**:
- **Data store**:

## Do Not Touch (optional)

- (folders and files that are fragile or off-limits)

---

## Iteration Notes

(New notes are appended below; older ones stay.)
`;

/** What `ralph init` makes for the exec workflow: path relative to the root, and text. */
export function scaffoldTexts(): readonly (readonly [path: string, text: string])[] {
  return [
    [PROMPT_FILE, PROMPTS["exec_run"] ?? ""],
    [PRD_PROMPT_FILE, PROMPTS["exec_prd"] ?? ""],
    [PRD_FILE, formatPrd({ branchName: "ralph/feature", userStories: [] })],
    [PROGRESS_FILE, PROGRESS],
    [CODEBASE_MAP_FILE, MAP_TEMPLATE],
    [UNDERSTAND_PROMPT_FILE, PROMPTS["exec_understand"] ?? ""],
  ];
}
