/**
 * A run with four workers that ends itself by SIGKILL right before or after one line of the journal, or of git's move of
 * the project's tree: `bun killed_run.ts ROOT NUMBER before|after [NAME]`. With number 0 it runs to its end; with a name
 * only the calls of that name count. A project with a plan is worked on by the spec workflow, by one worker.
 */
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { appendClaims, CLAIMS_VARIABLE } from "../../../lib/backlog/claims.ts";
import type { Agent, RalphContext } from "../../../lib/context/context.ts";
import { createRalph } from "../../../lib/recipe/create_ralph.ts";
import { runLoop } from "../../../lib/loop/run/run_loop.ts";
import { prdBacklog } from "../../../lib/workflows/exec/backlog.ts";
import { specBacklog } from "../../../lib/workflows/spec/backlog.ts";
import { PLAN_FILE } from "../../../lib/workflows/spec/types.ts";

const [root = ".", number = "0", when = "before", only] = process.argv.slice(2);

const agent: Agent = {
  name: "test",
  ensureUsable: () => Promise.resolve(),
  async runTurn({ cwd, environment, transcript }) {
    await writeFile(transcript, "");
    const { RALPH_ITEM: id = "", RALPH_STAGE: stage } = environment;
    const claim = stage === "VERIFY" ? { command: "task accept" } : { command: "task done", id };
    if (stage !== undefined) await appendClaims(environment[CLAIMS_VARIABLE] ?? "", [{ v: 1, at: 1, ...claim }]);
    if (stage !== "VERIFY") await writeFile(join(cwd, `${id}.txt`), "done\n");
    const lines = ["<promise>COMPLETE</promise>"];
    const unknown = { inputTokens: null, outputTokens: null, cachedTokens: null, reasoningTokens: null, costUsd: null };
    const usage = { ...unknown, estimated: false };
    return { end: { reason: "completed" }, text: "", lines, usage, transcript, durationMs: 1 };
  },
};

let count = 0;

/** Every call that writes counts. */
function killing<Call extends (...given: never[]) => Promise<unknown>>(name: string, call: Call): Call {
  return (async (...given: never[]) => {
    if (only === undefined || only === name) count += 1;
    const isIt = count === Number(number) && [name, undefined].includes(only);
    if (isIt) console.log(`${when} ${name}`);
    if (isIt && when === "before") process.kill(process.pid, "SIGKILL");
    const result = await call(...given);
    if (isIt && when === "after") process.kill(process.pid, "SIGKILL");
    return result;
  }) as Call;
}

await using ralph = await createRalph({ root, agent });
const { journal, repository } = ralph;
const writing = ["begun", "settling", "settled", "runEnded", "briefRead", "briefRestored", "cleanStart"] as const;
const wrapped = Object.fromEntries(writing.map((name) => [name, killing(name, journal[name] as never)]));
const git = repository?.git.bind(repository);
const moving = killing("git read-tree", git as never) as unknown as NonNullable<typeof git>;
const commit = killing("git commit", repository?.commit.bind(repository) as never);
const context: RalphContext = {
  ...ralph,
  journal: { ...journal, ...wrapped },
  repository: {
    ...repository!,
    git: (args, options) => (args[0] === "read-tree" && !args.includes("-n") ? moving : git!)(args, options),
    commit: commit as never,
  },
};
const run = existsSync(join(root, PLAN_FILE))
  ? await runLoop(context, specBacklog(context))
  : await runLoop(context, prdBacklog(context), { workers: 4 });
console.log(`${run.status} ${count}`);
