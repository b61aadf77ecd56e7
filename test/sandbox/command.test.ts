import { execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import process from "node:process";
import { describe, expect, it, onTestFinished } from "vitest";
import { filled } from "../../lib/host/command_confiner.ts";
import { ralphCli } from "../e2e/cli.ts";
import { needs } from "../needs.ts";

const STORY = { id: "US-001", title: "A", acceptanceCriteria: ["Verify: `test -f made.txt`"], priority: 1 };
const PRD = { branchName: "main", userStories: [{ ...STORY, passes: false, notes: "" }] };

/** Stands for `docker`: notes its words, takes what comes before the image away, and runs the rest. */
const RUNTIME = `printf '%s\\n' "$*" >> "$RALPH_LAB_LOG"
while [ "$1" != image ]; do shift; done
shift
exec "$@"`;

describe("sandbox.command", () => {
  it("puts values into words, and lists where a word stands alone", () => {
    const values = {
      cwd: "/w/a",
      root: "/w",
      tree: "/t",
      name: "n1",
      mounts: ["--volume", "/t:/w"],
      env: ["--env", "A"],
    };
    expect(filled(["run", "{env}", "{mounts}", "-w", "{cwd}", "--name={name}", "{tree}:{root}", "i"], values)).toEqual(
      "run --env A --volume /t:/w -w /w/a --name=n1 /t:/w i".split(" "),
    );
  });

  it("starts turns and checks, with the tree, the claims and what must not be written", needs("bash"), async () => {
    const command = ["runtime", "run", "{env}", "{mounts}", "--workdir", "{cwd}", "image"];
    const config = { sandbox: { mode: "required", command, environment: ["LAB_TOKEN"] }, verify: { final: "tree" } };
    const cli = ralphCli();
    const { root } = cli.prepare();
    const log = `${root}/../words.log`;
    const { stderr } = await cli
      .files({ "scripts/ralph/prd.json": JSON.stringify(PRD), "ralph.config.json": JSON.stringify(config) })
      .agent("runtime", RUNTIME)
      .env({ CI: "true", RALPH_LAB_LOG: log, SECRET_TOKEN: "abcdef123456", LAB_TOKEN: "passes" })
      .args(
        "run",
        "--workflow",
        "exec",
        "--ui",
        "plain",
        "--agent-cmd",
        "cat >/dev/null; touch made.txt; echo '<promise>COMPLETE</promise>'",
      )
      .expectExit(0);
    expect(stderr).toContain("sandbox: `runtime` (sandbox.command), which decides on hosts");
    const lines = readFileSync(log, "utf8").split("\n");
    const turn = lines.find((line) => line.includes("touch made.txt")) ?? "";
    expect(turn).toContain(`--volume ${root}:${root} `);
    expect(turn).toContain(`--volume ${root}/.git/hooks:${root}/.git/hooks:ro`);
    expect(turn).toContain(`--volume ${root}/ralph.config.json:${root}/ralph.config.json:ro`);
    expect(turn).toMatch(/--volume \S*ralph-claims-\S+ /);
    expect(turn).toContain("--env RALPH_CLAIMS");
    expect(turn).toContain("--env LAB_TOKEN");
    expect(turn).not.toContain("SECRET_TOKEN");
    expect(turn).not.toContain("passes");
    expect(turn).toContain(`--workdir ${root} image bash`);
    expect(lines.filter((line) => line.endsWith("test -f made.txt")).length).toBeGreaterThan(0);
  });

  it("ends a container with its turn, though a daemon has started it", needs("bash"), async () => {
    const command = ["runtime", "{env}", "image"];
    const config = { sandbox: { mode: "required", command }, verify: { final: "tree" } };
    const cli = ralphCli();
    const { root } = cli.prepare();
    const fifo = `${root}/../daemon`;
    execFileSync("mkfifo", [fifo]);
    // as the daemon of a container engine: no child of Ralph's, and the variables inside are those that it is told
    const daemon = spawn("bash", ["-c", 'while read -r line < "$0"; do eval "$line" & done', fifo], { env: {} });
    onTestFinished(() => void daemon.kill());
    const told =
      `words=; while [ "$1" != image ]; do [ "$1" = --env ] || words="$words $1='$(printenv "$1")'"; shift; done
case "$*" in *"sleep 271"*) ;; *) shift; exec "$@" ;; esac
echo "env -i PATH=/usr/bin:/bin $words bash -c 'trap : TERM; echo \\$\\$ > ${root}/../pid; sleep 271; sleep 271'" > ${fifo}
sleep 271`;
    await cli
      .files({ "scripts/ralph/prd.json": JSON.stringify(PRD), "ralph.config.json": JSON.stringify(config) })
      .agent("runtime", told)
      .env({ CI: "true" })
      .args(..."run --workflow exec --ui plain --timeout 2s --max-iterations 1 --agent-cmd".split(" "), "sleep 271")
      .expectExit(1);
    const pid = Number(readFileSync(`${root}/../pid`, "utf8"));
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  });

  it("ends with 4 where the command fails, before any turn", async () => {
    const config = { sandbox: { mode: "required", command: ["runtime", "image"] } };
    const { stderr, read } = await ralphCli()
      .files({ "scripts/ralph/prd.json": JSON.stringify(PRD), "ralph.config.json": JSON.stringify(config) })
      .agent("runtime", "echo 'no such image' >&2; exit 125")
      .env({ CI: "true" })
      .args("run", "--workflow", "exec", "--ui", "plain", "--agent-cmd", "touch made.txt")
      .expectExit(4);
    expect(stderr).toContain("`runtime` (sandbox.command) fails: no such image");
    expect(read("made.txt")).toBeNull();
  });

  it("ends with 4 where the command is not there", async () => {
    const config = { sandbox: { mode: "required", command: ["no-such-runtime", "run"] } };
    const { stderr } = await ralphCli()
      .files({ "scripts/ralph/prd.json": JSON.stringify(PRD), "ralph.config.json": JSON.stringify(config) })
      .env({ CI: "true" })
      .args("run", "--workflow", "exec", "--ui", "plain", "--agent-cmd", "true")
      .expectExit(4);
    expect(stderr).toContain("`no-such-runtime` of `sandbox.command` is not on PATH");
  });
});
