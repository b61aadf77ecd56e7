import type { Attempt } from "../../backlog/types.ts";
import { type Bench, must, type Rules, same, STATUSES } from "./bench.ts";

type Status = Attempt["status"];

const PASSES: readonly Status[] = ["verified", "unverified"];

/** An item that fails every time has to be out of the way after so many attempts. */
const MOST_ATTEMPTS = 20;

/** The duties of record() and settle(), and how failed attempts end. */
export const SETTLING: Rules = {
  async "record() of an item that began, called twice, leaves what one call leaves"(bench) {
    const item = await bench.taken();
    const once = await bench.snapshot();

    await bench.backlog.record?.({ type: "item-began", item });

    same(await bench.snapshot(), once, "the store after the second record()");
  },

  ...forEach(STATUSES, (status) => [
    `settle() of an attempt that is ${status}, called twice, leaves what one call leaves and answers the same`,
    async (bench) => {
      const item = await bench.taken();
      const attempt = await bench.attempt(item, status);
      const first = await bench.settle(item, attempt);
      const once = await bench.snapshot();

      const second = await bench.settle(item, attempt);

      same(await bench.snapshot(), once, "the store after the second settle()");
      same(second.status, first.status, "the second settlement");
    },
  ]),
  ...forEach(PASSES, (status) => [
    `an item that is ${status} is not given again, and is counted`,
    async (bench) => {
      const item = await bench.item();
      const before = await bench.overview();

      const settlement = await bench.end(item, status);

      same(settlement.status, "passed", `the settlement of an attempt that is ${status}`);
      await bench.kill();
      must(!(await bench.offered()).includes(item.id), `${item.id} was given again although it has passed`);
      if (item.exclusive === true || item.checksOnly === true) return;
      const after = await bench.overview();
      same(after.passed, before.passed + 1, "overview().passed");
      if (before.open !== null) same(after.open, before.open - 1, "overview().open");
    },
  ]),
  ...forEach(STATUSES.filter((status) => !PASSES.includes(status)), (status) => [
    `an attempt that is ${status} passes nothing, whatever its turn has done`,
    async (bench) => {
      const item = await bench.item();
      const { passed } = await bench.overview();

      const settlement = await bench.end(item, status);

      must(settlement.status !== "passed", `an attempt that is ${status} must not pass`);
      same((await bench.overview()).passed, passed, "overview().passed");
    },
  ]),

  async "a pass is reverted when the same attempt is settled as failed: its commit was refused"(bench) {
    const item = await bench.item();
    const { passed } = await bench.overview();
    await bench.begin(item);
    const attempt = await bench.attempt(item, "verified");
    const { commit } = await bench.settle(item, attempt);
    if (commit?.work !== true) return; // no hook of the repository sees a commit of state

    const refused = { ...await bench.attempt(item, "failed"), reason: "commit-refused", verification: null } as Attempt;
    const settlement = await bench.settle(item, { ...refused, last: false });

    must(settlement.status !== "passed", "a pass must be reverted when its commit was refused");
    same((await bench.overview()).passed, passed, "overview().passed");
    if (settlement.status === "open" && item.preparatory !== true) {
      same((await bench.item()).id, item.id, "the next item");
    }
  },

  async "an interrupted attempt leaves the item open, after a kill as well"(bench) {
    const item = await bench.taken();
    await bench.kill();

    const settlement = await bench.settle(item, await bench.attempt(item, "interrupted"));

    same(settlement.status, "open", "the settlement of an interrupted attempt");
    if (item.preparatory !== true) same((await bench.item()).id, item.id, "the next item");
  },

  "an item that fails comes again while it has attempts left": (bench) => comesAgain(bench, "failed"),
  "an item that is not done comes again while it has attempts left": (bench) => comesAgain(bench, "not-done"),

  async "an item without attempts left is parked, or stops the run"(bench) {
    const item = await bench.taken();

    const { status } = await bench.settle(item, await bench.lastAttempt(item));

    must(
      status === "parked" || status === "stop",
      `the last attempt must park the item or stop the run (got: ${status})`,
    );
  },

  async "a blocked attempt leaves the item to a person"(bench) {
    const { status } = await bench.end(await bench.item(), "blocked");

    must(
      status === "parked" || status === "stop",
      `a blocked attempt must leave the item to a person (got: ${status})`,
    );
  },

  async "retries end"(bench) {
    const { id } = await bench.item();
    for (let count = 0; count < MOST_ATTEMPTS; count++) {
      const next = await bench.next();
      if (next.status !== "item" || next.item.id !== id) return;
      if ((await bench.end(next.item, "failed")).status === "stop") return;
    }
    throw new Error(`${id} comes again after ${MOST_ATTEMPTS} failed attempts`);
  },

  async "the next attempt's prompt says why the one before failed"(bench) {
    const item = await bench.taken();
    const attempt = await bench.attempt(item, "failed");
    if (attempt.last === true || (await bench.settle(item, attempt)).status !== "open") return;
    const next = await bench.next();
    if (next.status !== "item" || next.item.id !== item.id) return;

    const { prompt } = await bench.work(next.item);

    const text = typeof prompt === "function" ? prompt(null) : prompt;
    if (text !== null) must(text.includes("left a trace"), "the prompt must say why the last attempt failed");
  },
};

function forEach(
  statuses: readonly Status[],
  rule: (status: Status) => readonly [name: string, run: Rules[string]],
): Rules {
  return Object.fromEntries(statuses.map(rule));
}

async function comesAgain(bench: Bench, status: Attempt["status"]): Promise<void> {
  const item = await bench.taken();
  const attempt = await bench.attempt(item, status);
  if (attempt.last === true) return; // the backlog's `retries` give it no other one

  const settlement = await bench.settle(item, attempt);

  if (settlement.status === "stop") return;
  same(settlement.status, "open", "the settlement of an attempt that is not the last one");
  if (item.preparatory === true || settlement.reopened !== undefined) return;
  same((await bench.item()).id, item.id, "the next item");
}
