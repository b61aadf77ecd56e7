/**
 * The test command: builds what the tests need, runs one vitest suite under Node, Bun and Deno, and sums it up in its last line.
 *
 *   node tools/test.mjs [node] [bun] [deno] [--all] [--quick] [--no-build] [--skip-artefacts] [FILTER…]
 *
 * `--all` fails if the machine lacks a program that a test needs; without it such tests are skipped and counted. It
 * also fails for files that the suite left outside of its folder.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { leftFiles, makeTestFolder, surroundings, takeAway, watchFolder } from "./test_folder.mjs";
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
  // shells that read completions, and the program on hostile files
  "test/cli/completions.test.ts",
  "test/trust/malicious_input.test.ts",
  // whole pages: they start the program that they are about
  "test/web/**",
  // a whole program, under another umask
  "test/host/own_modes.test.ts",
  // whole programs inside of bubblewrap
  "test/sandbox/{attempts,home,light}.test.ts",
  // a database that the test starts; workers that are killed there are the compiled program's
  "test/machines/{engine,operated,steered,workers}.test.ts",
];
/**
 * Whole runs over all workflows, in repositories of their own: what they protect is the loop's rules, which know no
 * runtime. Once, and under Bun, which the program is compiled with: to start a process costs it a fifth of what it costs Node.
 */
const BY_BUN = [
  "test/agents/{adapter_agent,command_agent,patient_turn,refused,replay,transcripts}.test.ts",
  "test/backlog/contract.test.ts",
  "test/checks/{brief,isolated,pipeline,reviewed_by,unchecked_items,verify}.test.ts",
  "test/hooks/hooks.test.ts",
  "test/workflows/gsd/at_once.test.ts",
  "test/trust/{judging,judging_later,weakened,brief,brief_next_run,brief_reviewers,claims,folders,git_layouts,history,links}.test.ts",
  "test/trust/{persons_files,property,secrets_of_checks,settings,unreadable_git}.test.ts",
  "test/loop/{answered,baseline,challenge,fold,parallel,parallel_conflicts,parallel_peers,parked}.test.ts",
  "test/loop/{clock,item_proofs,run_line,parallel_batches,parallel_checks,parallel_faults,rules,turn_conflicts}.test.ts",
  "test/loop/{own_parts,state_commit,unclaimed,uncommitted_meanwhile,uncommitted_places,uncommitted_work}.test.ts",
  "test/loop/{unsteady,work_item}.test.ts",
  "test/machines/{job,other_workflows,results}.test.ts",
  // which files and commits come of a plan and of a backlog is git's doing; what they are read from is read in each
  "test/workflows/exec/{plan,plan_base,plan_branch,plan_existing,plan_guard,prd_loop,understand}.test.ts",
  "test/workflows/{feature,spec}/backlog.test.ts",
  "test/workflows/gsd/{backlog,open_plans,position,standing}.test.ts",
  "test/workflows/spec/{contract,ends,history}.test.ts",
  "test/workflows/torn_state.test.ts",
  "test/workspace/kept_copies.test.ts",
  // the program itself, on issues and on attestations: what reads them has its tests in every runtime
  "test/trackers/{claims,github_run,meanwhile,together}.test.ts",
  "test/attest/workflows.test.ts",
  // git's behaviour, and the sandbox's: what starts them has its tests in test/host
  "test/git/{branches,commit,fold,killed,landed_commit,power_cut,read_files,ready,snapshot,swapped,trial_commit}.test.ts",
  "test/host/{git_guard,nested_git}.test.ts",
  "test/sandbox/{command,outside,service}.test.ts",
  "test/workflows/sprint/{contract,loop,memory,standard}.test.ts",
  "test/testing/backlog_contract.test.ts",
  "test/checks/checkout/{checkout,cheats,dependencies}.test.ts",
  // only there is no instant between a look at a file and its replacement
  "test/backlog/state_files_meanwhile.test.ts",
  "test/workflows/notes_meanwhile.test.ts",
  // kills and restarts by the second: the steps themselves have their tests in every runtime
  "test/workflows/exec/{plan_resume,plan_retries}.test.ts",
];

