import type { Attempt } from "../../backlog/types.ts";
import { must, same } from "./expect.ts";
import type { Open, Rule } from "./bench.ts";

/** An item that fails every time has to be out of the way after so many attempts. */
const MOST_ATTEMPTS = 20;

/** The rules for attempts that fail. */
export const RETRYING: readonly Rule[] = [
  ["an item that fails comes again while it has attempts left", (open) => comesAgain(open, "failed")],
  ["an item that is not done comes again while it has attempts left", (open) => comesAgain(open, "not-done")],
  ["an item without attempts left is parked, or stops the run", endsAtTheLast],
  ["a blocked attempt leaves the item to a person", leavesToPerson],
  ["retries end", retriesEnd],
  ["the next attempt's prompt says why the one before failed", tellsTheFailure],
];

async function comesAgain(open: Open, status: Attempt["status"]): Promise<void> {
  const bench = await open();
  const item = await bench.item();
  await bench.begin(item);
  const attempt = await bench.attempt(item, status);
  if (attempt.last === true) return; // the backlog's `retries` give it no other one

  const settlement = await bench.settle(item, attempt);

  if (settlement.status === "stop") return;
  same(settlement.status, "open", "the settlement of an attempt that is not the last one");
  if (item.preparatory === true || settlement.reopened !== undefined) return;
  same((await bench.item()).id, item.id, "the next item");
}

async function endsAtTheLast(open: Open): Promise<void> {
  const bench = await open();
  const item = await bench.item();
  await bench.begin(item);

  const { status } = await bench.settle(item, await bench.lastAttempt(item));

  must(
    status === "parked" || status === "stop",
    `the last attempt must park the item or stop the run (got: ${status})`,
  );
}

async function leavesToPerson(open: Open): Promise<void> {
  const bench = await open();

  const { status } = await bench.end(await bench.item(), "blocked");

  must(status === "parked" || status === "stop", `a blocked attempt must leave the item to a person (got: ${status})`);
}

async function retriesEnd(open: Open): Promise<void> {
  const bench = await open();
  const { id } = await bench.item();
  for (let count = 0; count < MOST_ATTEMPTS; count++) {
    const next = await bench.next();
    if (next.status !== "item" || next.item.id !== id) return;
    if ((await bench.end(next.item, "failed")).status === "stop") return;
  }
  throw new Error(`${id} comes again after ${MOST_ATTEMPTS} failed attempts`);
}

async function tellsTheFailure(open: Open): Promise<void> {
  const bench = await open();
  const item = await bench.item();
  await bench.begin(item);
  const attempt = await bench.attempt(item, "failed");
  if (attempt.last === true || (await bench.settle(item, attempt)).status !== "open") return;
  const next = await bench.next();
  if (next.status !== "item" || next.item.id !== item.id) return;

  const { prompt } = await bench.work(next.item);

  const text = typeof prompt === "function" ? prompt(null) : prompt;
  if (text !== null) must(text.includes("left a trace"), "the prompt must say why the last attempt failed");
}
