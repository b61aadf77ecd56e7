import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type LogEntry, readLog } from "../../../lib/workflows/spec/history/log.ts";
import { openRepository } from "../../../lib/git/open_repository.ts";
import { createHost } from "../../../lib/host/create_host.ts";
import { temporaryDirectory } from "../../../lib/host/files.ts";
import { type MadeHistory, makeHistory, type Truth } from "./random_history.ts";
import { seedOfRun } from "./random_numbers.ts";

const HISTORIES = Number(process.env["RALPH_HISTORIES"] ?? 12);

async function logOf(root: string, options: { readonly all?: boolean } = { all: true }): Promise<readonly LogEntry[]> {
  await using host = createHost().processes;
  const own = { ...createHost(), processes: host };
  const repository = await openRepository(own, root);
  if (repository === null) throw new Error("no repository");
  return (await readLog({ root, repository, ...options })).tasks;
}

function expected({ tasks, commits }: MadeHistory): Record<string, unknown> {
  const hash = (mark: number | null): string | null => mark === null ? null : (commits.get(mark) ?? "").slice(0, 7);
  const entries = [...tasks].map(([id, truth]: [string, Truth]) => [id, {
    outcome: truth.outcome,
    created: hash(truth.created),
    done: hash(truth.done),
    accepted: hash(truth.accepted),
    cancelled: hash(truth.cancelled),
    rejected: truth.rejected.map(({ commit, reason }) => `${hash(commit)} ${reason}`).sort(),
    readded: truth.readded.map(hash),
  }]);
  return Object.fromEntries(entries);
}

function found(entries: readonly LogEntry[]): Record<string, unknown> {
  return Object.fromEntries(entries.map((entry) => [entry.id, {
    outcome: entry.outcome,
    created: entry.created.commit.slice(0, 7),
    done: entry.done?.commit.slice(0, 7) ?? null,
    accepted: entry.accepted?.commit.slice(0, 7) ?? null,
    cancelled: entry.cancelled?.commit.slice(0, 7) ?? null,
    rejected: entry.rejected.map(({ commit, reason }) => `${commit.slice(0, 7)} ${reason}`).sort(),
    readded: entry.readded.map(({ commit }) => commit.slice(0, 7)),
  }]));
}

describe("readLog()", () => {
  test(
    `tells every task's life in ${HISTORIES} random histories of branches, merges, squashes, rebases, reverts and a rename`,
    async () => {
      const seed = seedOfRun();
      await using folder = await temporaryDirectory("ralph-history");
      for (let run = 0; run < HISTORIES; run++) {
        const root = join(folder.path, String(run));
        const made = makeHistory(root, seed + run, 20 + ((seed + run) % 8) * 30);

        const log = await logOf(root);

        expect(found(log), `RALPH_SEED=${seed + run} RALPH_HISTORIES=1`).toEqual(expected(made));
      }
    },
    600_000,
  );
});