/** For the hand that edits: what needs no repository, and one whole run. */
const QUICK = [
  "test/backlog/",
  "test/config/",
  "test/prompts/",
  "test/report/render",
  "test/ui/",
  "test/cli/parse",
  "test/cli/summary",
  "test/events/",
  "test/recipes/recipes",
];

/**
 * Files that other runtimes see to: `runtimes` are those that see to a file which runs once; without Bun among them
 * Node does.
 */
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

/** In units of 512 bytes: no test writes a file of more than 2 GB, whatever it does wrong. */
const FILE_BLOCKS = 4 * 2 ** 20;

function limited(file, args) {
  if (process.platform === "win32") return [file, args];
  return ["sh", ["-c", `ulimit -f ${FILE_BLOCKS}; exec "$0" "$@"`, file, ...args]];
}

function reportIn(folder) {
  return join(folder, "report.json");
}

/** Runs vitest in a folder of its own, and ends it if that folder grows too large. */
async function runVitest(folder, runtime, args, capture) {
  const [file, before] = command(runtime);
  const env = environment({
    RALPH_TEST_RUNTIME: runtime,
    RALPH_TEST_FOLDER: folder,
    RALPH_TEST_REPORT: reportIn(folder),
    TMPDIR: folder,
  });
  const aborter = new AbortController();
  let harmful = "";
  const unwatch = watchFolder(folder, (test) => {
    harmful = `stopped: ${test} filled more than 4 GB`;
    aborter.abort();
  });
  const options = { env, signal: aborter.signal, capture };
  const { code, output } = await run(...limited(file, [...before, "run", ...args]), options);
  unwatch();
  return { code, harmful, output };
}

/** `isShown`: what it prints is shown as it comes, else when it has ended. */
async function runSuite(runtime, filters, excluded, isShown) {
  if (isShown) console.log(`\n${runtime}`);
  const folder = makeTestFolder();
  const started = performance.now();
  // The chosen files may be another runtime's: the end says when nothing ran in any of them.
  const chosen = filters.length > 0 ? [...filters, "--passWithNoTests"] : [];
  const exclude = excluded.flatMap((pattern) => ["--exclude", pattern]);
  const reporters = ["--reporter=default", `--reporter=${join(ROOT, "tools", "test_report.mjs")}`];
  const words = [...reporters, ...exclude, ...chosen];
  const { code, harmful, output } = await runVitest(folder, runtime, words, !isShown);
  if (!isShown) console.log(`\n${runtime}\n${output}`);
  const result = read(reportIn(folder), code);
  const harm = await takeAway(folder);
  const notes = [result.note, harmful].filter((note) => note !== "").join("; ");
  const failed = result.failed + harm.length + (harmful === "" || result.failed > 0 ? 0 : 1);
  return { runtime, ...result, note: notes, failed, harm, time: seconds(started) };
}

/**
 * Node's part waits for processes half of its time, the others' seldom: beside each other they take as long as the
 * machine needs for both. The first one has the terminal.
 */
async function runSuites(runtimes, filters, runsOnce) {
  const [first, ...others] = runtimes;
  const suite = (runtime) => runSuite(runtime, filters, excludedFrom(runtime, runsOnce), runtime === first);
  async function inTurn() {
    const results = [];
    for (const runtime of others) results.push(await suite(runtime));
    return results;
  }
  const [result, results] = await Promise.all([suite(first), inTurn()]);
  return [result, ...results];
}

/** Each failure counts as one: of a test, of a file that could not be loaded, of a hook, of no test at all. */
function read(report, code) {
  if (!existsSync(report)) {
    const note = `vitest ended with ${code} and no report`;
    return { passed: 0, failed: 1, skipped: 0, slowest: [], lacks: [], failures: [], note };
  }
  const read = JSON.parse(readFileSync(report, "utf8"));
  const { length: failed } = read.failures;
  const note = code !== 0 && failed === 0 ? `vitest ended with ${code} although no test failed` : "";
  return { ...read, failed: failed + (note === "" ? 0 : 1), note };
}

/** A long text says at its beginning what it is about, and at its end what the difference is. */
const FIRST_LINES = 6;
const LAST_LINES = 12;

