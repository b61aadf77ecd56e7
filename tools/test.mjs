/**
 * The test command: builds what the tests need, runs one vitest suite under Node, Bun and Deno, and sums it up in its last line.
 *
 *   node tools/test.mjs [node] [bun] [deno] [--no-build] [--skip-artefacts] [FILTER…]
 */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { bunPath, denoPath, environment, mustRun, packageScript, ROOT, run, seconds } from "./runtimes.mjs";

const RUNTIMES = ["node", "bun", "deno"];
/** Whole programs, packages and tools: they start the runtimes themselves, so once, under Node, is all there is to see. */
const BY_NODE = [
  "test/e2e/**",
  "test/fault/**",
  "test/packaging/**",
  "test/tools/**",
  "test/trust/table_*",
  "test/trust/honest.test.ts",
  "test/trust/{absent,secrets_of_runs}.test.ts",
  "test/sandbox/{doctor,missing}.test.ts",
  "test/agents/builtin.test.ts",
  "test/checks/browser.test.ts",
  // whole pages: they start the program that they are about
  "test/web/**",
  // whole programs inside of bubblewrap
  "test/sandbox/attempts.test.ts",
  // a database that the test starts; workers that are killed there are the compiled program's
  "test/machines/{engine,steered,workers}.test.ts",
];
/**
 * Whole runs over all workflows, in repositories of their own: what they protect is the loop's rules, which know no
 * runtime. Once, and under Bun, which the program is compiled with: to start a process costs it a fifth of what it costs Node.
 */
const BY_BUN = [
  "test/agents/{patient_turn,refused,replay}.test.ts",
  "test/checks/{brief,isolated,reviewed_by,unchecked_items}.test.ts",
  "test/hooks/hooks.test.ts",
  "test/workflows/gsd/at_once.test.ts",
  "test/trust/{judging,brief,brief_next_run,brief_reviewers,claims,history,links,property}.test.ts",
  "test/loop/{baseline,challenge,fold,parallel,parallel_peers,parked}.test.ts",
  "test/machines/{job,other_workflows,results}.test.ts",
  // which files and commits come of a plan and of a backlog is git's doing; what they are read from is read in each
  "test/workflows/exec/{plan,plan_base,plan_branch,plan_existing,plan_guard,prd_loop,understand}.test.ts",
  "test/workflows/{feature,spec}/backlog.test.ts",
  "test/workflows/gsd/{backlog,open_plans}.test.ts",
  "test/workflows/spec/{contract,ends}.test.ts",
  "test/workflows/sprint/{contract,loop}.test.ts",
  "test/testing/backlog_contract.test.ts",
  "test/checks/checkout/{checkout,cheats,dependencies}.test.ts",
  // kills and restarts by the second: the steps themselves have their tests in every runtime
  "test/workflows/exec/{plan_resume,plan_retries}.test.ts",
];

const MEMORY_BYTES = 4 * 2 ** 30;

/** Files that may fail at first and count when they pass by themselves. */
const MOST_UNSTEADY = 3;

/** What other runtimes see to: `runtimes` are those that see to what runs once; without Bun among them Node does. */
function excludedFrom(runtime, runtimes) {
  const inNode = runtimes.includes("node") ? "node" : null;
  const inBun = runtimes.includes("bun") ? "bun" : inNode;
  return [...(runtime === inNode ? [] : BY_NODE), ...(runtime === inBun ? [] : BY_BUN)];
}

function command(runtime) {
  const script = packageScript("vitest");
  if (runtime === "bun") return [bunPath(), ["--bun", script]];
  if (runtime === "deno") return [denoPath(), ["run", "-A", "npm:vitest"]];
  return [process.execPath, [script]];
}

/** Where tests have their repositories: in memory where there is room, since a commit waits for the disk. */
function testFolder() {
  const memory = "/dev/shm";
  if (process.env.TMPDIR !== undefined || process.platform !== "linux" || !existsSync(memory)) return null;
  const { bavail, bsize } = statfsSync(memory);
  if (bavail * bsize < MEMORY_BYTES) return null;
  const folder = mkdtempSync(join(memory, "tests-"));
  chmodSync(folder, 0o755); // a database of a test is another user's
  const program = join(folder, "runs");
  writeFileSync(program, "#!/bin/sh\nexit 7\n");
  chmodSync(program, 0o755);
  if (spawnSync(program).status === 7) return folder;
  rmSync(folder, { recursive: true, force: true });
  return null;
}

