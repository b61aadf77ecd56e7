/**
 * The files by which commands and the page reach a run: who is at work, what is asked of it, and what it answers. They
 * are in `control` in Ralph's folder of the git directory:
 *
 * - `RUN.json`: the run itself, rewritten as it changes; gone when it has ended
 * - `RUN.NAME.request`: what a person asks, held open by the process that asks
 * - `RUN.NAME.reply`: what became of it
 * - `NAME.told`: words for an item that an ended run gave up on, which wait for the next one
 *
 * @module
 */
import { dirname, join } from "node:path";
import type { LiveRun, SteerReply, SteerRequest } from "../generated/steer.ts";
import { isHeldByOther, writeHeld } from "../host/author.ts";
import { jsonIn } from "../host/data.ts";
import { ensurePrivateDirectory, listDirectory, pathExists, readText, removePath, writeOwn } from "../host/files.ts";
import { processStart } from "../host/process_table.ts";
import type { Host } from "../host/types.ts";
import { watchPath } from "../host/watch_path.ts";
import { LARGEST } from "./largest.ts";

/** A run takes a request within milliseconds; one that is this late is stuck, or stopped. */
const REPLY_MS = 3000;

/** The folder of the files, below Ralph's own folder. */
export function controlFolder(ownDirectory: string): string {
  return join(ownDirectory, "control");
}

/** The file in which a run says what it is. */
export function liveFile(folder: string, run: string): string {
  return join(folder, `${run}.json`);
}

/** The runs at work in this working tree, oldest first. A run that was killed is none. */
export async function liveRuns(folder: string): Promise<readonly LiveRun[]> {
  const names = (await listDirectory(folder)).filter((name) => name.endsWith(".json")).toSorted();
  const runs = await Promise.all(names.map((name) => readLive(join(folder, name))));
  return runs.filter((run) => run !== null);
}

async function readLive(path: string): Promise<LiveRun | null> {
  const live = await readRun(path);
  if (live === null) return null;
  const started = await processStart(live.pid);
  return started !== null && started === live.started ? live : null;
}

async function readRun(path: string): Promise<LiveRun | null> {
  return await read("LIVE_RUN", await readText(path, 4 * LARGEST));
}

type Schemas = typeof import("./schema.ts");

/** The data of a file; `null`: it has another form, or is not there. Zod is loaded with the first that is there. */
async function read<Name extends keyof Schemas>(name: Name, text: string | null) {
  if (text === null) return null;
  const parsed = (await import("./schema.ts"))[name].safeParse(jsonIn(text));
  return parsed.success ? parsed.data as ReturnType<Schemas[Name]["parse"]> : null;
}

/** Removes what killed runs have left. @returns what these were told, which no run knows any more */
export async function sweepControl(folder: string): Promise<readonly string[]> {
  const alive = new Set((await liveRuns(folder)).map(({ run }) => run));
  const told: string[] = [];
  for (const name of await listDirectory(folder)) {
    const run = /^([\w-]+)\.(?:json|[\w-]+\.(?:request|reply))$/.exec(name)?.[1];
    if (run === undefined || alive.has(run)) continue;
    if (name === `${run}.json`) told.push(...(await readRun(join(folder, name)))?.told ?? []);
    await removePath(join(folder, name));
  }
  return told;
}

/**
 * Asks something of a run, and waits for what becomes of it.
 *
 * @returns `null`: the run did not answer in time
 * @throws {RalphError} file-unwritable
 */
export async function sendRequest(
  { folder, run, host }: { readonly folder: string; readonly run: string; readonly host: Host },
  request: SteerRequest,
): Promise<SteerReply | null> {
  const name = `${run}.${host.ids.random(16)}`;
  const reply = join(folder, `${name}.reply`);
  const arrived = new AbortController();
  let answer: SteerReply | null = null;
  const look = async (): Promise<void> => {
    const found = await read("REPLY", await readText(reply, LARGEST));
    if (found === null) return;
    answer = found;
    arrived.abort();
  };
  using _watcher = watchPath(folder, () => void look());
  using _held = writeHeld(join(folder, `${name}.request`), JSON.stringify({ ...request, pid: host.environment.pid }));
  await host.clock.sleep(REPLY_MS, arrived.signal);
  if (!arrived.signal.aborted) await look();
  await removePath(reply);
  await removePath(join(folder, `${name}.request`));
  return answer;
}

/** A request that has reached its run. */
export interface ArrivedRequest {
  readonly request: SteerRequest;
  /** No process of the run wrote it; `null` where the system cannot show that. */
  readonly outside: boolean | null;
  reply(reply: SteerReply): Promise<void>;
}

/** Takes the requests to a run that are waiting, each once. */
export async function takeRequests(folder: string, run: string, runToken: string): Promise<readonly ArrivedRequest[]> {
  const arrived: ArrivedRequest[] = [];
  for (const name of await listDirectory(folder)) {
    if (!name.startsWith(`${run}.`) || !name.endsWith(".request")) continue;
    const path = join(folder, name);
    const found = await read("REQUEST_FILE", await readText(path, 2 * LARGEST).catch(() => null));
    const outside = found !== null && await pathExists(path) ? await isHeldByOther(path, found.pid, runToken) : false;
    await removePath(path);
    if (found === null) continue;
    const { pid: _pid, ...request } = found;
    arrived.push({
      request,
      outside,
      reply: async (reply) => {
        const file = join(folder, name.replace(/\.request$/, ".reply"));
        await writeOwn(file, JSON.stringify(reply));
      },
    });
  }
  return arrived;
}

/** Tells an ended run something about an item that it gave up on: it waits for the next run in the same place. */
export async function tellNext(
  { control, folder, host, isGivenUp }: {
    readonly control: string;
    readonly folder: string;
    readonly host: Host;
    readonly isGivenUp: (item: string) => Promise<boolean>;
  },
  { item = "", text = "", origin }: Pick<SteerRequest, "item" | "origin" | "text">,
): Promise<SteerReply> {
  const [other] = await liveRuns(control);
  if (other !== undefined) return { status: "refused", message: `run ${other.run} is at work: tell it there` };
  if (text.trim() === "" || !await isGivenUp(item)) {
    return { status: "refused", message: "the run has ended: only an item that was given up on takes words" };
  }
  const request: SteerRequest = { action: "tell", origin, text, item, runs: dirname(folder) };
  await ensurePrivateDirectory(control);
  await writeOwn(join(control, `${host.clock.now()}-${host.ids.random(8)}.told`), JSON.stringify(request));
  return { status: "taken", message: `the next run takes ${item} up again with this` };
}

/** Words that wait for the next run, oldest first, by their files. */
export async function toldNext(control: string): Promise<ReadonlyMap<string, SteerRequest>> {
  const told = new Map<string, SteerRequest>();
  for (const name of (await listDirectory(control)).filter((one) => one.endsWith(".told")).toSorted()) {
    const found = await read("REQUEST", await readText(join(control, name), 2 * LARGEST));
    if (found !== null) told.set(join(control, name), found);
  }
  return told;
}

export type * from "../generated/steer.ts";
