import type { Attempt, Check, Item, PassedItem } from "../../backlog/types.ts";
import { type Bench, contextIn, must, plain, type Rules, same } from "./bench.ts";

/** `next()` owes these. */
export const OFFERING: Rules = {
  async "next(), overview() and passed() change nothing and answer the same again"(bench) {
    const { backlog, view } = bench;
    const before = await bench.snapshot();
    const answers = async (): Promise<string> =>
      JSON.stringify([await bench.next(), await backlog.overview(view), await backlog.passed?.(view)]);

    const first = await answers();

    same(await answers(), first, "the second answer");
    same(await bench.snapshot(), before, "the store");
  },

  async "items are plain JSON, and work() answers the same for an item that went through it"(bench) {
    const next = await bench.backlog.next({ ...bench.view, inFlight: [] });
    must(next.status === "item", "next() must give an item");
    plain(next.item, "the item");
    plain(await bench.overview(), "overview()");

    const direct = await bench.backlog.work(next.item, contextIn(bench.cwd));

    same(JSON.stringify(await bench.work(next.item)), JSON.stringify(direct), "the work");
  },

  async "next() never gives an item that is in flight, and waits where nothing else is ready"(bench) {
    const inFlight: string[] = [];
    let next = await bench.next();
    must(next.status === "item", "next() must give an item");
    while (next.status === "item") {
      const { id } = next.item;
      must(!inFlight.includes(id), `${id} was given although it is in flight`);
      inFlight.push(id);
      next = await bench.next(inFlight);
    }
    same(next.status, "waiting", "what next() answers while everything is in flight");
  },

  async "an item given up on is not given again, and is counted; where nothing else is left, next() is blocked"(bench) {
    const item = await bench.item();
    const before = await bench.overview();
    await bench.begin(item);
    const settlement = await bench.settle(item, await bench.lastAttempt(item));
    if (settlement.status === "stop") return;

    same(settlement.status, "parked", "the settlement of the last attempt");
    must(!(await bench.offered()).includes(item.id), `${item.id} was given again although it is parked`);
    if (item.exclusive !== true) {
      const { parked, open: left } = await bench.overview();
      same(parked, before.parked + 1, "overview().parked");
      if (before.open !== null) same(left, before.open - 1, "overview().open");
    }
    const end = await bench.endAll("failed");
    if (end.status === "blocked") must(end.reasons.length > 0, "next() must say why it is blocked");
    must(end.status !== "done" && end.status !== "waiting", `with items given up on, next() must not be ${end.status}`);
  },

  async "an item given up on comes again with another text"(bench) {
    const { id } = await bench.item();
    const parked = [{ id, fingerprint: "of another text", reason: "too hard" }];

    const next = await bench.backlog.next({ ...bench.view, parked, inFlight: [] });

    must(next.status === "item" && next.item.id === id, `${id} must be given: what was parked is another text`);
  },

  async "two items in flight are settled in any order, where the backlog is concurrent"(_bench, open) {
    const stores: string[] = [];
    for (const isTurned of [false, true]) {
      const bench = await open();
      if (bench.backlog.concurrent !== true) return;
      const first = await bench.item();
      const next = await bench.next([first.id]);
      if (next.status !== "item") return; // the second depends on the first, or the first goes alone
      const second = next.item;
      const attempts: (readonly [typeof first, Attempt])[] = [];
      for (const item of [first, second]) {
        await bench.begin(item);
        attempts.push([item, { ...await bench.attempt(item, "verified"), id: `run.${item.id}` }]);
      }

      for (const [item, attempt] of isTurned ? attempts.toReversed() : attempts) await bench.settle(item, attempt);

      const offered = await bench.offered();
      for (const { id } of [first, second]) must(!offered.includes(id), `${id} was given again although it has passed`);
      stores.push(await bench.snapshot());
    }
    same(stores[1], stores[0], "the store after the other order");
  },
};

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
