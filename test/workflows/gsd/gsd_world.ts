import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentTurn } from "../../../lib/backlog/types.ts";
import { loopWorld, type World } from "../../loop/loop_world.ts";
import { PROJECT, summaryOf } from "./planning.ts";

/** A turn of the test does this beside its plan; its result replaces the signal. */
export type Aside = (write: World["write"], id: string) => Promise<Partial<AgentTurn> | void>;

/** A GSD project whose agent carries out the plan in its prompt: it writes the file that the plan's check wants. */
export async function gsdWorld(files: Readonly<Record<string, string | null>>, aside?: Aside): Promise<World> {
  let made: World | null = null;
  const present = Object.entries({ ...PROJECT, ...files }).filter((entry): entry is [string, string] =>
    entry[1] !== null
  );
  const all = Object.fromEntries(present);
  made = await loopWorld(async ({ prompt }) => {
    const plan = /^\.planning\/phases\/\S+-PLAN\.md$/m.exec(prompt)?.[0] ?? "";
    const id = /([^/]+)-PLAN\.md$/.exec(plan)?.[1] ?? "";
    const file = /grep -q right ([^<\s]+)/.exec(all[plan] ?? "")?.[1];
    if (file !== undefined) await made!.write(file, "right\n");
    await made!.write(summaryOf(plan), "# Summary\n");
    return await aside?.((path, text) => made!.write(path, text), id) ?? { lines: ["###PLAN_COMPLETE###"] };
  }, { files: all });
  return made;
}

/** A file of the project, or `null`. */
export function fileOf({ root }: Pick<World, "root">, path: string): string | null {
  return existsSync(join(root, path)) ? readFileSync(join(root, path), "utf8") : null;
}
