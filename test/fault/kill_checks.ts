/**
 * Rules that must hold after every kill, and rules that must hold when it is done. Each function gives what fell short.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type KillProject, stateOf, USER_FILES } from "./kill_project.ts";

/** The facts that were true after the kills before. */
export interface KillMemory {
  passed: ReadonlySet<string>;
  settled: ReadonlySet<string>;
  head: string;
  /** Turns that the agent had begun for each item when it was seen to have passed. */
  readonly turnsAtPass: Map<string, number>;
  /** Last lines that a kill tore, by file: only those may stay unreadable. */
  readonly torn: Map<string, string>;
}

export function newMemory(project: KillProject): KillMemory {
  const head = project.git("rev-parse", "HEAD").trim();
  return { passed: new Set(), settled: new Set(), head, turnsAtPass: new Map(), torn: new Map() };
}

interface Line {
  readonly type: string;
  readonly itemId?: string;
  readonly item?: { readonly id: string };
  readonly settlement?: { readonly status: string };
}

export function checkAfterKill(project: KillProject, memory: KillMemory): readonly string[] {
  const wrong: string[] = [];
  const passed = passedItems(project, wrong);
  const journal = readLines(project, journalOf(project), memory, wrong) as readonly Line[];
  for (const path of eventFiles(project)) readLines(project, path, memory, wrong);
  JSON.parse(readFileSync(join(project.root, "ralph.config.json"), "utf8"));
  checkUserFiles(project, wrong);

  const settled = settledPassed(project, journal);
  if (passed !== null) {
    for (const id of memory.passed) if (!passed.has(id)) wrong.push(`${id} had passed and no longer does`);
    for (const id of settled) {
      if (!passed.has(id)) {
        wrong.push(`${id} is settled as passed, and the state does not say so`);
      }
    }
    const turns = turnsByItem(project);
    for (const [id, count] of memory.turnsAtPass) {
      if ((turns.get(id) ?? 0) > count) wrong.push(`${id} was worked on again after it was settled as passed`);
    }
    for (const id of settled) memory.turnsAtPass.set(id, turns.get(id) ?? 0);
    memory.passed = new Set([...passed].filter((id) => settled.has(id)));
  }
  for (const id of memory.settled) if (!settled.has(id)) wrong.push(`the journal has lost that ${id} passed`);
  memory.settled = settled;
  const head = project.git("rev-parse", "HEAD").trim();
  const isThere = project.git("merge-base", memory.head, head).trim() === memory.head;
  if (!isThere && project.git("for-each-ref", `refs/ralph/fold/${memory.head}`) !== "") return wrong; // being folded
  if (!isThere && !isFolded(project, memory.head)) wrong.push(`commit ${memory.head} is lost`);
  memory.head = head;
  return wrong;
}

/** To be called once the run has ended by itself with 0. */
export function checkWhenDone(project: KillProject, memory: KillMemory): readonly string[] {
  const wrong: string[] = [...checkAfterKill(project, memory)];
  const folding = project.git("for-each-ref", "refs/ralph/fold").trim();
  if (folding !== "") wrong.push(`a commit is still to be folded: ${folding}`);
  const passed = passedItems(project, wrong) ?? new Set();
  for (const id of project.items) if (!passed.has(id)) wrong.push(`${id} has not passed`);
  const status = project.git("status", "--porcelain", "--untracked-files=all").trimEnd();
  if (status !== " M notes.txt\n?? src/mine.txt") wrong.push(`the tree is not as it should be:\n${status}`);
  for (const path of Object.keys(USER_FILES)) {
    const count = project.git("rev-list", "--count", "HEAD", "--", path).trim();
    if (count !== (path === "notes.txt" ? "1" : "0")) wrong.push(`${path} of the user was committed`);
  }
  checkTurns(project, memory, wrong);
  const left = readdirSync(join(project.root, ".git/ralph"), { recursive: true }).map(String)
    .filter((name) => /lock|intent|tmp|taking/.test(name) && !/^shadow$/.test(name));
  if (left.length > 0) wrong.push(`left in .git/ralph: ${left.join(", ")}`);
  // git's own housekeeping may still be at work; its lock is in the way of no commit
  const locks = readdirSync(join(project.root, ".git"), { recursive: true }).map(String).filter((name) =>
    name.endsWith(".lock") && !name.endsWith("maintenance.lock")
  );
  if (locks.length > 0) wrong.push(`left in .git: ${locks.join(", ")}`);
  project.git("fsck", "--no-dangling", "--no-progress");
  const trees = project.git("worktree", "list").trim().split("\n");
  if (trees.length > 1) wrong.push(`worktrees are left: ${trees.join(" | ")}`);
  if (existsSync(join(project.folder, ".project.ralph"))) wrong.push("the folder of workers' trees is left");
  const kept = project.git("for-each-ref", "refs/ralph/work").trim();
  if (kept !== "") wrong.push(`work is kept although all has passed: ${kept}`);
  return wrong;
}

