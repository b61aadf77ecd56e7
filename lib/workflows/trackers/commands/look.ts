import type { Check, LoopView, Next, Verification } from "../../../backlog/types.ts";
import { headlineOf } from "../../../backlog/attempts.ts";
import * as views from "../../../cli/look.ts";
import { hintOf } from "../../../cli/next_step.ts";
import { isWholly } from "../../../config/strict.ts";
import type { RalphContext } from "../../../context/context.ts";
import { requireRepository } from "../../../git/repository.ts";
import { issueParts } from "../../../trackers/backlog.ts";
import { ISSUES, outboxFile, trackerKey } from "../../../trackers/types.ts";
import { nameTracker } from "../../../trackers/open_tracker.ts";
import { readOutbox } from "../../../trackers/claims.ts";
import { countsOf, type Entry, entryOf, type Standings, standingsOf } from "../../../trackers/queue.ts";
import { readSnapshot } from "../../../trackers/snapshot.ts";
import type { IssueData } from "../../../trackers/trust.ts";
import { oneLine } from "../../../ui/text.ts";
import { checksOnce } from "../../checks_once.ts";

const COMMANDS = { run: "ralph run", retry: "ralph run --retry-blocked" };

/** The issues as the newest run has read them. */
async function readIssues(look: views.Look) {
  const { config, repository } = look;
  const { git } = requireRepository(look);
  const tracker = await nameTracker(config.tracker, { git });
  const key = { backlog: ISSUES, scope: trackerKey(tracker) };
  const journal = await views.journalIn(look);
  const parked = await views.parkedIn(look, { name: ISSUES, scope: key.scope }, journal);
  const view: LoopView = { parked, passed: journal?.passed(key) ?? [] };
  const issues = repository === null ? null : await readSnapshot(repository, trackerKey(tracker));
  const isConfined = isWholly(config.sandbox);
  const entries = issues?.map((issue) => entryOf(issue, { config: config.tracker, isConfined }));
  return { tracker, view, found: entries === undefined ? null : standingsOf(entries, view) };
}

/** The next iteration takes this, if no other runner has it. */
function nextOf({ ready, parked, later }: Standings): Next<IssueData> {
  const [first] = ready;
  if (first !== undefined) return { status: "item", item: first.item };
  const blocked = [
    ...parked.map(({ item }) => `${item.id}: parked`),
    ...later.map(({ item }) => `${item.id}: others come first`),
  ];
  return blocked.length > 0 ? { status: "blocked", reasons: blocked } : { status: "done" };
}

/** The issue that the next iteration would take. */
export async function readNext(look: views.Look): Promise<views.NextView> {
  const { tracker, found } = await readIssues(look);
  const parts = issueParts(tracker, { entries: () => Promise.resolve([]), shared: look.config.verify.default });
  const next = found === null
    ? { status: "done", summary: `${COMMANDS.run} reads them first` } as const
    : nextOf(found);
  return await views.nextOfBacklog(look, parts, next, {
    done: "no issue is left",
    retry: COMMANDS.retry,
    dataOf: ({ data: { url }, criteria = [] }) => ({ url, criteria }),
  });
}

/** The state of the issues, and what is still to be said on them. */
export async function readStatus(look: views.Look): Promise<views.StatusView> {
  const { style } = look;
  const { tracker, view, found } = await readIssues(look);
  const waiting = (await readOutbox(outboxFile(look.own.directory))).length;
  const title = `${tracker.name} ${tracker.project}`.trim();
  const wait = waiting === 0 ? [] : [style.warn(`${waiting} updates wait for ${tracker.host}`)];
  if (found === null) {
    const lines = [...wait, style.dim("no issues are read yet")];
    return { title, data: { tracker, issues: null, waiting }, lines, problem: null, hint: `\`${COMMANDS.run}\`` };
  }
  const { passed, ready, later, parked, left } = found;
  const reasonOf = (id: string): string => view.parked.find((one) => one.id === id)?.reason ?? "";
  const issues = [
    ...passed.map((entry) => rowOf(entry, "passed", "in review")),
    ...ready.map((entry) => rowOf(entry, "open", "")),
    ...later.map((entry) => rowOf(entry, "open", `after ${entry.issue.waitsFor.join(", ")}`)),
    ...parked.map((entry) => rowOf(entry, "parked", headlineOf(reasonOf(entry.item.id)))),
    ...left.map((entry) => rowOf(entry, "parked", `left: ${entry.left}`)),
  ];
  const counts = countsOf(found);
  return {
    title,
    data: { tracker, counts, issues, waiting },
    open: issues.filter(({ state }) => state === "open"),
    lines: [
      views.countLine(counts, { items: "issues" }, style),
      ...wait,
      ...issues.map(({ url, why, ...issue }) => {
        const notes = [why, url ?? ""].filter((text) => text !== "").map((text) => style.dim(oneLine(text)));
        return `  ${views.itemLine({ ...issue, notes }, style)}`;
      }),
    ],
    problem: null,
    hint: hintOf(nextOf(found), COMMANDS),
  };
}

function rowOf({ item: { id, title, data: { url } } }: Entry, state: views.ListedItem["state"], why: string) {
  return { id, title, url, state, why };
}

/** The checks of what has passed and is not closed, and those that hold for every item. */
export async function verifyPassed(ralph: RalphContext): Promise<Verification> {
  const { verify } = await import("../../../checks/verify.ts"); // the views run no check
  const { withoutTokens } = await import("./run.ts");
  const tracker = await nameTracker(ralph.config.tracker, requireRepository(ralph));
  const passed = ralph.journal.passed({ backlog: ISSUES, scope: trackerKey(tracker) });
  const own = passed.flatMap(({ checks }) => checks as readonly Check[]);
  const shared = ralph.config.verify.default.map((command): Check => ({ name: command, command }));
  return await verify(await withoutTokens(ralph), checksOnce([...own, ...shared]));
}
