import { isPlain, type Plain, plains } from "../../plain.ts";
import { RalphError } from "../../../errors/ralph_error.ts";
import type { ExternalItem, PlanReader } from "./external_plan.ts";
import { isDoneWord, onOneLine, otherKeys, textOf, textsOf } from "./fields.ts";

const TASK_KEYS = [
  "id",
  "title",
  "description",
  "status",
  "dependencies",
  "priority",
  "details",
  "testStrategy",
  "acceptanceCriteria",
  "subtasks",
];
const MAIN_TAG = "master";

/**
 * Taskmaster's `tasks.json`: `{"tasks": […]}`, or a list for each tag, `{"master": {"tasks": […]}}`. A task has `id`,
 * `title`, `description`, `details`, `testStrategy`, `status`, `dependencies`, `priority` and `subtasks` of the same
 * kind (docs.task-master.dev, capabilities/task-structure; .cursor/rules/tasks.mdc of claude-task-master for tags).
 */
export const TASK_MASTER: PlanReader = {
  tool: "Taskmaster",
  matches: ({ data }) => isPlain(data) && Object.keys(listsOf(data)).length > 0,
  read({ data }, { tag }) {
    const lists = listsOf(data as Plain);
    const name = chooseTag(lists, tag);
    const tasks = lists[name] ?? [];
    const kept = tasks.filter((task) => !isLeft(task));
    const other = [...new Set(tasks.flatMap((task) => otherKeys(task, TASK_KEYS)))];
    return {
      tool: "Taskmaster",
      title: name === MAIN_TAG || name === "" ? "" : name,
      branch: null,
      items: kept.map(itemOf),
      left: [
        ...tasks.filter(isLeft).map((task) => `task ${textOf(task, "id")}, which is ${textOf(task, "status")}`),
        ...Object.keys(lists).filter((one) => one !== name).map((one) => `the tag ${one}`),
        ...other.map((key) => `${key} of the tasks`),
      ],
    };
  },
};

/** The lists of tasks by tag; the one of a file without tags is called "". */
function listsOf(data: Plain): Readonly<Record<string, readonly Plain[]>> {
  if (Array.isArray(data["tasks"])) return areTasks(data["tasks"]) ? { "": plains(data["tasks"]) } : {};
  return Object.fromEntries(
    Object.entries(data).flatMap(([tag, value]) =>
      isPlain(value) && areTasks(value["tasks"]) ? [[tag, plains(value["tasks"])]] : []
    ),
  );
}

function areTasks(value: unknown): boolean {
  return Array.isArray(value) &&
    plains(value).every((task) => textOf(task, "id") !== "" && textOf(task, "title") !== "");
}

/** The tag that is named, the main one, or the only one that holds tasks. @throws {RalphError} usage */
function chooseTag(lists: Readonly<Record<string, readonly Plain[]>>, named: string | undefined): string {
  const names = Object.keys(lists);
  const filled = names.filter((name) => (lists[name] ?? []).length > 0);
  if (named !== undefined && names.includes(named)) return named;
  if (named === undefined && names.includes(MAIN_TAG) && (filled.length === 0 || filled.includes(MAIN_TAG))) {
    return MAIN_TAG;
  }
  if (named === undefined && filled.length <= 1) return filled[0] ?? names[0] ?? "";
  const problem = named === undefined ? "the file has several lists of tasks" : `there is no tag ${named} in the file`;
  throw new RalphError("usage", {
    details: { problem },
    hint: names.join("") === "" ? "it has no tags: leave `--tag` out" : `name one by \`--tag\`: ${names.join(", ")}`,
  });
}

/** A task that is not to be done is no story. */
function isLeft(task: Plain): boolean {
  return /^(cancelled|canceled|deferred)$/i.test(textOf(task, "status"));
}

const PRIORITIES: Readonly<Record<string, number>> = { critical: 0, high: 1, medium: 2, low: 3 };

function itemOf(task: Plain): ExternalItem {
  const subtasks = plains(task["subtasks"]).filter((subtask) => !isLeft(subtask));
  return {
    id: textOf(task, "id"),
    title: onOneLine(textOf(task, "title")),
    criteria: [...subtasks.map(criterionOf), ...textsOf(task["acceptanceCriteria"]), ...textsOf(task["testStrategy"])],
    notes: [textOf(task, "description"), textOf(task, "details")].filter((text) => text !== ""),
    done: isDoneWord(textOf(task, "status")),
    priority: PRIORITIES[textOf(task, "priority").toLowerCase()] ?? null,
    dependsOn: textsOf(task["dependencies"]),
  };
}

/** A subtask is part of its task's work: one of its criteria. */
function criterionOf(subtask: Plain): string {
  const parts = [textOf(subtask, "title"), textOf(subtask, "description"), textOf(subtask, "details")];
  const done = isDoneWord(textOf(subtask, "status")) ? " (done already)" : "";
  return `${parts.filter((part) => part !== "").join(": ")}${done}`;
}
