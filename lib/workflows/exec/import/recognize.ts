import { isPlain, type Plain, plain, plains, tryJson } from "../../plain.ts";
import { usage } from "../../../cli/command.ts";
import { onOneLine } from "../../../prompts/render.ts";
import { basename, dirname } from "node:path";
import { proseLines } from "../../../backlog/fences.ts";

/** The keys of an item that are read, in any of the formats. */
const ITEM_KEYS = `
  id title description acceptanceCriteria priority passes status notes completionNotes dependsOn dependencies blockedBy
  steps category details testStrategy subtasks
`.trim().split(/\s+/);
const PRIORITIES: Readonly<Record<string, number>> = { critical: 0, high: 1, medium: 2, low: 3 };
const STORY_TOP = ["branchName", "userStories", "project", "projectName", "productName", "name", "description"];
const MAIN_TAG = "master";

/**
 * The formats of JSON, the narrower one first. ralph-tui: a `prd.json` with `name` (or `project`), `metadata`, and
 * `userStories`, of which only `id`, `title` and `passes` are required
 * (github.com/subsy/ralph-tui, src/plugins/trackers/builtin/json/index.ts). snarktank/ralph: the same with `branchName`
 * and `description` (github.com/snarktank/ralph, prd.json.example). Taskmaster: `{"tasks": […]}`, or a list for each
 * tag, `{"master": {"tasks": […]}}` (docs.task-master.dev, capabilities/task-structure; .cursor/rules/tasks.mdc of
 * claude-task-master for tags). openralph: a list of items, or an object with `metadata` and `items`
 * (github.com/shuv1337/openralph, src/plan.ts).
 */
const JSON_PLANS: readonly PlanReader[] = [
  {
    tool: "ralph-tui",
    matches: ({ data }) => hasStories(data) && isOfTui(plain(data)),
    read: ({ data }) => storyList(plain(data), "ralph-tui"),
  },
  {
    tool: "snarktank/ralph",
    matches: ({ data }) => hasStories(data),
    read: ({ data }) => storyList(plain(data), "snarktank/ralph"),
  },
  {
    tool: "Taskmaster",
    matches: ({ data }) => Object.keys(listsOf(plain(data))).length > 0,
    read: ({ data }, { tag }) => taskList(listsOf(plain(data)), tag),
  },
  {
    tool: "openralph",
    matches({ data }) {
      const items = plains(itemsOf(data));
      return items.length > 0 && items.every((item) => textOf(item, "description", "title") !== "") &&
        items.some((item) => ["steps", "passes", "category"].some((key) => Object.hasOwn(item, key)));
    },
    read({ data }) {
      const title = textOf(plain(plain(data)["metadata"]), "title");
      const left = otherKeys([plain(data)], ["items"]);
      return planOf(plains(itemsOf(data)), { tool: "openralph", title, left, called: "items" });
    },
  },
];

function planOf(
  items: readonly Plain[],
  { tool, title, branch = "", left, called }: Pick<ExternalPlan, "left" | "title" | "tool"> & {
    readonly branch?: string;
    /** The file calls its items so. */
    readonly called: string;
  },
): ExternalPlan {
  const other = otherKeys(items, ITEM_KEYS).map((key) => `${key} of the ${called}`);
  return { tool, title, branch: branch || null, items: items.map(itemOf), left: [...left, ...other] };
}

function itemOf(item: Plain): ExternalItem {
  const { acceptanceCriteria, priority, steps, subtasks, testStrategy } = item;
  const title = onOneLine(textOf(item, "title")) || onOneLine(textOf(item, "description"));
  const said = ["description", "details", "notes", "completionNotes"].map((key) => textOf(item, key));
  const category = textOf(item, "category");
  return {
    id: textOf(item, "id"),
    title,
    criteria: [
      ...plains(subtasks).filter((subtask) => !isLeft(subtask)).map(criterionOf),
      ...[acceptanceCriteria, steps, testStrategy].flatMap(textsOf),
    ],
    notes: [
      ...said.filter((text) => text !== "" && text !== title),
      ...category === "" ? [] : [`Category: ${category}`],
    ],
    done: isDone(item),
    priority: typeof priority === "number" ? priority : PRIORITIES[textOf(item, "priority").toLowerCase()] ?? null,
    dependsOn: ["dependsOn", "dependencies", "blockedBy"].flatMap((key) => textsOf(item[key])),
  };
}

/** A subtask is part of its task's work: one of its criteria. */
function criterionOf(subtask: Plain): string {
  const parts = ["title", "description", "details"].map((key) => textOf(subtask, key)).filter((text) => text !== "");
  return `${parts.join(": ")}${isDone(subtask) ? " (done already)" : ""}`;
}