/** The agent's own log against the journal: no turn that the journal does not know of, none twice at a time. */
function checkTurns(project: KillProject, memory: KillMemory, wrong: string[]): void {
  const journal = readLines(project, journalOf(project), memory, wrong) as readonly Line[];
  const turns = turnsByItem(project);
  for (const id of project.items) {
    const begun = journal.filter((line) => line.type === "begun" && line.item?.id === id).length;
    const passes = journal.filter((line) =>
      line.type === "settled" && line.itemId === id && line.settlement?.status === "passed"
    ).length;
    if ((turns.get(id) ?? 0) > begun) wrong.push(`${id}: ${turns.get(id)} turns, ${begun} begun in the journal`);
    if (begun > 0) expectOne(passes, `settlements of ${id} as passed`, wrong);
  }
  if (project.workers > 1) return; // several are to be at work
  const log = readFileSync(join(project.storm, "turns"), "utf8");
  for (const line of log.split("\n").filter((text) => text.startsWith("overlap"))) {
    wrong.push(`two agents at a time: ${line}`);
  }
}

function passedItems(project: KillProject, wrong: string[]): ReadonlySet<string> | null {
  try {
    const state = stateOf(project);
    return new Set(project.items.filter((id) => state.get(id) === "passed"));
  } catch (error) {
    wrong.push(`the state cannot be read: ${String(error)}`);
    return null;
  }
}

/** Items alone: planning and reviews come again. */
function settledPassed({ items }: KillProject, journal: readonly Line[]): ReadonlySet<string> {
  const passed = journal.filter((line) => line.type === "settled" && line.settlement?.status === "passed");
  return new Set(passed.map(({ itemId = "" }) => itemId).filter((id) => items.includes(id)));
}

function turnsByItem(project: KillProject): ReadonlyMap<string, number> {
  const path = join(project.storm, "turns");
  const turns = new Map<string, number>();
  if (!existsSync(path)) return turns;
  for (const line of readFileSync(path, "utf8").split("\n")) {
    const [word, id = ""] = line.split(" ");
    if (word === "start") turns.set(id, (turns.get(id) ?? 0) + 1);
  }
  return turns;
}

/** JSON lines; the last may be torn by the kill, and stays so. */
function readLines(project: KillProject, path: string, memory: KillMemory, wrong: string[]): readonly unknown[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, "utf8").split("\n");
  const values: unknown[] = [];
  for (const [index, line] of lines.entries()) {
    if (line === "") continue;
    try {
      values.push(JSON.parse(line));
    } catch {
      if (index === lines.length - 1) memory.torn.set(path, line);
      else if (memory.torn.get(path) !== line) {
        wrong.push(`${path.slice(project.root.length + 1)}:${index + 1} is not JSON: ${line.slice(0, 80)}`);
      }
    }
  }
  return values;
}

function journalOf(project: KillProject): string {
  return join(project.root, ".git/ralph/journal.jsonl");
}

const RUNS = ["scripts/ralph/runs", ".ralph/runs", ".claude/sprints/calc/logs"];

function eventFiles(project: KillProject): readonly string[] {
  return RUNS.map((path) => join(project.root, path)).filter((path) => existsSync(path)).flatMap((runs) =>
    readdirSync(runs).map((name) => join(runs, name, "events.ndjson")).filter((path) => existsSync(path))
  );
}

function checkUserFiles(project: KillProject, wrong: string[]): void {
  for (const [path, text] of Object.entries(USER_FILES)) {
    const full = join(project.root, path);
    if (!existsSync(full) || readFileSync(full, "utf8") !== text) wrong.push(`${path} of the user was changed`);
  }
}

function expectOne(count: number, what: string, wrong: string[]): void {
  if (count !== 1) wrong.push(`${count} ${what}, not 1`);
}

/** An agent's commit became a part of its item's: its subject is that one's or in its body, what it changed is in HEAD. */
function isFolded(project: KillProject, commit: string): boolean {
  const subject = project.git("log", "-1", "--format=%s", commit).trim();
  const files = project.git("diff-tree", "--no-commit-id", "--name-only", "-r", commit).split("\n").filter(Boolean);
  const texts = project.git("log", "--format=%s%n%b").split("\n");
  const isNamed = texts.includes(subject) || texts.includes(`- ${subject}`);
  return isNamed && project.git("diff", "--name-only", commit, "HEAD", "--", ...files) === "";
}
