import { join } from "node:path";
import { journalKeyOf } from "../backlog/attempts.ts";
import type { Journal, NamedByRun } from "../backlog/journal_types.ts";
import { createStateFiles, type StateFiles } from "../backlog/state_files.ts";
import type { Backlog, Item, Next, Overview, ParkedItem } from "../backlog/types.ts";
import { type OwnFiles, ownFiles } from "../context/context.ts";
import { EXIT, RalphError } from "../errors/ralph_error.ts";
import { openRepository } from "../git/open_repository.ts";
import { isBare, type Repository } from "../git/repository.ts";
import { mayHaveRefs, WORK_REFS } from "../git/run_git.ts";

import { localTime } from "../host/local_date.ts";
import { readLockHolder } from "../host/lock.ts";
import { pathExists } from "../host/path_facts.ts";
import type { Host } from "../host/types.ts";
import { oneLine, type Style } from "../ui/text.ts";
import * as commands from "./command.ts";
import { afterUnverified, afterWork } from "./next_step.ts";
import { checkArity } from "./run_command.ts";
import { chooseWorkflow, type ChosenWorkflow, type Place } from "./workspace.ts";

/** A project as commands see it that only look: no agent, no lock, no shell. */
export interface Look extends Place {
  readonly host: Host;
  readonly repository: Repository | null;
  readonly own: OwnFiles;
  readonly state: StateFiles;
  /** The argument of the command, which says what of the workflow is meant; "" where there was none. */
  readonly scope: string;
  /** How text is drawn on standard output. */
  readonly style: Style;
  readonly say: (text: string) => void;
}

/** Opens a project for reading. @throws {RalphError} git-missing, git-failed */
export async function openLook(
  invocation: Pick<commands.Invocation, "flags" | "host" | "say">,
  place: Place,
  scope: string = "",
): Promise<Look> {
  const { host, say } = invocation;
  const repository = await openRepository(host, place.root);
  const own = ownFiles(repository, place.root);
  const state = createStateFiles({ root: place.root, directory: own.directory, host });
  return { ...place, host, repository, own, state, scope, style: commands.styleFor(invocation, "stdout"), say };
}

/** The journal of the project's runs, or `null` before the first one: what reads it is loaded where there is one. */
export async function journalIn({ own, repository }: Pick<Look, "own" | "repository">): Promise<Journal | null> {
  if (repository === null || !await pathExists(own.journal)) return null;
  return await (await import("../loop/journal/journal.ts")).openJournal(own.journal);
}

/** The items that the loop gave up on. */
interface GivenUp {
  readonly parked: readonly ParkedItem[];
  /** Ids of those of which a person has said something since: the next run takes them up again. */
  readonly answered: ReadonlySet<string>;
}

/** @param known the journal. @default the one that is there */
export async function givenUpIn<Data, Findings>(
  look: Pick<Look, "own" | "repository" | "root">,
  backlog: Pick<Backlog<Data, Findings>, "brief" | "name" | "runsDirectory" | "scope">,
  known: Journal | null = null,
): Promise<GivenUp> {
  const journal = known ?? await journalIn(look);
  const key = await journalKeyOf(backlog);
  const all = journal?.parked(key) ?? [];
  if (journal === null || all.length === 0) return { parked: [], answered: new Set() };
  const { controlFolder, toldNext } = await import("../steer/control.ts");
  const runs = join(look.root, backlog.runsDirectory ?? ".ralph/runs");
  const waiting = [...(await toldNext(controlFolder(look.own.directory))).values()].filter((told) =>
    told.runs === runs
  );
  const answered = new Set([...journal.answered(key), ...waiting.flatMap(({ item }) => item ?? [])]);
  return { parked: all.filter(({ id }) => !answered.has(id)), answered };
}

/** The items that the loop gave up on, and of which nobody has said anything since. */
export async function parkedIn<Data, Findings>(
  ...asked: Parameters<typeof givenUpIn<Data, Findings>>
): Promise<readonly ParkedItem[]> {
  return (await givenUpIn(...asked)).parked;
}

