import { join, resolve } from "node:path";
import { CONFIG_FILE, loadConfig, type LoadedConfig } from "../config/load.ts";
import { RalphError } from "../errors/ralph_error.ts";
import { cacheOf } from "../git/config_cache.ts";
import { isDirectory, pathExists } from "../host/files.ts";
import { foldersAbove, treeOf } from "../host/programs.ts";
import { type CommandLine, didYouMean, type Invocation, type KnownWorkflow, type Program, usage } from "./command.ts";

/** The place in which a command works, and its subject. */
export interface Place extends LoadedConfig {
  /** Absolute path. */
  readonly root: string;
  readonly workflow: ChosenWorkflow;
}

/** Finds the root, its configuration and the workflow. @throws {RalphError} root-missing, config-invalid, state-missing, usage */
export async function findPlace(line: CommandLine & { readonly program: Program }): Promise<Place> {
  const { flags, host, program } = line;
  const root = await resolveRoot(line);
  const named = flags.text("config");
  const file = named === undefined ? undefined : resolve(host.environment.cwd, named);
  const loaded = await loadConfig(root, file, await cacheOf(root, host));
  const workflow = await chooseWorkflow(program.workflows, root, {
    flag: flags.text("workflow"),
    config: loaded.config.workflow ?? program.workflows.find((row) => row.configured?.(loaded.config))?.name,
    line,
  });
  return { ...loaded, root, workflow };
}

/**
 * The project's folder: the one that was named, else the nearest upward, to the git top level, that holds Ralph's
 * configuration or a workflow's state, else the current one.
 *
 * @returns an absolute path
 * @throws {RalphError} root-missing, root-no-folder
 */
export async function resolveRoot(
  { flags, host: { environment }, program }: Pick<Invocation, "flags" | "host" | "program">,
): Promise<string> {
  const named = flags.text("root");
  if (named !== undefined) {
    const root = resolve(environment.cwd, named);
    if (await isDirectory(root)) return root;
    throw new RalphError(await pathExists(root) ? "root-no-folder" : "root-missing", { details: { root } });
  }
  const folders = foldersAbove(environment.cwd); // outside a repository this one alone
  for (const folder of folders.slice(0, folders.indexOf(await treeOf(environment.cwd)) + 1)) {
    if (await pathExists(join(folder, CONFIG_FILE)) || (await usedAt(folder, program.workflows)).length > 0) {
      return folder;
    }
  }
  return environment.cwd;
}

/** The chosen workflow, and why it was. */
export interface ChosenWorkflow {
  readonly name: string;
  readonly why: string;
  /** Nothing chose one: no flag, no configuration, no state of only one. */
  readonly byDefault?: true;
  /** The workflows whose state exists, if there are several and nothing chooses between them. */
  readonly among?: readonly string[];
}

/**
 * Which workflow a command works on: the flag, the configuration, the command line itself, the only one whose state
 * exists, the first of the table.
 *
 * @throws {RalphError} usage when the flag names none
 */
export async function chooseWorkflow(
  workflows: readonly KnownWorkflow[],
  root: string,
  asked: {
    readonly flag?: string | undefined;
    readonly config?: string | undefined;
    readonly line?: CommandLine | undefined;
  },
): Promise<ChosenWorkflow> {
  if (asked.flag !== undefined) return { name: known(workflows, asked.flag), why: "`--workflow`" };
  if (asked.config !== undefined) return { name: known(workflows, asked.config), why: "the configuration" };
  const claimed = asked.line === undefined ? null : await claimedBy(workflows, asked.line, root);
  if (claimed !== null) return claimed;
  const used = await usedAt(root, workflows);
  const [only, ...others] = used;
  if (only !== undefined && others.length === 0) return { name: only.name, why: `${only.state} exists` };
  const among = used.length < 2 ? {} : { among: used.map(({ name }) => name) };
  return { name: workflows[0]?.name ?? "", why: "the default", byDefault: true, ...among };
}

/** The workflows that are in use below this folder. */
export async function usedAt<Known extends KnownWorkflow>(
  root: string,
  workflows: readonly Known[],
): Promise<readonly Known[]> {
  const isUsed = await Promise.all(
    workflows.map(async ({ detect, state }) => await detect?.(root) ?? await pathExists(join(root, state))),
  );
  return workflows.filter((_, index) => isUsed[index]);
}

async function claimedBy(workflows: readonly KnownWorkflow[], line: CommandLine, root: string) {
  let problem: unknown = null; // what is no name in one workflow may be a folder in another
  for (const { name, commands, claims } of workflows) {
    if (commands.some((own) => own.name === line.command.name)) return { name, why: `\`ralph ${line.command.name}\`` };
    const why = await claims?.(line, root).catch((error: unknown) => void (problem ??= error)) ?? null;
    if (why !== null) return { name, why };
  }
  if (problem !== null) throw problem;
  return null;
}

function known(workflows: readonly KnownWorkflow[], name: string): string {
  const names = workflows.map((workflow) => workflow.name);
  if (names.includes(name)) return name;
  const hint = didYouMean(name, names, `workflows: ${names.join(", ")}`, (near) => `--workflow ${near}`);
  throw usage(`there is no workflow named ${name}`, hint);
}
