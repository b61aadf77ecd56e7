import type { Attempt } from "../../backlog/types.ts";
import { STATUSES } from "./attempts.ts";
import { must, same } from "./expect.ts";
import type { Open, Rule } from "./bench.ts";

type Status = Attempt["status"];

const PASSES: readonly Status[] = ["verified", "unverified"];

/** The duties of record() and settle(). */
export const SETTLING: readonly Rule[] = [
  ["record() of an item that began, called twice, leaves what one call leaves", beginsTwice],
  ...STATUSES.map((status): Rule => [
    `settle() of an attempt that is ${status}, called twice, leaves what one call leaves and answers the same`,
    (open) => settlesTwice(open, status),
  ]),
  ...PASSES.map((status): Rule => [
    `an item that is ${status} is not given again, and is counted`,
    (open) => passes(open, status),
  ]),
  ...STATUSES.filter((status) => !PASSES.includes(status)).map((status): Rule => [
    `an attempt that is ${status} passes nothing, whatever its turn has done`,
    (open) => passesNothing(open, status),
  ]),
  ["a pass is reverted when the same attempt is settled as failed: its commit was refused", isReverted],
  ["an interrupted attempt leaves the item open, after a kill as well", staysOpen],
];

async function beginsTwice(open: Open): Promise<void> {
  const bench = await open();
  const item = await bench.item();
  await bench.begin(item);
  const once = await bench.snapshot();

  await bench.backlog.record?.({ type: "item-began", item });

  same(await bench.snapshot(), once, "the store after the second record()");
}

async function settlesTwice(open: Open, status: Status): Promise<void> {
  const bench = await open();
  const item = await bench.item();
  await bench.begin(item);
  const attempt = await bench.attempt(item, status);
  const first = await bench.settle(item, attempt);
  const once = await bench.snapshot();

  const second = await bench.settle(item, attempt);

  same(await bench.snapshot(), once, "the store after the second settle()");
  same(second.status, first.status, "the second settlement");
}

async function passes(open: Open, status: Status): Promise<void> {
  const bench = await open();
  const item = await bench.item();
  const before = await bench.backlog.overview(bench.view);

  const settlement = await bench.end(item, status);

  same(settlement.status, "passed", `the settlement of an attempt that is ${status}`);
  await bench.kill();
  must(!(await bench.offered()).includes(item.id), `${item.id} was given again although it has passed`);
  if (item.exclusive === true || item.checksOnly === true) return;
  const after = await bench.backlog.overview(bench.view);
  same(after.passed, before.passed + 1, "overview().passed");
  if (before.open !== null) same(after.open, before.open - 1, "overview().open");
}

async function passesNothing(open: Open, status: Status): Promise<void> {
  const bench = await open();
  const item = await bench.item();
  const { passed } = await bench.backlog.overview(bench.view);

  const settlement = await bench.end(item, status);

  must(settlement.status !== "passed", `an attempt that is ${status} must not pass`);
  same((await bench.backlog.overview(bench.view)).passed, passed, "overview().passed");
}

async function isReverted(open: Open): Promise<void> {
  const bench = await open();
  const item = await bench.item();
  const { passed } = await bench.backlog.overview(bench.view);
  await bench.begin(item);
  const attempt = await bench.attempt(item, "verified");
  const { commit } = await bench.settle(item, attempt);
  if (commit?.work !== true) return; // no hook of the repository sees a commit of state

  const refused = { ...await bench.attempt(item, "failed"), reason: "commit-refused", verification: null } as Attempt;
  const settlement = await bench.settle(item, { ...refused, last: false });

  must(settlement.status !== "passed", "a pass must be reverted when its commit was refused");
  same((await bench.backlog.overview(bench.view)).passed, passed, "overview().passed");
  if (settlement.status === "open" && item.preparatory !== true) {
    same((await bench.item()).id, item.id, "the next item");
  }
}

async function staysOpen(open: Open): Promise<void> {
  const bench = await open();
  const item = await bench.item();
  await bench.begin(item);
  await bench.kill();

  const settlement = await bench.settle(item, await bench.attempt(item, "interrupted"));

  same(settlement.status, "open", "the settlement of an interrupted attempt");
  if (item.preparatory !== true) same((await bench.item()).id, item.id, "the next item");
}
