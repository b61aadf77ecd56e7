import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { expect, onTestFinished, test } from "vitest";
import { createHost } from "../../lib/host/create_host.ts";
import type { Host } from "../../lib/host/types.ts";
import { main } from "../../lib/program/main.ts";
import { ARTEFACT } from "../e2e/cli.ts";
import { MALICE, type Malice } from "./malicious_projects.ts";
import { needs } from "../needs.ts";

const COMMANDS = [
  ["status"],
  ["next"],
  ["validate"],
  ["doctor"],
  ["log"],
  ["query"],
  ["report"],
  [],
  [
    "status",
    "--json",
  ],
  ["report", "--format", "json"],
  ["next", "--json"],
  ["query", "tasks"],
  ["recipes"],
] as const;
/** A terminal acts upon these; a tab and the end of a line are none of them. */
const CONTROL_REGEXP = /[^\P{Cc}\n\t]|[\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/u;
/** The longest processor time: the machine may be busy. */
const LONGEST_MS = 2000;
const LARGEST_BYTES = 200_000_000;
const isLong = process.env["RALPH_TRUST"] === "long";

function project(malice: Malice): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "ralph-malice-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  execFileSync("git", ["init", "-q", "-b", "main", root]);
  malice.make(root);
  return root;
}

/** Runs a command line in this process: what it prints, its exit code, the processor time that it took. */
async function look(root: string, args: readonly string[]): Promise<{ text: string; exitCode: number; ms: number }> {
  let text = "";
  const real = createHost();
  const host: Host = {
    ...real,
    environment: { ...real.environment, cwd: root, variables: { ...real.environment.variables, FORCE_COLOR: "" } },
    terminal: { ...real.terminal, isTerminal: () => false, write: (_, more) => void (text += more) },
  };
  const before = process.cpuUsage();
  const exitCode = await main([...args, "--root", root], host);
  const { user, system } = process.cpuUsage(before);
  return { text, exitCode, ms: (user + system) / 1000 };
}

test.each(isLong ? MALICE : MALICE.slice(0, 12))(
  "looking at a project does no harm: $name",
  needs("a POSIX system"),
  async (malice) => {
    const root = project(malice);
    const findings: string[] = [];
    for (const args of COMMANDS) {
      const memory = process.memoryUsage.rss();
      const { text, exitCode, ms } = await look(root, args);
      const command = args.join(" ") || "ralph";
      const control = CONTROL_REGEXP.exec(text);
      if (control !== null) {
        findings.push(`${command}: ${JSON.stringify(text.slice(Math.max(0, control.index - 40), control.index + 20))}`);
      }
      if (exitCode === 70) findings.push(`${command}: exit 70: ${text.slice(0, 400)}`);
      if (ms > LONGEST_MS) findings.push(`${command}: ${Math.round(ms)} ms`);
      if (process.memoryUsage.rss() - memory > LARGEST_BYTES) findings.push(`${command}: memory`);
      if (existsSync(join(root, "CANARY"))) findings.push(`${command}: ran a program of the repository`);
    }

    expect(findings).toEqual([]);
  },
);

test("the program itself does no harm either", needs("a POSIX system"), () => {
  const findings: string[] = [];
  for (const malice of MALICE.slice(0, 12)) {
    const root = project(malice);
    const [file = "", ...start] = ARTEFACT;
    const done = spawnSync(file, [...start, "status"], { cwd: root, encoding: "utf8", timeout: 150_000 });
    if (done.status === 70 || done.status === null) findings.push(`${malice.name}: ${done.status} ${done.stderr}`);
    if (CONTROL_REGEXP.test(done.stdout + done.stderr)) findings.push(`${malice.name}: control characters`);
  }

  expect(findings).toEqual([]);
});
