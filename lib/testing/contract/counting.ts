import type { Check, Item, PassedItem } from "../../backlog/types.ts";
import { type Bench, must, plain, type Rules, same } from "./bench.ts";

/** The duties of overview(), passed(), reopen() and record(). */
export const COUNTING: Rules = {
  async "the counts of overview() add up"(bench) {
    await checkCounts(bench);
    await bench.end(await bench.item(), "verified");
    await checkCounts(bench);
    const next = await bench.next();
    if (next.status !== "item") return;
    await bench.begin(next.item);
    await bench.settle(next.item, await bench.lastAttempt(next.item));
    await checkCounts(bench);
  },

  async "work() has the checks, and overview() names no item that has some as unchecked"(bench) {
    if (bench.backlog.unverified === "accept") return;
    const item = await bench.item();
    must((await bench.work(item)).checks.length > 0, 'work() must have a check in the store "checked"');
    const { unchecked } = await bench.overview();
    must(!unchecked.includes(item.id), `${item.id} has checks and is called unchecked`);
  },

  async "overview() names items without a check as unchecked"(checked, open) {
    if (checked.backlog.unverified === "accept") return;
    const bench = await open("unchecked");
    const item = await bench.item();
    must((await bench.work(item)).checks.length === 0, 'the first item of the store "unchecked" must have no check');

    const { unchecked } = await bench.overview();

    must(unchecked.includes(item.id), `${item.id} has no check and is not called unchecked`);
  },

  async "passed() lists what has passed, with its checks, and nothing that was sent back"(bench) {
    const { backlog } = bench;
    if (backlog.passed === undefined) return;
    const item = await bench.item();
    const { checks } = await bench.work(item);
    const before = await bench.overview();
    must(await listed(bench, item) === undefined, `${item.id} is listed as passed before its first attempt`);
    await bench.end(item, "verified");
    const after = await bench.overview();
    if (after.passed <= before.passed) return;

    const passed = await listed(bench, item);

    must(passed !== undefined, `${item.id} has passed and is not listed`);
    const names = passed.checks.map(commandOf);
    for (const check of checks) must(names.includes(commandOf(check)), `passed() lacks the check ${check.name}`);
    if (item.fingerprint !== undefined && passed.fingerprint !== undefined) {
      same(passed.fingerprint, item.fingerprint, "its fingerprint");
    }
  },

  async "reopen() called twice leaves what one call leaves, and the items come again"(bench) {
    const { backlog } = bench;
    if (backlog.reopen === undefined) return;
    const item = await bench.item();
    await bench.end(item, "verified");
    if (await listed(bench, item) === undefined) return;
    const settlement = await bench.sendBack([item.id]);
    const once = await bench.snapshot();

    await bench.sendBack([item.id]);

    same(await bench.snapshot(), once, "the store after the second reopen()");
    must(settlement.status === "open" || settlement.status === "stop", "what was sent back must be open");
    await bench.kill();
    if ((await bench.overview()).total === null) return void await bench.item(); // a free loop plans on
    must(await listed(bench, item) === undefined, `${item.id} was sent back and is listed as passed`);
    must((await bench.offered()).includes(item.id), `${item.id} was sent back and does not come again`);
  },

  async "record() of a run that passed, called twice, leaves what one call leaves, and nothing comes again"(bench) {
    if (bench.backlog.record === undefined) return;
    same((await bench.endAll("verified")).status, "done", "the end of a run in which everything passes");
    const passed = { type: "run-passed", verdict: "verified" } as const;
    plain(await bench.backlog.record(passed) ?? null, "what record() answers");
    const once = await bench.snapshot();

    await bench.backlog.record(passed);

    same(await bench.snapshot(), once, "the store after the second record()");
    same((await bench.next()).status, "done", "what next() answers");
  },

  async "a backlog without a final check builds nothing: its turns may write only what `allow` names"(bench) {
    if (bench.backlog.policy?.final !== false) return;
    must((await bench.work(await bench.item())).allow !== undefined, "without a final check, work() must have `allow`");
  },
};

async function checkCounts(bench: Bench): Promise<void> {
  const { total, passed, open, parked, unchecked } = plain(await bench.overview(), "overview()");
  for (const count of [total ?? 0, passed, open ?? 0, parked, (open ?? Infinity) - unchecked.length]) {
    must(count >= 0, `overview() counts less than nothing: ${count}`);
  }
  if (total !== null && open !== null) same(passed + open + parked, total, "passed, open and parked together");
}

async function listed({ backlog, view }: Bench, { id }: Item): Promise<PassedItem | undefined> {
  return (await backlog.passed?.(view))?.find((one) => one.id === id);
}

function commandOf({ command, name }: Check): string {
  return command ?? name;
}