async function runSuite(runtime, filters, excluded) {
  const folder = mkdtempSync(join(tmpdir(), "ralph-test-"));
  const report = join(folder, "report.json");
  const started = performance.now();
  try {
    const [file, args] = command(runtime);
    // What is chosen may be another runtime's: the end says when nothing ran in any of them.
    const chosen = filters.length > 0 ? [...filters, "--passWithNoTests"] : [];
    const exclude = excluded.flatMap((pattern) => ["--exclude", pattern]);
    const { code } = await run(
      file,
      [...args, "run", "--reporter=default", "--reporter=json", `--outputFile.json=${report}`, ...exclude, ...chosen],
      { env: environment({ RALPH_TEST_RUNTIME: runtime, ...(FOLDER === null ? {} : { TMPDIR: FOLDER }) }) },
    );
    return { runtime, ...read(report, code), time: seconds(started) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A file that could not be loaded holds no test, and an unhandled error fails none: each counts as one failure. */
function read(report, code) {
  if (!existsSync(report)) {
    return {
      passed: 0,
      failed: 1,
      skipped: 0,
      slowest: [],
      failing: [],
      unsteady: [],
      note: `vitest ended with ${code} and no report`,
    };
  }
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, testResults } = JSON.parse(
    readFileSync(report, "utf8"),
  );
  const unloaded = testResults.filter(({ status, assertionResults }) =>
    status === "failed" && assertionResults.length === 0
  );
  const failed = numFailedTests + unloaded.length;
  const slowest = testResults
    .map(({ name, startTime, endTime }) => ({ name: relative(ROOT, name), ms: endTime - startTime }))
    .sort((left, right) => right.ms - left.ms).slice(0, 5);
  const failing = testResults.filter(({ status }) => status === "failed").map(({ name, assertionResults }) => ({
    name: relative(ROOT, name),
    failed: assertionResults.filter((test) => test.status === "failed").length || 1,
  }));
  const note = code !== 0 && failed === 0 ? `vitest ended with ${code} although no test failed` : "";
  return {
    passed: numPassedTests,
    failed: failed + (note === "" ? 0 : 1),
    skipped: numPendingTests + numTodoTests,
    slowest,
    failing,
    unsteady: [],
    note,
  };
}

/**
 * What failed, once more, by itself: on a machine that is busy a test of timing can fail and mean nothing. A file that
 * passes then counts, and is named as unsteady: it wants fixing. More than a few such files are no accident.
 */
async function runAgain(first, excluded) {
  if (first.failing.length === 0 || first.failing.length > MOST_UNSTEADY) return first;
  console.log(`\n${first.runtime}, once more: ${first.failing.map(({ name }) => name).join(" ")}`);
  const second = await runSuite(first.runtime, first.failing.map(({ name }) => name), excluded);
  const still = new Set(second.failing.map(({ name }) => name));
  const steadied = first.failing.filter(({ name }) => !still.has(name));
  return {
    ...first,
    passed: first.passed + steadied.reduce((sum, { failed }) => sum + failed, 0),
    failed: first.failed - steadied.reduce((sum, { failed }) => sum + failed, 0),
    note: second.failed === 0 ? "" : first.note,
    unsteady: steadied,
  };
}

function show({ runtime, passed, failed, skipped, slowest, note, time, unsteady }) {
  console.log(
    `${runtime}: ${passed} passed, ${failed} failed, ${skipped} skipped in ${time}${note === "" ? "" : ` (${note})`}`,
  );
  for (const { name, failed: count } of unsteady) console.log(`  unsteady: ${name}: ${count} failed at first`);
  for (const { name, ms } of slowest) console.log(`  ${(ms / 1000).toFixed(1).padStart(6)} s  ${name}`);
}

async function main(words) {
  const started = performance.now();
  const chosen = RUNTIMES.filter((runtime) => words.includes(runtime));
  const filters = words.filter((word) => !RUNTIMES.includes(word) && !word.startsWith("--"));
  const artefacts = !words.includes("--skip-artefacts");
  const results = [];
  let buildFailure = "";
  if (artefacts && !words.includes("--no-build")) {
    try {
      process.stdout.write(await mustRun(process.execPath, [join(ROOT, "tools", "build.mjs")], { capture: true }));
    } catch (error) {
      buildFailure = error.message;
      console.error(buildFailure);
    }
  }
  const built = seconds(started);
  const runtimes = chosen.length > 0 ? chosen : RUNTIMES;
  for (const runtime of runtimes) {
    console.log(`\n${runtime}`);
    const excluded = excludedFrom(runtime, artefacts ? runtimes : []);
    results.push(await runAgain(await runSuite(runtime, filters, excluded), excluded));
  }
  console.log("");
  for (const result of results) show(result);
  const passed = results.reduce((sum, result) => sum + result.passed, 0);
  const failed = results.reduce((sum, result) => sum + result.failed, buildFailure === "" ? 0 : 1);
  if (buildFailure !== "") console.log("the build failed: see above");
  console.log(`build ${built}, all ${seconds(started)}`);
  console.log(`vitest: ${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
}

const FOLDER = testFolder();
try {
  await main(process.argv.slice(2));
} finally {
  if (FOLDER !== null) rmSync(FOLDER, { recursive: true, force: true });
}
