import { headlineOf, journalKeyOf } from "../backlog/attempts.ts";
import { resolve } from "node:path";
import type { Backlog, ParkedItem, Verification } from "../backlog/types.ts";
import { verify } from "../checks/verify.ts";
import { type Invocation, usage } from "../cli/command.ts";
import { hintOf } from "../cli/next_step.ts";
import { countLine, nextOfBacklog, parkedIn, type StatusView } from "../cli/look.ts";
import { openSession } from "../cli/session.ts";
import { problemOf, type ValidatedFile } from "../cli/validated_file.ts";
import { ownFiles, type RalphContext } from "../context/context.ts";
import { asRalphError } from "../errors/ralph_error.ts";
import { pathExists } from "../host/files.ts";
import { finalWork } from "../loop/finish/final_check.ts";
import { loadRecipe } from "../recipe/loader.ts";
import type { Style } from "../ui/text.ts";
import type { Workflow } from "../workflows/workflow.ts";

/**
 * The shared commands show this of a recipe's own backlog, as far as its interface shows.
 *
 * @throws {RalphError} usage for a recipe without one, recipe-invalid, recipe-failed
 */
export async function recipeViews(invocation: Invocation, file: string): Promise<Workflow> {
  const { host, program } = invocation;
  const again = `ralph run-recipe ${file}`;
  const recipe = await loadRecipe(resolve(host.environment.cwd, file), { ...host, modules: program.recipes.modules });
  if (recipe.backlog === undefined) {
    throw usage(`the recipe ${recipe.name} names no backlog`, "give `backlog: (ralph) => …` to `defineRecipe()`");
  }

  /** The context without a sound: the commands print. */
  async function within<Value>(
    look: (ralph: RalphContext, backlog: Backlog, parked: readonly ParkedItem[]) => Promise<Value>,
  ): Promise<Value> {
    const title = `recipe ${recipe.name}`;
    await using session = await openSession(invocation, { asks: false, gates: null, data: true, title });
    const { ralph } = session;
    const backlog = await recipe.backlog?.(ralph) as Backlog;
    const { journal, repository, root } = ralph;
    return await look(
      ralph,
      backlog,
      await parkedIn({ own: ownFiles(repository, root), repository, root }, backlog, journal),
    );
  }

  const instead = (): never => {
    throw usage("`--recipe` shows the backlog of a recipe", `\`${again}\` runs it`);
  };
  return {
    init: instead,
    run: instead,
    status: ({ style }) => within(async (_, backlog, parked) => [await statusOf(backlog, parked, { again, style })]),
    next: ({ style }) =>
      within(async ({ root }, backlog, parked) =>
        await nextOfBacklog({ root, style }, backlog, await backlog.next({ inFlight: [], parked }), {
          done: "every item has passed",
          retry: parked.length === 0 ? null : `${again} --retry-blocked`,
        })
      ),
    validate: () => within(validateStateFiles),
    verify: async (ralph) => await verifyPassed(ralph, await recipe.backlog?.(ralph) as Backlog),
  };
}

async function statusOf(
  backlog: Backlog,
  parked: readonly ParkedItem[],
  { again, style }: { readonly again: string; readonly style: Style },
): Promise<StatusView> {
  const counts = await backlog.overview({ parked });
  return {
    title: backlog.name,
    data: { counts, parked },
    lines: [
      countLine({ ...counts, parked: parked.length }, { items: "items" }, style),
      ...parked.map(({ id, reason }) => `  ${style.warn(style.symbols.warning)} ${id}: ${headlineOf(reason)}`),
      ...counts.unchecked.map((id) => `  ${style.dim(style.symbols.open)} ${id}${style.warn(" no check")}`),
    ],
    problem: null,
    hint: hintOf(await backlog.next({ inFlight: [], parked }), { run: again, retry: `${again} --retry-blocked` }),
  };
}

/** Reading its counts reads its state: what is wrong with a file is reported with that file. */
async function validateStateFiles(ralph: RalphContext, backlog: Backlog): Promise<readonly ValidatedFile[]> {
  const look = async (): Promise<unknown> => await backlog.overview({ parked: [] });
  const error = await look().then(() => null, asRalphError);
  const at = error?.details["path"];
  return await Promise.all(backlog.stateFiles.map(async (path, index) => {
    const isMeant = typeof at === "string" ? at.startsWith(path) : index === 0;
    const problems = error !== null && isMeant ? [problemOf(error, path)] : [];
    return { path, present: await pathExists(resolve(ralph.root, path)), problems, warnings: [] };
  }));
}

/** The checks of what has passed, and those that hold for every item, each command once: as the final check of a run. */
async function verifyPassed(ralph: RalphContext, backlog: Backlog): Promise<Verification> {
  const parked = ralph.journal.parked(await journalKeyOf(backlog));
  const view = { inFlight: [], parked };
  const { checks } = await finalWork(ralph, backlog, { view, passedNow: [], shared: [], only: null });
  return await verify(ralph, checks.map(({ scope: _, ...check }) => check));
}
