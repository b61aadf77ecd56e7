import type { Attempt } from "../../backlog/types.ts";
import { contextIn, must, plain, type Rules, same } from "./bench.ts";

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