function isDone({ passes, status }: Plain): boolean {
  return typeof passes === "boolean"
    ? passes
    : /^(done|complete|completed|passed|closed)$/i.test(textOf({ status }, "status"));
}

function hasStories(data: unknown): boolean {
  return Array.isArray(plain(data)["userStories"]);
}

function isOfTui({ name, userStories }: Plain): boolean {
  return typeof name === "string" ||
    plains(userStories).some((story) =>
      ["dependsOn", "labels", "completionNotes"].some((key) => Object.hasOwn(story, key))
    );
}

function storyList(data: Plain, tool: string): ExternalPlan {
  return planOf(plains(data["userStories"]), {
    tool,
    title: textOf(data, "name", "project", "projectName", "productName"),
    branch: textOf(data, "branchName"),
    left: otherKeys([data], STORY_TOP),
    called: "stories",
  });
}

function itemsOf(data: unknown): unknown {
  return isPlain(data) ? data["items"] : data;
}

/** The lists of tasks by tag; the one of a file without tags is called "". */
function listsOf(data: Plain): Readonly<Record<string, readonly Plain[]>> {
  const lists = Array.isArray(data["tasks"]) ? [["", data] as const] : Object.entries(data);
  return Object.fromEntries(lists.flatMap(([tag, value]) => {
    const tasks = plain(value)["tasks"];
    const isTask = (task: Plain): boolean => textOf(task, "id") !== "" && textOf(task, "title") !== "";
    return Array.isArray(tasks) && plains(tasks).every(isTask) ? [[tag, plains(tasks)]] : [];
  }));
}

function taskList(lists: Readonly<Record<string, readonly Plain[]>>, tag: string | undefined): ExternalPlan {
  const name = chooseTag(lists, tag);
  const tasks = lists[name] ?? [];
  return planOf(tasks.filter((task) => !isLeft(task)), {
    tool: "Taskmaster",
    title: name === MAIN_TAG ? "" : name,
    left: [
      ...tasks.filter(isLeft).map((task) => `task ${textOf(task, "id")}, which is ${textOf(task, "status")}`),
      ...Object.keys(lists).filter((one) => one !== name).map((one) => `the tag ${one}`),
    ],
    called: "tasks",
  });
}

/** The tag that is named, the main one, or the only one that holds tasks. @throws {RalphError} usage */
function chooseTag(lists: Readonly<Record<string, readonly Plain[]>>, named: string | undefined): string {
  const names = Object.keys(lists);
  const filled = names.filter((name) => (lists[name] ?? []).length > 0);
  if (named === undefined) {
    if (filled.includes(MAIN_TAG) || (filled.length === 0 && names.includes(MAIN_TAG))) return MAIN_TAG;
    if (filled.length <= 1) return filled[0] ?? names[0] ?? "";
  } else if (names.includes(named)) return named;
  const problem = named === undefined ? "the file has several lists of tasks" : `there is no tag ${named} in the file`;
  const isTagged = names.join("") !== "";
  throw usage(problem, isTagged ? `name one by \`--tag\`: ${names.join(", ")}` : "it has no tags: leave `--tag` out");
}

/** A task that is not to be done is no story. */
function isLeft(task: Plain): boolean {
  return /^(cancelled|canceled|deferred)$/i.test(textOf(task, "status"));
}

/** The first of these keys that holds text or a number, as one trimmed text; "" where none does. */
function textOf(fields: Plain, ...keys: readonly string[]): string {
  for (const key of keys) {
    const value = fields[key];
    if (typeof value === "string" && value.trim() !== "") return value.trim();
    if (typeof value === "number") return String(value);
  }
  return "";
}

/** Texts of a list, or one text as a list of one; of objects what they say in `text`, `description`, `title` or `criterion`. */
function textsOf(value: unknown): readonly string[] {
  return [value].flat().map((one) =>
    isPlain(one) ? textOf(one, "text", "description", "criterion", "title") : textOf({ one }, "one")
  )
    .filter((text) => text !== "");
}

/** Keys of the objects that none of these names are, each once. */
function otherKeys(objects: readonly Plain[], known: readonly string[]): readonly string[] {
  return [...new Set(objects.flatMap((fields) => Object.keys(fields)))].filter((key) => !known.includes(key));
}

const TASK_REGEXP = /^\s*[-*]\s+\[([ xX])\]\s+(?:\*\*)?(T\d+[a-z]?)(?:\*\*)?[.:]?\s+(.+)$/;
/** `[P]`: may run beside others. `[US1]`: of this user story. */
const MARK_REGEXP = /^\[(P|US\d+)\]\s*/i;

