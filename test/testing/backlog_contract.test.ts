import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createStateFiles } from "../../lib/backlog/state_files.ts";
import type { ParkedItem } from "../../lib/backlog/types.ts";
import { createHost } from "../../lib/host/create_host.ts";
import { temporaryDirectory } from "../../lib/host/files.ts";
import { backlogContract, type ContractCase } from "../../lib/testing/backlog_contract.ts";
import { type Line, LIST, type ListBacklog, listBacklog, type Parts, partsOf, workIn } from "./broken_backlogs.ts";

type Bug = (right: ReturnType<typeof listBacklog>, parts: Parts) => Partial<ListBacklog>;

/** One line each: what a backlog gets wrong, and what the loop would make of it. */
const BUGS: Readonly<Record<string, Bug>> = {
  "no state file is listed": () => ({ stateFiles: [] }),
  "next() ignores what was given up on": ({ next }) => ({ next: (options) => next({ ...options, parked: [] }) }),
  "the commit does not name the state": ({ settle }) => ({
    settle: async (item, attempt) => {
      const { commit, ...settlement } = await settle(item, attempt);
      return { ...settlement, ...(commit === undefined ? {} : { commit: { ...commit, paths: [] } }) };
    },
  }),
  "retries never end": () => ({ policy: { retries: ({ number }) => number + 3 } }),
  "the last attempt is not believed": ({ settle }) => ({
    settle: (item, attempt) => settle(item, { ...attempt, last: false }),
  }),
  "an unverified attempt is not settled": ({ settle }) => ({
    settle: async (item, attempt) => attempt.status === "unverified" ? { status: "open" } : await settle(item, attempt),
  }),
  "no item is called unchecked": ({ overview }) => ({
    overview: async (view) => ({ ...await overview(view), unchecked: [] }),
  }),
  "work() has no checks": ({ work }) => ({ work: async (...given) => ({ ...await work(...given), checks: [] }) }),
  "an interrupted attempt is a failed one": ({ settle }) => ({
    settle: async (item, attempt) =>
      attempt.status === "interrupted" ? { status: "parked", reason: "interrupted" } : await settle(item, attempt),
  }),
  "a pass is not written": ({ settle }) => ({
    settle: async (item, attempt) => attempt.status === "verified" ? { status: "passed" } : await settle(item, attempt),
  }),
  "a pass is not reverted": ({ settle }) => ({
    settle: async (item, attempt) =>
      attempt.status === "failed" && attempt.last !== true ? { status: "open" } : await settle(item, attempt),
  }),
  "a blocked attempt is tried again": ({ settle }) => ({
    settle: async (item, attempt) => attempt.status === "blocked" ? { status: "open" } : await settle(item, attempt),
  }),
  "an attempt that trespassed passes": ({ settle }, { mark }) => ({
    settle: async (item, attempt) => {
      if (attempt.status !== "trespassed") return await settle(item, attempt);
      await mark(item.data.at, "passed");
      return { status: "open" };
    },
  }),
  "settling twice counts twice": ({ settle }, { state }) => ({
    settle: async (item, attempt) => {
      await state.update(LIST, (text) => `${text}# attempt\n`);
      const commit = { subject: "list", paths: [LIST], work: true };
      return { commit, ...await settle(item, attempt) };
    },
  }),
  "beginning twice counts twice": (_right, { state }) => ({
    record: async ({ type }) =>
      type === "item-began" ? void await state.update(LIST, (text) => `${text}# begun\n`) : undefined,
  }),
  "a failure writes state that no commit names": ({ settle }, { state }) => ({
    settle: async (item, attempt) => {
      if (attempt.status === "failed") await state.update(LIST, (text) => text?.replace(/(?<!#)$/, "#") ?? null);
      return await settle(item, attempt);
    },
  }),
  "next() writes": ({ next }, { state }) => ({
    next: async (options) => {
      await state.update(LIST, (text) => `${text}# asked\n`);
      return await next(options);
    },
  }),
  "what is in flight is given again": ({ next }) => ({ next: (options) => next({ ...options, inFlight: [] }) }),
  "next() is done while an item is in flight": ({ next }) => ({
    next: async (options) => {
      const answer = await next(options);
      return answer.status === "waiting" ? { status: "done" } : answer;
    },
  }),
  "next() is done with items given up on": ({ next }) => ({
    next: async (options) => {
      const answer = await next(options);
      return answer.status === "blocked" ? { status: "done" } : answer;
    },
  }),
  "what was given up on stays so with another text": ({ next }, { lines }) => ({
    next: async (options) => {
      const texts = new Map((await lines()).map(({ at, text }) => [`line-${at}`, text]));
      return next({ ...options, parked: options.parked.map((one) => ({ ...one, fingerprint: texts.get(one.id)! })) });
    },
  }),
  "the order of settling matters": ({ settle }, { lines, mark }) => ({
    settle: async (item, attempt) => {
      const settlement = await settle(item, attempt);
      for (const { at } of await lines()) if (at > item.data.at) await mark(at, "open"); // its snapshot is written
      return settlement;
    },
  }),
  "items hold what is no JSON": ({ next }) => ({
    next: async (options) => {
      const answer = await next(options);
      if (answer.status !== "item") return answer;
      return { ...answer, item: { ...answer.item, data: { ...answer.item.data, at: new Date(0) as never } } };
    },
  }),
  "counts do not add up": ({ overview }) => ({ overview: async (view) => ({ ...await overview(view), passed: 0 }) }),
  "what was given up on counts as open": ({ overview }) => ({ overview: () => overview({ parked: [] }) }),
  "passed() forgets the checks": ({ passed }) => ({
    passed: async (view) => (await passed(view)).map((one) => ({ ...one, checks: [] })),
  }),
  "passed() lists nothing": () => ({ passed: async () => [] }),
  "passed() lists everything": (_right, { lines }) => ({
    passed: async () => (await lines()).map(({ at, text }) => ({ id: `line-${at}`, title: text, checks: [] })),
  }),
  "reopen() opens nothing": () => ({ reopen: async (_ids, reason) => ({ status: "open", reason }) }),
  "reopen() is counted twice": ({ reopen }, { state }) => ({
    reopen: async (ids, reason) => {
      await state.update(LIST, (text) => `${text}# sent back\n`);
      return await reopen(ids, reason);
    },
  }),
  "reopen() commits nothing": ({ reopen }) => ({
    reopen: async (ids, reason) => {
      await reopen(ids, reason);
      return { status: "open", reason };
    },
  }),
  "a run that passed is counted twice": (_right, { state }) => ({
    record: async ({ type }) =>
      type === "run-passed" ? void await state.update(LIST, (text) => `${text}# ended\n`) : undefined,
  }),
  "a run that passed opens the list again": (_right, { mark }) => ({
    record: async ({ type }) => type === "run-passed" ? await mark(0, "open") : undefined,
  }),
  "there is no final check although something is built": () => ({ policy: { final: false } }),
  "the prompt names the root": ({ work }, { root }) => ({
    work: async (item, context) => ({ ...await work(item, { ...context, cwd: root }) }),
  }),
  "judge() looks at the root": ({ judge }, { root }) => ({
    judge: (item, turn, context) => judge(item, turn, { ...context, cwd: root }),
  }),
  "judge() believes a turn that did nothing": () => ({ judge: async () => ({ status: "done" }) }),
  "the next attempt is not told of the last one": ({ work }) => ({
    work: (item, context) => work(item, { ...context, previous: null }),
  }),
  "a manual edit is kept": (_right, { state }) => {
    state.parts.set(LIST, ({ found }) => found);
    return {};
  },
  "a pass is remembered and not written": ({ next, settle }) => {
    const done: ParkedItem[] = [];
    return {
      next: (options) => next({ ...options, parked: [...options.parked, ...done] }),
      settle: async (item, attempt) => {
        if (attempt.status !== "verified") return await settle(item, attempt);
        done.push({ id: item.id, fingerprint: item.title, reason: "" });
        return { status: "passed" };
      },
    };
  },
};

function casesFor(bug: Bug): readonly ContractCase[] {
  return backlogContract<Line, unknown>({
    async open(store) {
      const folder = await temporaryDirectory("ralph-list-");
      const host = createHost();
      const root = join(folder.path, "root");
      mkdirSync(root);
      writeFileSync(join(root, LIST), "open write a\nopen write b\nopen write c\n");
      writeFileSync(join(root, "work.txt"), "");
      const parts = partsOf({ root, state: createStateFiles({ root, directory: join(folder.path, "shadow"), host }) });
      const open = (): ListBacklog => {
        const right = listBacklog(parts, store === "checked" ? [{ name: "true", command: "true" }] : []);
        return { ...right, ...bug(right, parts) };
      };
      return {
        backlog: open(),
        reopen: async () => open(),
        snapshot: async () => await parts.state.read(LIST) ?? "",
        root,
        state: parts.state,
        async turn(item, cwd) {
          workIn(cwd, item);
          return { changedFiles: ["work.txt"] };
        },
        async [Symbol.asyncDispose]() {
          await host.processes[Symbol.asyncDispose]();
          await folder[Symbol.asyncDispose]();
        },
      };
    },
  });
}

/** The case that finds the bug, or `null`. */
async function finding(bug: Bug): Promise<string | null> {
  for (const { name, run } of casesFor(bug)) {
    try {
      await run();
    } catch (error) {
      return `${name}: ${(error as Error).message}`;
    }
  }
  return null;
}

describe("backlogContract()", () => {
  test("finds nothing in a backlog that keeps it", async () => {
    expect(await finding(() => ({}))).toBe(null);
  });

  test.each(Object.entries(BUGS))("finds: %s", async (_name, bug) => {
    expect(await finding(bug)).not.toBe(null);
  });
});
