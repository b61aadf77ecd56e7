import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { makeRepository } from "../repository.ts";
import { ARTEFACT } from "./cli.ts";

/** A real repository with a current spec, on which real command lines work. */
export interface PlanWorld {
  readonly root: string;
  git(...args: readonly string[]): string;
  /** One command of Ralph's, to its end. */
  ralph(
    ...args: readonly string[]
  ): { readonly exitCode: number | null; readonly stdout: string; readonly stderr: string };
  /** A shell line in a process group of its own; `$RALPH` starts Ralph. */
  shell(line: string): ChildProcess;
  plan(): readonly Readonly<Record<string, unknown>>[];
}

export function planWorld(): PlanWorld {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "ralph-plan-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }));
  const kept = Object.entries(process.env).filter(([name]) => !/^(RALPH_|GIT_)/.test(name));
  const env = {
    ...Object.fromEntries(kept),
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
    RALPH: ARTEFACT.map((word) => `'${word}'`).join(" "),
  };
  const [file = "", ...before] = ARTEFACT;
  const files = { "code.txt": "code\n", "a.md": "# a\n" };
  const git = makeRepository(root, { files, environment: env, config: "[gc]\n\tauto = 0\n" });
  return {
    root,
    git: (...args) => git(...args).trim(),
    ralph(...args) {
      const { status, stdout, stderr } = spawnSync(file, [...before, ...args], { cwd: root, env, encoding: "utf8" });
      return { exitCode: status, stdout, stderr };
    },
    shell: (line) => spawn("sh", ["-c", line], { cwd: root, env, detached: true, stdio: ["ignore", "ignore", "pipe"] }),
    plan: () =>
      readFileSync(join(root, "ralph/plan.jsonl"), "utf8").trimEnd().split("\n").map((line) => JSON.parse(line)),
  };
}

/** Resolves with the exit code, and what it said on standard error. */
export function ended(child: ChildProcess): Promise<{ readonly code: number | null; readonly stderr: string }> {
  let stderr = "";
  child.stderr?.on("data", (chunk: Buffer) => stderr += chunk.toString("utf8"));
  return new Promise((done) => child.on("close", (code) => done({ code, stderr })));
}
