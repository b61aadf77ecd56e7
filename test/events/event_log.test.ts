import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createEventLog } from "../../lib/events/event_log.ts";
import type { RalphEvent } from "../../lib/events/types.ts";
import { temporaryDirectory } from "../../lib/host/files.ts";

const CLOCK = {
  now: () => 1_700_000_000_000,
  sleep: () => Promise.resolve(),
  steady: () => 0,
  every: () => ({ [Symbol.dispose]() {} }),
};

const TURN_END: RalphEvent = {
  type: "turn-end",
  agent: "a",
  reason: "completed",
  message: null,
  durationMs: 1,
  usage: {
    inputTokens: null,
    outputTokens: null,
    cachedTokens: null,
    reasoningTokens: null,
    costUsd: null,
    estimated: false,
  },
};

async function logged(events: Iterable<RalphEvent>): Promise<readonly RalphEvent[]> {
  await using folder = await temporaryDirectory("ralph-events-");
  const file = join(folder.path, "events.ndjson");
  const log = await createEventLog({ file, run: "r", clock: CLOCK });
  for (const event of events) log.emit(event);
  await log.close();
  return readFileSync(file, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line) as RalphEvent);
}

test("a long message of an agent is logged by its end: all of it is in the transcript", async () => {
  const [event] = await logged([{ type: "agent-text", text: `${"x".repeat(100_000)} the end` }]);

  expect(event).toMatchObject({ type: "agent-text" });
  const { text } = event as Extract<RalphEvent, { type: "agent-text" }>;
  expect(text).toMatch(/^…x+ the end$/);
  expect(text.length).toBeLessThan(1000);
});

test("an agent that floods its stream does not flood the log, and nothing else is left out", async () => {
  const flood = Array.from({ length: 20_000 }, (_, index): RalphEvent[] => [
    { type: "agent-text", text: `message ${index}` },
    ...(index % 100 === 0 ? [{ type: "note", level: "info", message: `note ${index}` } as const] : []),
  ]);

  const events = await logged(flood.flat());

  const notes = events.filter(({ type }) => type === "note");
  expect(notes).toHaveLength(200);
  expect(events.length - notes.length).toBe(1000);
});

test("a turn that cleans its tree takes no event of the run away", async () => {
  await using folder = await temporaryDirectory("ralph-events-");
  const file = join(folder.path, "runs", "1", "events.ndjson");
  const log = await createEventLog({ file, run: "r", clock: CLOCK });
  const note = (message: string): RalphEvent => ({ type: "note", level: "info", message });
  log.emit(note("before"));

  rmSync(join(folder.path, "runs"), { recursive: true }); // as `git clean -fdx` does
  log.emit(TURN_END);
  log.emit(note("after"));
  await log.close();

  const types = readFileSync(file, "utf8").trimEnd().split("\n").map((line) => (JSON.parse(line) as RalphEvent).type);
  expect(types).toEqual(["note", "turn-end", "note"]);
});
