import { mayHaveRefs, WORK_REFS } from "../git/run_git.ts";
import type { keptWork } from "../git/stow.ts";
import type { Repository } from "../git/repository.ts";
import { localTime } from "../host/local_date.ts";
import type { NamedByRun } from "../backlog/journal_types.ts";
import { readLockHolder } from "../host/lock_holder.ts";
import type { Invocation, KnownWorkflow, Program } from "./command.ts";
import { journalIn, type Look } from "./look.ts";
import type { ChosenWorkflow } from "./workflow.ts";
import { oneLine } from "../ui/printable.ts";
import { afterUnverified, afterWork } from "./next_step.ts";
import { toJson } from "./show.ts";
import { withWorkflow } from "./with_workflow.ts";

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
  { flags, out, program }: Pick<Invocation, "flags" | "out" | "program">,
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
  const kept = repository === null ? [] : await keptWorkOf(repository);
  const running = holder === null ? null : {
    pid: holder.pid,
    purpose: holder.purpose,
    since: holder.since,
    ...runningView?.data,
  };
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
    return out(toJson(all.length === 1 ? all[0] : all));
  }
  const { bold, dim, bad, warn, symbols } = look.style;
  for (const [index, view] of views.entries()) {
    const { workflow: { name, why } = look.workflow, title = name, path = root, lines, problem, hint } = view;
    if (index > 0) out("");
    out(
      `${bold(title)} ${dim(`(${why}) ${symbols.dot} ${path}${branch === null ? "" : ` ${symbols.dot} ${branch}`}`)}`,
    );
    out(`agent: ${agent ?? warn(await noAgent(look))}`);
    if (repository === null) out(warn("no git repository here: `git init` makes one, and Ralph needs it"));
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
  { program, lastRun }: { readonly program: Program; readonly lastRun: NamedByRun | null },
): Promise<readonly (StatusView & { readonly hint: string })[]> {
  const { config: { workflow: config }, host, root } = look;
  return await Promise.all(views.map(async (view) => {
    const { name } = view.workflow ?? look.workflow;
    const row = program.workflows.find((one) => one.name === name);
    const isLast = view.path === undefined || view.path === lastRun?.scope;
    const hint = view.hint ?? await hintWhenUnverified(row, isLast ? lastRun : null) ??
      await hintWhenDone(look, row ?? program.workflows[0]);
    return {
      ...view,
      hint: row === undefined ? hint : await withWorkflow(hint, { name, config, program, root, host }),
    };
  }));
}

/** The step after a run that did not pass, though all is done; `null` where the newest did, or was another's. */
export async function hintWhenUnverified(
  row: Pick<KnownWorkflow, "resume"> | undefined,
  lastRun: NamedByRun | null,
): Promise<string | null> {
  if (lastRun?.lack === undefined) return null;
  const resume = await row?.resume?.({ name: lastRun.backlog, scope: lastRun.scope, folder: "" }) ?? null;
  return resume === null ? null : afterUnverified(lastRun.lack, resume);
}

/** The same as in the last lines of a run that passed. */
async function hintWhenDone({ repository }: Look, row: KnownWorkflow | undefined): Promise<string> {
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

async function keptWorkOf(repository: Repository): ReturnType<typeof keptWork> {
  if (!await mayHaveRefs(repository.gitDirectory, WORK_REFS)) return [];
  return await (await import("../git/stow.ts")).keptWork(repository);
}

/** Which could be taken, where none is configured. */
async function noAgent({ host }: Look): Promise<string> {
  const { findAgents } = await import("./known_agents.ts");
  const [first, ...others] = (await findAgents(host)).map(({ name }) => name);
  if (first === undefined) {
    return "none configured, and none on PATH: `ralph init` looks for a model server, `ralph help agents` has programs";
  }
  const names = [first, ...others].join(", ");
  return `none configured; on PATH: ${names} (\`--agent ${first}\`, or \`ralph init\`)`;
}
