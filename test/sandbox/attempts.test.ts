import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:http";
import { createServer as createSocketServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ARTEFACT } from "../e2e/cli.ts";
import { makeRepository } from "../repository.ts";
import { ATTEMPTS } from "./attempts.ts";
import { needs, SANDBOX } from "../needs.ts";
import { commandsWith } from "../fault/processes.ts";

const isRoot = process.getuid?.() === 0;
/** Not below a folder that is hidden by itself: what hides the home folder has to be the rule for the home folder. */
const PARENT = isRoot ? "/var/lib" : tmpdir();
const USERS = isRoot ? ["root", "an ordinary user"] as const : ["an ordinary user"] as const;
const NOBODY = 65534;

for (const user of USERS) {
  describe(`as ${user}`, needs(...SANDBOX, "curl", "python3"), () => {
    const lab = mkdtempSync(join(PARENT, "ralph-lab-"));
    const [project, home, out] = ["project", "home", "out"].map((name) => join(lab, name)) as [string, string, string];
    const marks = new Map<string, string>();
    let servers: readonly { close(): unknown }[] = [];
    let printed = "";

    beforeAll(async () => {
      for (const path of [project, join(home, ".ssh"), out]) mkdirSync(path, { recursive: true });
      writeFileSync(join(home, ".ssh/id_test"), "SECRET\n");
      writeFileSync(join(home, ".bashrc"), "keepme\n");
      writeFileSync(join(home, ".gitconfig"), "[user]\n\tname = Ada\n\temail = ada@example.com\n");
      writeFileSync(join(out, "known"), "known\n");
      const [closed, open] = [await listening(), await listening()];
      const [byPath, abstract] = [createSocketServer(), createSocketServer()];
      byPath.listen(join(home, "agent.sock"));
      abstract.listen("\0ralph-lab");
      servers = [closed.server, open.server, byPath, abstract];
      const story = { id: "US-001", title: "A", acceptanceCriteria: ["Verify: `test -f made.txt`"], priority: 1 };
      const prd = { branchName: "main", userStories: [{ ...story, passes: false, notes: "" }] };
      const config = {
        protect: ["locked/**"],
        sandbox: { environment: ["LAB_API_KEY"], allow: [`localhost:${open.port}`] },
      };
      const git = makeRepository(project, {
        files: {
          "scripts/ralph/prd.json": JSON.stringify(prd),
          "ralph.config.json": JSON.stringify(config),
          "locked/rules.txt": "rules\n",
        },
      });
      git("worktree", "add", "-q", join(out, "other"));
      writeFileSync(join(lab, "agent.sh"), agentScript());
      chmodSync(join(lab, "agent.sh"), 0o755);
      const owner = user === "root" || !isRoot ? null : NOBODY;
      if (owner !== null) spawnSync("chown", ["-R", `${owner}:${owner}`, lab]);
      chmodSync(lab, 0o755);
      printed = await runRalph(owner, { PORT: String(closed.port), ALLOWED_PORT: String(open.port) });
      const runs = join(project, "scripts/ralph/runs");
      if (!existsSync(runs)) throw new Error(`no run: ${printed}`);
      const run = readdirSync(runs).find((name) => existsSync(join(runs, name, "iteration-1.log"))) ?? "";
      for (const line of readFileSync(join(runs, run, "iteration-1.log"), "utf8").split("\n")) {
        const [, mark, name] = /^(allowed|denied) {2}(.+)$/.exec(line) ?? [];
        if (mark !== undefined && name !== undefined) marks.set(name, mark);
      }
    });

    afterAll(() => {
      for (const server of servers) server.close();
      rmSync(lab, { recursive: true, force: true });
    });

    async function runRalph(owner: number | null, variables: Readonly<Record<string, string>>): Promise<string> {
      const flags = ["--workflow", "exec", "--ui", "plain", "--no-color", "--sandbox", "--verbose"];
      const command = [...ARTEFACT, "run", ...flags, "--agent-cmd", `bash ${join(lab, "agent.sh")}`];
      const asOwner = owner === null
        ? command
        : ["setpriv", `--reuid=${owner}`, `--regid=${owner}`, "--clear-groups", ...command];
      const kept = Object.entries(process.env).filter(([name]) => !/^(RALPH_|GIT_|XDG_)/.test(name));
      const child = spawn(asOwner[0] as string, asOwner.slice(1), {
        cwd: project,
        env: {
          ...Object.fromEntries(kept),
          ...variables,
          HOME: home,
          CI: "true", // the configuration of the project is agreed to
          LAB_HOME: home,
          OUT: out,
          PID: String(process.pid),
          AWS_SECRET_ACCESS_KEY: "aws-secret-value",
          LAB_API_KEY: "lab-key-value",
          TMPDIR: "/tmp",
        },
        stdio: ["ignore", "pipe", "pipe"],
      });
      let text = "";
      for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => text += String(chunk));
      const code = await new Promise((resolve) => child.on("exit", resolve));
      return `${text}\nexit ${String(code)}`;
    }

    it.each(ATTEMPTS)("$expect: $name", ({ name, expect: wanted }) => {
      expect(marks.get(name), printed).toBe(wanted === "denied" ? "denied" : "allowed");
    });

    it("leaves nothing of it outside, says what was refused, and passes", () => {
      expect(printed).toContain("✓ passed: 1 verified");
      expect(printed).toContain("exit 0");
      expect(printed).toContain("sandbox: bubblewrap");
      expect(printed).toMatch(/the sandbox refused example\.com:80 to a turn; to allow it, add "example\.com"/);
      expect(readFileSync(join(home, ".bashrc"), "utf8")).toBe("keepme\n");
      expect(readdirSync(out).sort()).toEqual(["known", "other"]);
      expect(readFileSync(join(out, "known"), "utf8")).toBe("known\n");
      expect(existsSync("/var/tmp/ralph-escape")).toBe(false);
      expect(existsSync("/var/spool/cron/escape")).toBe(false);
      expect(commandsWith("sleep 291")).toEqual([]);
      expect(commandsWith("UNIX-CONNECT:/tmp/claude-")).toEqual([]); // other tests' proxies have folders of their own
      expect(readFileSync(join(project, ".git/config"), "utf8")).not.toContain("hooksPath");
    });
  });
}

async function listening(): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer((_request, response) => response.end("here"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return { server, port: typeof address === "object" && address !== null ? address.port : 0 };
}

function agentScript(): string {
  return [
    "#!/bin/bash",
    "cat > /dev/null",
    "G=$(git rev-parse --absolute-git-dir)",
    "export G",
    `try() { if timeout 10 bash -c "$2" > /dev/null 2>&1; then echo "allowed  $1"; else echo "denied  $1"; fi; }`,
    ...ATTEMPTS.map(({ name, command }) => `try ${quoted(name)} ${quoted(command)}`),
    "rm -rf l1 l2 l3 l4 l5 c h",
    "echo '<promise>COMPLETE</promise>'",
  ].join("\n");
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
