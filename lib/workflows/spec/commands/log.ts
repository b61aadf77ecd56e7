import { oneLine, type Style } from "../../../ui/text.ts";
import { findSpec } from "../find_spec.ts";
import { type LogEntry, readLog } from "../history/log.ts";
import { requireRepository } from "../../../git/repository.ts";
import { EXIT } from "../../../errors/ralph_error.ts";
import { type Invocation, styleFor, toJson } from "../../../cli/command.ts";
import { PLAN_FILE } from "../types.ts";
import { openPlan } from "./open_plan.ts";

const NO_TASK = `no task in the history of ${PLAN_FILE}`;

/** `ralph log`: what became of the plan's tasks. A table in a terminal, JSON elsewhere. */
export async function run(invocation: Invocation): Promise<number> {
  const { flags, host, out } = invocation;
  const { root, repository } = await openPlan(invocation);
  const spec = flags.text("spec");
  const log = await readLog({
    root,
    repository: requireRepository({ root, repository }),
    all: flags.has("all"),
    spec: spec === undefined ? undefined : (await findSpec(root, spec, host.environment.cwd))?.name ?? spec,
    branch: flags.text("branch"),
    since: flags.text("since"),
  });
  const isTable = flags.has("text") || (host.terminal.stdout.isTTY === true && !flags.has("json"));
  if (!isTable && log.tasks.length === 0) invocation.say(NO_TASK);
  if (!isTable) out(toJson(log));
  else for (const line of tableLines(log.tasks, styleFor(invocation, "stdout"))) out(line);
  return EXIT.done;
}

function tableLines(tasks: readonly LogEntry[], style: Style): readonly string[] {
  if (tasks.length === 0) return [NO_TASK];
  const rows = tasks.map(({ id, outcome, created, done, accepted, cancelled, branch, desc, rejected }) => {
    const end = accepted ?? cancelled ?? rejected.at(-1) ?? done ?? created;
    return [id, outcome, end.date.slice(0, 16).replace("T", " "), end.commit, branch ?? "", oneLine(desc)] as const;
  });
  const head = ["TASK", "OUTCOME", "WHEN", "COMMIT", "BRANCH", "NAME"] as const;
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const { dim, good, bad, warn } = style;
  const tones: Readonly<Record<string, (text: string) => string>> = {
    accepted: good,
    rejected: bad,
    cancelled: dim,
    decomposed: dim,
    done: warn,
  };
  const widthOf = (column: number): number => column === head.length - 1 ? 0 : widths[column] ?? 0;
  const lineOf = (row: readonly string[], paint: (text: string, column: number) => string): string =>
    row.map((cell, column) => paint(cell.padEnd(widthOf(column)), column)).join("  ");
  return [
    dim(lineOf(head, (cell) => cell)),
    ...rows.map((row) => lineOf(row, (cell, column) => column === 1 ? (tones[row[1]] ?? String)(cell) : cell)),
  ];
}
