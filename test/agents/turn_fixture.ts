import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { TurnRequest } from "../../lib/context/context.ts";
import { createHost } from "../../lib/host/create_host.ts";
import type { Host } from "../../lib/host/types.ts";

export const FIXTURES: string = resolve(import.meta.dirname, "../fixtures/agents");

/** A real host and an empty folder for one test. */
export interface TurnFixture extends AsyncDisposable {
  readonly host: Host;
  readonly folder: string;
  request(over?: Partial<TurnRequest>): TurnRequest;
}

export function turnFixture(): TurnFixture {
  const host = createHost();
  const folder = mkdtempSync(join(tmpdir(), "ralph-turn-"));
  return {
    host,
    folder,
    request: (over = {}) => ({
      prompt: "do it\n",
      cwd: folder,
      transcript: join(folder, "turn.log"),
      timeoutMs: 10_000,
      environment: {},
      signal: new AbortController().signal,
      ...over,
    }),
    async [Symbol.asyncDispose]() {
      await host.processes[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
