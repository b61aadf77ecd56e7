import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isOver, isParked, reasonOf } from "../../lib/backlog/attempts.ts";
import type { StateFiles } from "../../lib/backlog/state_files.ts";
import type { Backlog, Check, Item, Settlement } from "../../lib/backlog/types.ts";

/** A line of the list: `open write a`, `passed write a`. */
export interface Line {
  readonly at: number;
  readonly isOpen: boolean;
  readonly text: string;
}

export type ListBacklog = Backlog<Line>;

/** A seeded bug works with these. */
export interface Parts {
  readonly state: StateFiles;
  readonly root: string;
  lines(): Promise<readonly Line[]>;
  mark(at: number, word: string): Promise<void>;
}

export const LIST = "list.txt";

/** A list in a file, kept as simple as the contract allows: bugs are seeded into it. */
export function listBacklog({ state, lines, mark }: Parts, checks: readonly Check[]):
  & Required<
    Pick<ListBacklog, "judge" | "passed" | "reopen" | "record">
  >
  & ListBacklog {
  const itemOf = (line: Line): Item<Line> => ({
    id: `line-${line.at}`,
    kind: "line",
    title: line.text,
    fingerprint: line.text,
    data: line,
  });
  const left = async (): Promise<readonly Item<Line>[]> => (await lines()).filter(({ isOpen }) => isOpen).map(itemOf);
  const commit = { subject: "list", paths: [LIST], work: true };

  return {
    name: "list",
    stateFiles: [LIST],
    unverified: "block",
    concurrent: true,
    policy: { retries: 3 },
    async overview({ parked }) {
      const [all, open] = [await lines(), await left()];
      const ids = open.filter((item) => !isParked(item, parked)).map(({ id }) => id);
      const unchecked = checks.length === 0 ? ids : [];
      const counts = { total: all.length, passed: all.length - open.length, open: ids.length };
      return { ...counts, parked: open.length - ids.length, unchecked };
    },
    async next({ inFlight, parked }) {
      const open = await left();
      const item = open.find((one) => !inFlight.includes(one.id) && !isParked(one, parked));
      if (item !== undefined) return { status: "item", item };
      if (inFlight.length > 0) return { status: "waiting" };
      return open.length > 0 ? { status: "blocked", reasons: ["given up on"] } : { status: "done" };
    },
    async passed() {
      const passed = (await lines()).filter(({ isOpen }) => !isOpen).map(itemOf);
      return passed.map(({ id, title }) => ({ id, title, checks }));
    },
    async reopen(ids, reason): Promise<Settlement> {
      for (const { at } of await lines()) if (ids.includes(`line-${at}`)) await mark(at, "open");
      return { status: "open", reason, commit: { ...commit, work: false } };
    },
    async record({ type }) {
      if (type !== "run-passed") return;
      await state.update(LIST, (text) => text === null || text.endsWith("# ended\n") ? text : `${text}# ended\n`);
      return { ...commit, work: false };
    },
    work: ({ title }, { previous, cwd }) =>
      Promise.resolve({ prompt: `${title} in ${cwd}. ${previous === null ? "" : reasonOf(previous)}`, checks }),
    judge: async ({ title }, _turn, { cwd }) =>
      readFileSync(join(cwd, "work.txt"), "utf8").includes(title) ? { status: "done" } : { status: "not-done" },
    async settle({ data }, attempt): Promise<Settlement> {
      const isPass = attempt.status === "verified" || attempt.status === "unverified";
      await mark(data.at, isPass ? "passed" : "open");
      if (isPass) return { status: "passed", commit };
      if (attempt.status === "interrupted") return { status: "open" };
      return { status: isOver(attempt) ? "parked" : "open", reason: reasonOf(attempt) };
    },
  };
}

/** The list in a repository's file. */
export function partsOf({ state, root }: Pick<Parts, "root" | "state">): Parts {
  return {
    state,
    root,
    async lines() {
      const text = await state.read(LIST) ?? "";
      return text.split("\n").flatMap((line, at) => {
        const [, word, rest = ""] = /^(open|passed) (.*)$/.exec(line) ?? [];
        return word === undefined ? [] : [{ at, isOpen: word === "open", text: rest }];
      });
    },
    async mark(at, word) {
      await state.update(
        LIST,
        (text) =>
          text?.split("\n").map((line, index) => index === at ? line.replace(/^(open|passed)/, word) : line).join(
            "\n",
          ) ??
            null,
      );
    },
  };
}

/** An agent does this: it names the line in work.txt. */
export function workIn(cwd: string, { title }: Item<Line>): void {
  const path = join(cwd, "work.txt");
  writeFileSync(path, `${readFileSync(path, "utf8")}${title}\n`);
}