/** A workflow says this of its next iteration. */
export interface NextView {
  readonly blocked: boolean;
  /** The work that is left, in a line: the item, or what it waits for. Absent: none that is known. */
  readonly open?: string;
  /** Files outside of the state that say what is asked for, relative to the root. */
  readonly asks?: readonly string[];
  /** For `--json`. */
  readonly data: object;
  /** The item, for standard output. */
  readonly item?: readonly string[];
  /** The notes for standard error if no item comes. */
  readonly notes?: readonly string[];
}

/** Prints it. @returns the exit code */
export function showNext({ flags, out, say }: commands.Invocation, view: NextView): number {
  if (flags.has("json")) out(commands.toJson(view.data));
  else {
    for (const line of view.item ?? []) out(line);
    for (const line of view.notes ?? []) say(line);
  }
  return view.blocked ? EXIT.blocked : EXIT.done;
}

/** Shows the next item of a backlog with the checks that it would have, or why there is none. */
export async function nextOfBacklog<Data, Findings>(
  { root, style: { bold, dim, warn, symbols } }: { readonly root: string; readonly style: Style },
  backlog: Pick<Backlog<Data, Findings>, "work">,
  next: Next<Data>,
  { done, retry, dataOf = ({ criteria = [] }) => ({ criteria }) }: {
    /** The words for a backlog with nothing left, which says nothing itself. */
    readonly done: string;
    readonly retry: string | null;
    /** The item's own part of the JSON. @default its criteria */
    readonly dataOf?: (item: Item<Data>) => object;
  },
): Promise<NextView> {
  if (next.status === "done") {
    return { blocked: false, data: next, notes: [`nothing is left to do: ${next.summary ?? done}`] };
  }
  if (next.status === "waiting") {
    return { blocked: false, data: next, notes: ["everything that is left depends on what is in flight"] };
  }
  if (next.status === "blocked") {
    const reasons = next.reasons.map((reason) => `  ${reason.split("\n")[0] ?? ""}`);
    const hints = retry === null ? [] : [`hint: \`${retry}\` takes parked items up again`];
    return { blocked: true, open: next.reasons.join("; "), data: next, notes: ["blocked:", ...reasons, ...hints] };
  }
  const { id, kind, title, criteria = [] } = next.item;
  const work = await backlog.work(next.item, {
    cwd: root,
    attempt: 1,
    previous: null,
    last: null,
    nonce: "",
    claims: [],
  });
  const checks = work.checks.map(({ name }) => name);
  return {
    blocked: false,
    open: `${id}: ${title}`,
    data: { status: "item", id, kind, title, ...dataOf(next.item), checks },
    item: [
      `${bold(oneLine(id))}  ${oneLine(title)}`,
      ...criteria.map((criterion) => `  ${dim(symbols.dot)} ${criterion}`),
      checks.length === 0
        ? `  ${warn(symbols.warning)} no check: it cannot pass`
        : `checks: ${checks.map((check) => `\`${check}\``).join(", ")}`,
    ],
  };
}

/** An item of a backlog, for `ralph status`. */
export interface ListedItem {
  readonly id: string;
  readonly title: string;
  readonly state: "passed" | "open" | "parked";
  /** Styled, behind the title. */
  readonly notes?: readonly string[];
  /** The item names no check and has not passed. @default false */
  readonly isUnchecked?: boolean;
}

/** `stories: 1/3 pass, 1 open, 1 parked`. Pure. */
export function countLine(
  { total, passed, open, parked }: Pick<Overview, "open" | "parked" | "passed" | "total">,
  { items, parked: word = "parked" }: { readonly items: string; readonly parked?: string },
  { warn }: Style,
): string {
  const left = [...(open === null ? [] : [`${open} open`]), ...(parked === 0 ? [] : [warn(`${parked} ${word}`)])];
  return `${items}: ${[`${passed}${total === null ? "" : `/${total}`} pass`, ...left].join(", ")}`;
}

/** An item on a line, behind its mark. Pure. */
export function itemLine({ id, title, state, notes = [], isUnchecked = false }: ListedItem, style: Style): string {
  const { dim, good, warn, symbols } = style;
  const mark = { passed: good(symbols.passed), open: dim(symbols.open), parked: warn(symbols.warning) }[state];
  const unchecked = isUnchecked && state !== "passed" ? [warn("no check")] : [];
  return `${mark} ${[`${oneLine(id)}  ${oneLine(title)}`, ...notes, ...unchecked].join(" ")}`;
}

/** A workflow says this of its state. */
export interface StatusView {
  /** Its title. @default the workflow's name */
  readonly title?: string;
  /** The workflow that the state belongs to, and how it was found. @default the one of the command */
  readonly workflow?: ChosenWorkflow;
  /** Its path, beside the title. @default the root */
  readonly path?: string;
  /** Its own part of the JSON. */
  readonly data: object;
  /** Its own lines, styled. */
  readonly lines: readonly string[];
  /** Why its state cannot be read. */
  readonly problem: string | null;
  /** Its items that are open, for lists of what is to come. */
  readonly open?: readonly { readonly id: string; readonly title: string }[];
  /** The command to run next; `null`: everything is done. */
  readonly hint: string | null;
}

/** A view of the run's present work, if that can be seen. */
export interface RunningView {
  readonly data: object;
  /** Styled, and safe. */
  readonly lines: readonly string[];
  /** Commands that can be used now. */
  readonly can: readonly string[];
}

/** Prints what holds for every workflow around what one of them says. */
export async function showStatus(
  { flags, out, program }: Pick<commands.Invocation, "flags" | "out" | "program">,
  look: Look,
  found: readonly StatusView[],
  runningView: RunningView | null = null,
): Promise<void> {
  const { root, config: { provider }, own, repository } = look;
  const branch = await repository?.currentBranch() ?? null;
  const agent = provider.command ?? provider.preset ?? null;
  const holder = await readLockHolder(own.runLock);
  const lastRun = (await journalIn(look))?.named() ?? null;
  const views = await withHints(found, look, { program, lastRun });
  const hasKept = repository !== null && await mayHaveRefs(repository.gitDirectory, WORK_REFS);
  const kept = hasKept ? await (await import("../git/stow.ts")).keptWork(repository) : [];
  const running = holder && { pid: holder.pid, purpose: holder.purpose, since: holder.since, ...runningView?.data };
  if (flags.has("json")) {
    const all = views.map(({ workflow = look.workflow, data, problem, hint }) => ({
      root,
      workflow: workflow.name,
      why: workflow.why,
      branch,
      agent,
      running,
      kept,
      lastRun,
      ...data,
      problem,
      hint,
    }));
    return out(commands.toJson(all.length === 1 ? all[0] : all));
  }
  const { bold, dim, bad, warn, symbols } = look.style;
  for (const [index, view] of views.entries()) {
    const { workflow: { name, why } = look.workflow, title = name, path = root, lines, problem, hint } = view;
    if (index > 0) out("");
    out(
      `${bold(title)} ${dim(`(${why}) ${symbols.dot} ${path}${branch === null ? "" : ` ${symbols.dot} ${branch}`}`)}`,
    );
    out(`agent: ${agent ?? warn(await noAgent(look))}`);
    if (isBare(root)) out(warn("a bare git repository: Ralph works in a clone of it"));
    else if (repository === null) out(warn("no git repository here: `git init` makes one, and Ralph needs it"));
    if (running !== null) {
      out(warn(`running: \`ralph ${running.purpose}\`, pid ${running.pid}, since ${localTime(running.since)}`));
      if (index === 0) { for (const line of runningView?.lines ?? []) out(line); }
    }
    if (problem !== null) out(`${bad(symbols.failed)} ${problem}`);
    for (const line of lines) out(line);
    if (index === 0) { for (const { ref, subject } of kept) out(`${warn("left over")}: ${oneLine(subject)}: ${ref}`); }
    if (index === 0) { for (const line of await namedLines(lastRun, warn)) out(line); }
    const can = running === null ? [] : runningView?.can ?? ["ralph watch"];
    out(`next: ${can.length === 0 ? hint : can.map((command) => `\`${command}\``).join(", ")}`);
  }
}

/** The views with what comes next as commands that run as they are printed. */
async function withHints(
  views: readonly StatusView[],
  look: Look,
  { program, lastRun }: { readonly program: commands.Program; readonly lastRun: NamedByRun | null },
): Promise<readonly (StatusView & { readonly hint: string })[]> {
  return await Promise.all(views.map(async (view) => {
    const { name } = view.workflow ?? look.workflow;
    const row = program.workflows.find((one) => one.name === name);
    const isLast = view.path === undefined || view.path === lastRun?.scope;
    const hint = view.hint ?? await hintWhenUnverified(row, isLast ? lastRun : null) ??
      await hintWhenDone(look, row ?? program.workflows[0]);
    return { ...view, hint: row === undefined ? hint : await withWorkflow(hint, name, look, program) };
  }));
}

/** The step after a run that did not pass, though all is done; `null` where the newest did, or was another's. */
export async function hintWhenUnverified(
  row: Pick<commands.KnownWorkflow, "resume"> | undefined,
  lastRun: NamedByRun | null,
): Promise<string | null> {
  if (lastRun?.lack === undefined) return null;
  const resume = await row?.resume?.({ name: lastRun.backlog, scope: lastRun.scope, folder: "" }) ?? null;
  return resume === null ? null : afterUnverified(lastRun.lack, resume);
}

/** The same as in the last lines of a run that passed. */
async function hintWhenDone({ repository }: Look, row: commands.KnownWorkflow | undefined): Promise<string> {
  const { branchWork } = await import("../git/branch_work.ts");
  const [hint = `everything is done; \`${row?.start ?? "ralph"}\` begins the next work`] = afterWork(
    repository && await branchWork(repository),
  );
  return hint;
}

