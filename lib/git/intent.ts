import { join } from "node:path";
import { jsonIn } from "../host/data.ts";
import { listDirectory, readText, removePath, writePlain } from "../host/files.ts";
import { processStart } from "../host/process_table.ts";
import { findCarriers } from "../host/sweep.ts";
import type { Host } from "../host/types.ts";

/** The note of a commit in progress: it tells a lock that a killed one leaves from another program's. */
interface Intent {
  readonly pid: number;
  readonly started: string;
  /** Milliseconds since 1970. */
  readonly since: number;
  /** Value of `RALPH_GIT` in git's environment, by which a git that outlived its Ralph is found. */
  readonly mark: string;
}

/** The environment variable that marks the git processes of one write. */
const GIT_VARIABLE = "RALPH_GIT";

const NAME_REGEXP = /^git-intent\.(\d+)\.json$/;

/** Writes the intent, runs `write` with git's mark in its environment, takes the intent away. */
export async function withIntent<Value>(
  host: Host,
  ralphDirectory: string,
  write: (environment: Readonly<Record<string, string>>) => Promise<Value>,
): Promise<Value> {
  const { pid } = host.environment;
  const path = join(ralphDirectory, `git-intent.${pid}.json`);
  const mark = host.ids.random(16);
  const intent: Intent = { pid, started: (await processStart(pid)) ?? "", since: host.clock.now(), mark };
  await writePlain(path, JSON.stringify(intent)); // a torn one claims nothing, and no git runs yet
  try {
    return await write({ [GIT_VARIABLE]: mark });
  } finally {
    await removePath(path);
  }
}

/** Intents of Ralphs that are gone. */
export async function deadIntents(ralphDirectory: string): Promise<readonly DeadIntent[]> {
  const dead: DeadIntent[] = [];
  for (const name of await listDirectory(ralphDirectory)) {
    const pid = NAME_REGEXP.exec(name)?.[1];
    if (pid === undefined) continue;
    const path = join(ralphDirectory, name);
    const intent = jsonIn(await readText(path)) as Intent | null | undefined;
    if (!intent) {
      if ((await processStart(Number(pid))) === null) await removePath(path); // torn by a kill: no git ran yet
      continue;
    }
    const started = await processStart(intent.pid);
    if (started !== null && started === intent.started) continue;
    dead.push({
      since: intent.since,
      isGitRunning: async () => (await findCarriers(intent.mark, undefined, [GIT_VARIABLE])).length > 0,
      forget: () => removePath(path),
    });
  }
  return dead;
}

/** A commit that its Ralph did not live to see the end of. */
export interface DeadIntent {
  readonly since: number;
  isGitRunning(): Promise<boolean>;
  forget(): Promise<void>;
}