/**
 * spec-kit's `tasks.md`: below a heading for each phase lines `- [ ] T012 [P] [US1] What is to be done`, in the order in
 * which they are to be done; above them maybe `**Goal**:` and `**Independent Test**:`
 * (github.com/github/spec-kit, templates/tasks-template.md). Its folder has the name of the branch.
 */
const SPEC_KIT: PlanReader = {
  tool: "spec-kit",
  matches: ({ data, text }) => data === undefined && text.split("\n").some((line) => TASK_REGEXP.test(line)),
  read({ text }, { path }) {
    const folder = basename(dirname(path));
    return {
      tool: "spec-kit",
      title: /^#\s+Tasks:\s*(.+)$/m.exec(text)?.[1]?.trim() ?? "",
      branch: /^\d{3,}-[\w.-]+$/.test(folder) ? folder : null,
      items: tasksIn(text),
      left: [],
    };
  },
};

function tasksIn(text: string): readonly ExternalItem[] {
  const items: ExternalItem[] = [];
  let phase: readonly string[] = [];
  for (const { text: line } of proseLines(text)) {
    const [, heading] = /^##\s+(.+)$/.exec(line) ?? [];
    if (heading !== undefined) phase = [heading.trim()];
    const [, label, said] = /^\*\*(Goal|Purpose|Independent Test)(?::\*\*|\*\*:)\s*(.+)$/i.exec(line) ?? [];
    if (label !== undefined) phase = [...phase, `${label}: ${said}`];
    const [, mark, id = "", rest = ""] = TASK_REGEXP.exec(line) ?? [];
    if (mark === undefined) continue;
    const { words, story } = withoutMarks(rest);
    items.push({
      id,
      title: onOneLine(words),
      criteria: [words],
      notes: [...phase, ...story === null ? [] : [`User story ${story}`]],
      done: mark !== " ",
      priority: null,
      dependsOn: [],
    });
  }
  return items;
}

function withoutMarks(text: string): { readonly words: string; readonly story: string | null } {
  let words = text;
  let story: string | null = null;
  for (let found = MARK_REGEXP.exec(words); found !== null; found = MARK_REGEXP.exec(words)) {
    if (found[1]?.toUpperCase() !== "P") story = found[1] ?? null;
    words = words.slice(found[0].length);
  }
  return { words: words.trim(), story };
}

/** The formats, the narrower one first. */
const READERS: readonly PlanReader[] = [...JSON_PLANS, SPEC_KIT];

/** The tools whose files can be read, for messages. */
export const KNOWN_TOOLS: readonly string[] = READERS.map(({ tool }) => tool);

/** The reader for a file; `null` where it is of no format that is known. Pure. */
export function readerFor(text: string): { readonly reader: PlanReader; readonly source: PlanSource } | null {
  const source = { text, data: tryJson(text) };
  const reader = READERS.find((one) => one.matches(source));
  return reader === undefined ? null : { reader, source };
}

/** One piece of work. */
export interface ExternalItem {
  /** As the file names it; "" where it names none. */
  readonly id: string;
  readonly title: string;
  readonly criteria: readonly string[];
  /** Other things that the file says of it, for the agent. */
  readonly notes: readonly string[];
  readonly done: boolean;
  /** The lowest comes first; `null` where the file has none. */
  readonly priority: number | null;
  /** Ids of items that come first. */
  readonly dependsOn: readonly string[];
}

/** A whole file. */
export interface ExternalPlan {
  /** The tool whose format it is. */
  readonly tool: string;
  /** The whole plan's title; "" if it has none. */
  readonly title: string;
  /** `null` where the file names none. */
  readonly branch: string | null;
  readonly items: readonly ExternalItem[];
  /** Things that a PRD has no place for, and items that are not to be done. */
  readonly left: readonly string[];
}

/** Reads one format. */
interface PlanReader {
  /** The tool whose format it is. */
  readonly tool: string;
  /** True where data or text is of this format, whatever else is wrong with it. */
  matches(source: PlanSource): boolean;
  /**
   * The file's path is for formats whose folder says something; `tag` names one of several lists.
   *
   * @throws {RalphError} usage where the line must say which part is meant
   */
  read(source: PlanSource, hint: { readonly path: string; readonly tag: string | undefined }): ExternalPlan;
}

/** A file: its text, and the data where it is JSON. */
interface PlanSource {
  readonly text: string;
  /** `undefined` where it is no JSON. */
  readonly data: unknown;
}