function shortened(lines) {
  if (lines.length <= FIRST_LINES + LAST_LINES) return lines;
  return [...lines.slice(0, FIRST_LINES), "[…]", ...lines.slice(-LAST_LINES)];
}

/** Once more at the end, where the one who reads only the last lines finds it. */
function showFailures({ runtime, failures }) {
  for (const { name, text } of failures) {
    console.log(`failed (${runtime}): ${name}`);
    for (const line of shortened(text.split("\n"))) console.log(`  ${line.slice(0, 300)}`);
  }
}

function show({ runtime, passed, failed, skipped, slowest, note, time, harm }) {
  console.log(
    `${runtime}: ${passed} passed, ${failed} failed, ${skipped} skipped in ${time}${note === "" ? "" : ` (${note})`}`,
  );
  for (const line of harm) console.log(`  left behind: ${line}`);
  for (const { name, ms } of slowest) console.log(`  ${(ms / 1000).toFixed(1).padStart(6)} s  ${name}`);
}

/** The answer of test/needs.ts for this machine, after npm's programs were fetched. */
async function probe(quick) {
  const script = join(ROOT, "tools", "needs.ts");
  if (!quick) await run(bunPath(), [script, "--fetch"]);
  return JSON.parse(await mustRun(bunPath(), [script], { capture: true }));
}

/** Says why tests were skipped, and the one command that installs what they need. */
function showSkipped(lacks, table) {
  const counts = new Map();
  for (const name of lacks) counts.set(name, (counts.get(name) ?? 0) + 1);
  const reasons = [...counts].sort(([, left], [, right]) => right - left);
  if (reasons.length > 0) console.log(`skipped: ${reasons.map(([name, count]) => `${name} (${count})`).join(", ")}`);
  const key = process.platform === "darwin" ? "brew" : "apt";
  const packages = table.filter(({ name, missing }) => missing && counts.has(name)).map((row) => row[key]);
  const wanted = packages.filter((name) => name !== null);
  if (wanted.length === 0) return;
  const root = process.getuid?.() === 0 ? "" : "sudo ";
  const install = key === "brew" ? "brew install" : `${root}apt-get install --no-install-recommends`;
  console.log(`to run them: ${install} ${wanted.join(" ")}`);
}

async function build() {
  try {
    process.stdout.write(await mustRun(process.execPath, [join(ROOT, "tools", "build.mjs")], { capture: true }));
    return true;
  } catch (error) {
    console.error(error.message);
    return false;
  }
}

async function main(words) {
  const started = performance.now();
  const quick = words.includes("--quick");
  const named = RUNTIMES.filter((runtime) => words.includes(runtime));
  const runtimes = named.length > 0 ? named : quick ? ["node"] : RUNTIMES;
  const filters = [
    ...words.filter((word) => !RUNTIMES.includes(word) && !word.startsWith("--")),
    ...(quick ? QUICK : []),
  ];
  const artefacts = !words.includes("--skip-artefacts") && !quick;
  const table = await probe(quick);
  const missing = words.includes("--all") ? table.filter((row) => row.missing && !row.given) : [];
  const built = !artefacts || words.includes("--no-build") || await build();
  const buildTime = seconds(started);
  const before = surroundings();
  const results = await runSuites(runtimes, filters, artefacts ? runtimes : []);
  const files = leftFiles(before);
  console.log("");
  for (const result of results) show(result);
  for (const file of files) console.log(`left behind: ${file}`);
  const sum = (key) => results.reduce((total, result) => total + result[key], 0);
  const [passed, skipped] = [sum("passed"), sum("skipped")];
  // With `--all` the suite has the machine for itself: whatever is new is its own.
  const left = words.includes("--all") ? files.length : 0;
  const failed = sum("failed") + (built ? 0 : 1) + missing.length + left;
  if (!built) console.log("the build failed: see above");
  for (const { name } of missing) console.log(`missing: ${name}`);
  console.log(`build ${buildTime}, all ${seconds(started)}`);
  showSkipped(results.flatMap(({ lacks }) => lacks), table);
  for (const result of results) showFailures(result);
  console.log(`vitest: ${passed} passed, ${failed} failed, ${skipped} skipped`);
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
}

await main(process.argv.slice(2));
