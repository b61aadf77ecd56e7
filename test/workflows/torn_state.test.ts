/** A state file that an editor empties, cuts short or moves away a moment before it has written it. */
import { writeFileSync } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Backlog } from "../../lib/backlog/types.ts";
import type { RalphContext } from "../../lib/context/context.ts";
import { prdBacklog } from "../../lib/workflows/exec/backlog.ts";
import { featureBacklog } from "../../lib/workflows/feature/backlog.ts";
import { parseDirectory } from "../../lib/workflows/feature/directories.ts";
import { gsdBacklog } from "../../lib/workflows/gsd/backlog.ts";
import { specBacklog } from "../../lib/workflows/spec/backlog.ts";
import { openSprint } from "../../lib/workflows/sprint/open_sprint.ts";
import { loopWorld } from "../loop/loop_world.ts";
import { PROJECT, STATE } from "./gsd/planning.ts";

const FEATURE = parseDirectory("2024-01-15-auth")!;
const STORY = { id: "US-001", title: "one", acceptanceCriteria: ["Verify: `false`"], priority: 1 };
const EXEC = { branchName: "main", userStories: [{ ...STORY, passes: false, notes: "" }] };
const OF_FEATURE = { schemaVersion: 2, project: "P", branchName: "main", userStories: [STORY] };
const PLAN = '{"t": "spec", "spec": "a.md"}\n{"t": "task", "id": "t-1a2b", "spec": "a.md", "name": "a", "s": "p"}\n';
const SPRINT = "mode: ralph\ngoal: say hello\ndynamic-steps:\n  - id: step-1\n    prompt: hello\n    status: pending\n";
const SECOND = STATE.replace("Phase: 1 of 2 (Base)", "Phase: 2 of 2 (More)");

type Open = (ralph: RalphContext) => Backlog<never, never> | Promise<Backlog<never, never>>;

const sprint: Open = async (ralph) => (await openSprint(ralph, { directory: "s" })).backlog as Backlog<never, never>;

describe.each<readonly [string, string, Readonly<Record<string, string>>, Open]>([
  [
    "exec",
    "scripts/ralph/prd.json",
    { "scripts/ralph/prd.json": JSON.stringify(EXEC, null, 2) },
    (ralph) => prdBacklog(ralph) as never,
  ],
  [
    "feature",
    FEATURE.prdFile,
    { [FEATURE.prdFile]: JSON.stringify(OF_FEATURE, null, 2) },
    (ralph) => featureBacklog(ralph, { feature: FEATURE }) as never,
  ],
  ["spec", "ralph/plan.jsonl", { "ralph/plan.jsonl": PLAN }, (ralph) => specBacklog(ralph) as never],
  ["sprint", "s/PROGRESS.yaml", { "s/PROGRESS.yaml": SPRINT }, sprint],
  ["gsd", ".planning/STATE.md", { ...PROJECT, ".planning/STATE.md": SECOND }, (ralph) => gsdBacklog(ralph) as never],
])("the state of %s", (_name, path, files, open) => {
  test.each([
    ["emptied", (file: string) => writeFile(file, "")],
    ["moved away", (file: string) => rename(file, `${file}~`)],
    ["half written", (file: string, text: string) => writeFile(file, text.slice(0, text.length / 2))],
  ])("that is %s for a moment is read again", async (_how, begin) => {
    await using world = await loopWorld(async () => {}, { files });
    const [file, text] = [join(world.root, path), files[path] ?? ""];
    const backlog = await open(world.ralph);
    const idOfNext = async (): Promise<string> => {
      const next = await backlog.next({ inFlight: [], parked: [] });
      return next.status === "item" ? next.item.id : next.status;
    };
    const before = await idOfNext();

    await begin(file, text);
    const written = new Promise((done) => setTimeout(done, 50)).then(() => writeFileSync(file, text));
    const after = await idOfNext();
    await written;

    expect(after).toBe(before);
  });

  test("that is empty when the run begins is read again", async () => {
    await using world = await loopWorld(async () => {}, { files });
    const file = join(world.root, path);
    const backlog = await open(world.ralph);

    await writeFile(file, "");
    const written = new Promise((done) => setTimeout(done, 50)).then(() => writeFileSync(file, files[path] ?? ""));
    const next = await backlog.next({ inFlight: [], parked: [] });
    await written;

    expect(next.status).toBe("item");
  });

  test("that stays away is not waited for again and again", async () => {
    await using world = await loopWorld(async () => {}, { files });
    await world.ralph.state.read(path);
    await rm(join(world.root, path));

    expect([await world.ralph.state.read(path), await world.ralph.state.read(path)]).toEqual([null, null]);
  });
});