/** The last run named these notices beside its verdict; work that is left over has lines of its own. */
async function namedLines(lastRun: NamedByRun | null, warn: (text: string) => string): Promise<readonly string[]> {
  const notices = (lastRun?.notices ?? []).filter(({ kind }) => kind !== "leftover");
  if (notices.length === 0) return [];
  const { noticeLines } = await import("./end_with.ts");
  const lines = noticeLines(notices, warn);
  return lines.length === 0 ? [] : ["the last run named:", ...lines];
}

/** Which could be taken, where none is configured. */
async function noAgent({ host }: Look): Promise<string> {
  const { findAgents } = await import("./agents.ts");
  const [first, ...others] = (await findAgents(host)).map(({ name }) => name);
  if (first === undefined) {
    return "none configured, and none on PATH: `ralph init` looks for a model server, `ralph help agents` has programs";
  }
  const names = [first, ...others].join(", ");
  return `none configured; on PATH: ${names} (\`--agent ${first}\`, or \`ralph init\`)`;
}

const PRINTED_REGEXP = /`(ralph(?: [^`]*)?)`/g;

/** Each command in a text with `--workflow`, if the bare one would choose another workflow than the one of this name. */
async function withWorkflow(text: string, name: string, look: Look, program: commands.Program): Promise<string> {
  const changed = new Map<string, string>();
  for (const [, line = ""] of text.matchAll(PRINTED_REGEXP)) {
    changed.set(line, await completed(line, name, look, program));
  }
  return text.replaceAll(PRINTED_REGEXP, (_, line: string) => `\`${changed.get(line) ?? line}\``);
}

