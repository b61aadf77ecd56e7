/** One loop for many turns that each do something else, where none may leave a trace: a run costs ten times what an item does. */
import { execFileSync } from "node:child_process";
import process from "node:process";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import { runLoop } from "../../lib/loop/run/run_loop.ts";
import type { RalphOptions } from "../../lib/recipe/create_ralph.ts";
import { loopWorld, type World } from "../loop/loop_world.ts";

/** One item, when it has come to its end and no other has begun. */
export interface Settled {
  readonly world: World;
  readonly item: string;
  /** The item before it. */
  readonly previous: string;
  /** HEAD before its first turn. */
  readonly head: string;
  /** Notes of its time, by lines. */
  readonly notes: string;
  /** How its attempts failed. */
  readonly failures: readonly string[];
}

export interface InTurnOptions extends Pick<RalphOptions, "config"> {
  readonly files?: Record<string, string>;
  /** Shell commands before the run. */
  readonly setup?: string;
  /** A script is of the first attempt alone, and then comes honest work. @default false */
  readonly once?: boolean;
}

export interface InTurn<Found> {
  /** The results of `look`, by scripts. */
  readonly found: readonly Found[];
  readonly status: string;
  readonly passed: readonly string[];
  /** The ids of all items. */
  readonly items: readonly string[];
}

/**
 * Runs a loop: honest work at the first item, then at each one a script, in which `$i` is the item, `$p` the one before it,
 * and `work` writes `$i.txt`.
 */
export async function inTurn<Found>(
  scripts: readonly string[],
  look: (settled: Settled) => Promise<Found>,
  { files = {}, setup = "", once = false, config = {} }: InTurnOptions,
): Promise<InTurn<Found>> {
  const items = ["a", ...scripts.map((_, at) => `b${at}`)];
  const found: Found[] = [];
  let now = { item: "", head: "", attempts: 0, events: 0 };
  const settle = async (world: World): Promise<void> => {
    const at = items.indexOf(now.item);
    if (at < 1) return;
    const events = world.events.slice(now.events);
    const notes = events.flatMap((event) => event.type === "note" ? [event.message] : []).join("\n");
    const failures = events.flatMap((event) =>
      event.type === "iteration-end" && event.result === "failed" ? [event.message ?? ""] : []
    );
    found.push(await look({ world, item: now.item, previous: items[at - 1] ?? "", head: now.head, notes, failures }));
  };
  await using world: World = await loopWorld(async ({ cwd, environment }) => {
    const item = environment["RALPH_ITEM"] ?? "";
    if (item !== now.item) {
      await settle(world);
      now = { item, head: await world.git("rev-parse", "HEAD"), attempts: 0, events: world.events.length };
    }
    now.attempts++;
    const at = items.indexOf(item);
    const script = at < 1 || (once && now.attempts > 1) ? "work" : scripts[at - 1] ?? "";
    const words = `i=${item}; p=${items[at - 1] ?? ""}; work() { echo $i > $i.txt; }; ${script}`;
    const env = { ...process.env, ...environment }; // by it a turn's commits are told from a person's
    execFileSync("sh", ["-c", words], { cwd, env, stdio: "pipe" });
    return { lines: ["<ralph>DONE</ralph>"] };
  }, { files, config });
  if (setup !== "") execFileSync("sh", ["-c", setup], { cwd: world.root, stdio: "pipe" });
  const backlog = items.map((id) => ({ id, title: `write ${id}.txt`, checks: [`test -f ${id}.txt`] }));
  const { status, passed } = await runLoop(world.ralph, memoryBacklog(backlog));
  await settle(world);
  return { found, status, passed, items };
}
