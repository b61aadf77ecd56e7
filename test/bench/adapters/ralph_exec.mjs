// Ralph for the side-by-side bench, loaded by its BENCH_ADAPTERS: the exec workflow's `run` from the binary that
// RALPH_BIN names. Ralph verifies and commits; the agent prints the marker.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const BINARY = process.env.RALPH_BIN;
const PRD = "scripts/ralph/prd.json";

function stories(count) {
  return Array.from({ length: count }, (_, index) => ({
    id: `US-${String(index + 1).padStart(4, "0")}`,
    title: `Story number ${index + 1}`,
    acceptanceCriteria: [`work/s${index + 1}.txt exists`, "the verify command passes"],
    priority: index + 1,
    passes: false,
    notes: "",
  }));
}

function textOf(sandbox) {
  const path = join(sandbox.repo, PRD);
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}

export default {
  name: "ralph-exec",
  needs: [BINARY],
  state: PRD,
  commits: "tool",
  verify: true,
  cold: { version: [BINARY, "--version"], help: [BINARY, "--help"], status: [BINARY, "status"] },
  agent: { FA_MARK: "none", FA_FILE: PRD, FA_COMMIT: 0, FA_STDIN: 1, FA_EACH: "\n<promise>COMPLETE</promise>" },
  timeoutOpt: { text: "--timeout 3", wait: 30, o: { agentTimeout: 3 } },
  prepare(sandbox) {
    mkdirSync(join(sandbox.repo, "scripts/ralph"), { recursive: true });
    const prd = { branchName: "main", userStories: stories(sandbox.n) };
    writeFileSync(join(sandbox.repo, PRD), `${JSON.stringify(prd, null, 2)}\n`);
    const config = { provider: { command: "claude -p" }, verify: { default: ["test -d work"] } };
    writeFileSync(join(sandbox.repo, "ralph.config.json"), `${JSON.stringify(config, null, 2)}\n`);
  },
  command: (_sandbox, options = {}) => [
    BINARY,
    "run",
    ...(options.verify === undefined ? [] : ["--verify", options.verify]),
    ...(options.max === undefined ? [] : ["--max-iterations", String(options.max)]),
    ...(options.agentTimeout === undefined ? [] : ["--timeout", String(options.agentTimeout)]),
  ],
  done: (sandbox) => (textOf(sandbox).match(/"passes": ?true/g) ?? []).length,
  valid(sandbox) {
    try {
      JSON.parse(textOf(sandbox));
      return true;
    } catch {
      return false;
    }
  },
};