async function completed(line: string, name: string, { config, root, host }: Look, program: commands.Program) {
  const read = readCommand(line, program, host);
  if (read === null || !("workflow" in read.command.flags) || read.flags.has("workflow")) return line;
  const asked = { config: config.workflow, line: { ...read, host } };
  const bare = await chooseWorkflow(program.workflows, root, asked);
  return bare.name === name ? line : `${line} --workflow ${name}`;
}

const WORD_REGEXP = /"([^"]*)"|'([^']*)'|(\S+)/g;

/** A command as Ralph prints it, read by its own table; `null`: the table does not take it. */
export function readCommand(
  line: string,
  program: Pick<commands.Program, "commands">,
  host: Pick<Host, "environment">,
): Pick<commands.CommandLine, "arguments" | "command" | "flags"> | null {
  const [, name, ...words] = [...line.matchAll(WORD_REGEXP)].map(([, double, single, bare]) =>
    double ?? single ?? bare ?? ""
  );
  const command = program.commands.find((one) => one.name === name);
  if (command === undefined) return null;
  try {
    const { arguments: given, flags } = commands.parseLine(command, words, host.environment.variables);
    checkArity(command, given);
    return { command, arguments: given, flags };
  } catch (error) {
    if (RalphError.isInstance(error)) return null;
    throw error;
  }
}
