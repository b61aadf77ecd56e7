import { isPlain, type Plain, plains } from "../../plain.ts";
import type { ExternalItem, ExternalPlan, PlanReader } from "./external_plan.ts";
import { isDoneWord, onOneLine, otherKeys, textOf, textsOf } from "./fields.ts";

const TOP_KEYS = ["branchName", "userStories", "project", "projectName", "productName", "name", "description"];
const STORY_KEYS = [
  "id",
  "title",
  "description",
  "acceptanceCriteria",
  "priority",
  "passes",
  "status",
  "notes",
  "completionNotes",
  "dependsOn",
  "dependencies",
];

const DEPENDENCIES = ["dependsOn", "dependencies", "blockedBy"] as const;

/**
 * A `prd.json` with `userStories`. snarktank/ralph: `project`, `branchName`, `description`, and per story `id`, `title`,
 * `description`, `acceptanceCriteria`, `priority`, `passes`, `notes` (github.com/snarktank/ralph, prd.json.example).
 * ralph-tui: `name` (or `project`), `metadata`, and per story also `dependsOn`, `labels`, `completionNotes`; only `id`,
 * `title` and `passes` are required (github.com/subsy/ralph-tui, src/plugins/trackers/builtin/json/index.ts).
 */
export function storyListReader(tool: "snarktank/ralph" | "ralph-tui"): PlanReader {
  return {
    tool,
    matches: ({ data }) =>
      isPlain(data) && Array.isArray(data["userStories"]) && (tool === "snarktank/ralph" || isOfTui(data)),
    read: ({ data }) => readStories(data as Plain, tool),
  };
}

function isOfTui(data: Plain): boolean {
  if (typeof data["name"] === "string") return true;
  return plains(data["userStories"]).some((story) =>
    ["dependsOn", "labels", "completionNotes"].some((key) => Object.hasOwn(story, key))
  );
}

function readStories(data: Plain, tool: string): ExternalPlan {
  const stories = plains(data["userStories"]);
  const other = [...new Set(stories.flatMap((story) => otherKeys(story, STORY_KEYS)))];
  const branch = textOf(data, "branchName");
  return {
    tool,
    title: textOf(data, "name", "project", "projectName", "productName"),
    branch: branch === "" ? null : branch,
    items: stories.map(itemOf),
    left: [...otherKeys(data, TOP_KEYS), ...other.map((key) => `${key} of the stories`)],
  };
}

function itemOf(story: Plain): ExternalItem {
  const { priority, passes, acceptanceCriteria } = story;
  const description = textOf(story, "description");
  const title = onOneLine(textOf(story, "title")) || onOneLine(description);
  return {
    id: textOf(story, "id"),
    title,
    criteria: textsOf(acceptanceCriteria),
    notes: [description, textOf(story, "notes"), textOf(story, "completionNotes")].filter((text) =>
      text !== "" && text !== title
    ),
    done: typeof passes === "boolean" ? passes : isDoneWord(textOf(story, "status")),
    priority: typeof priority === "number" ? priority : null,
    dependsOn: DEPENDENCIES.flatMap((key) => textsOf(story[key])),
  };
}
