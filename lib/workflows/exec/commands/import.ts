import { join, relative, resolve } from "node:path";
import { storyCommands } from "../../../backlog/verify_commands.ts";
import { suggestChecks } from "../../../backlog/suggest_checks.ts";
import { type Invocation, usage } from "../../../cli/command.ts";
import { openSession } from "../../../cli/session.ts";
import { placeholderProblems } from "../../../cli/validated_file.ts";
import { addToConfig } from "../../../cli/write_config.ts";
import type { RalphContext } from "../../../context/context.ts";
import { EXIT } from "../../../errors/ralph_error.ts";
import { pathExists, readText, resolveInside, writeAtomic } from "../../../host/files.ts";
import { orElse } from "../../../host/looks.ts";
import { gate } from "../../../recipe/gate.ts";
import { formatPrd, parsePrd, prdSummaryLines } from "../format.ts";
import { type ExternalItem, type ExternalPlan, KNOWN_TOOLS, readerFor } from "../import/recognize.ts";
import { hintForPrd } from "../import/find_external.ts";
import { circlesOf, inDependencyOrder } from "../../dependencies.ts";
import { type Prd, PRD_FILE, type Story, validatePrd } from "../types.ts";
import { scaffoldExec } from "../scaffold.ts";
import { isPlainBranchName } from "../../../git/switch_branch.ts";
import { onOneLine } from "../../../prompts/render.ts";

/** `ralph import FILE`: another tool's plan as the PRD, after a yes. Nothing that is there is lost. */
export async function run(invocation: Invocation): Promise<number> {
  const { flags, out, say } = invocation;
  const given = flags.all("verify");
  refusePlaceholders(given);
  await using session = await openSession(invocation, { asks: false, gates: ["import"] });
  const { place, ralph } = session;
  const source = await readSource(invocation, ralph.root);
  const before = await existing(ralph, source);
  const prd = toPrd(source.plan);
  if (flags.has("dry-run")) {
    out(formatPrd(prd).trimEnd());
    return EXIT.done;
  }
  const open = ralph.config.verify.default.length > 0 ? [] : prd.userStories.filter(({ passes }) => !passes);
  const unchecked = open.filter((story) => storyCommands(story).length === 0).map(({ id }) => id);
  const checks = given.length > 0 || unchecked.length === 0 ? given : await askForChecks(ralph, unchecked);
  const lines = [...previewLines(source, prd), ...checkLines(unchecked, checks)];
  ralph.events.emit({ type: "text", title: `${PRD_FILE}, from ${source.name}`, lines });
  const decided = await gate(ralph, {
    name: "import",
    message: `Write ${PRD_FILE}?`,
    next: [`ralph import ${source.name} --approve import`],
  });
  if (decided.status === "aborted") return EXIT.interrupted;
  if (decided.status !== "approved") return ralph.prompter.interactive ? EXIT.done : EXIT.blocked;
  const written = [
    ...await write(ralph, source, { prd, before }),
    ...checks.length === 0
      ? []
      : await addToConfig(ralph.host, ralph.root, place.file, { verify: { default: checks } }),
  ];
  for (const path of written) say(`wrote ${path}`);
  say("next: look at them with `ralph validate`, commit them, then `ralph run`");
  return EXIT.done;
}

/** @throws {RalphError} usage where there is no such file, or none of a known format */
async function readSource({ arguments: [named = ""], flags, host }: Invocation, root: string) {
  const file = resolve(host.environment.cwd, named);
  const text = await readText(file);
  const name = relative(host.environment.cwd, file) || named;
  if (text === null) throw usage(`the file ${name} does not exist`, "give the path of the other tool's file");
  const known = readerFor(text);
  if (known === null) {
    throw usage(`${name} is of no format that is known here`, `read are the plans of ${KNOWN_TOOLS.join(", ")}`);
  }
  const { data } = known.source;
  if (validatePrd(data).length === 0) {
    throw usage(`${name} is a PRD of Ralph's already`, `as ${PRD_FILE} it is what \`ralph run\` works on`);
  }
  if (typeof data === "object" && data !== null && "schemaVersion" in data) {
    throw usage(`${name} is a PRD of Ralph's already, for features`, "`ralph run FEATURE` works on it");
  }
  const plan = known.reader.read(known.source, { path: file, tag: flags.text("tag") });
  if (plan.items.length === 0) throw usage(`${name} holds no work: not one story or task`);
  return { name, text, plan, inPlace: file === join(root, PRD_FILE) };
}

/** The plan to import, and the file that it comes from. */
type Source = Awaited<ReturnType<typeof readSource>>;

/** The text in the PRD's place; only a PRD without stories may go. @throws {RalphError} usage */
async function existing(ralph: RalphContext, { inPlace }: Source): Promise<string | null> {
  const text = await ralph.state.read(PRD_FILE);
  if (text === null || inPlace || isEmptyPrd(text)) return text;
  throw usage(
    `${PRD_FILE} is there already: it is never overwritten`,
    hintForPrd(text) ?? "finish its stories, or move it away, then import again",
  );
}

function isEmptyPrd(text: string): boolean {
  return orElse(() => parsePrd(text, PRD_FILE).userStories.length === 0, false);
}

function refusePlaceholders(commands: readonly string[]): void {
  const [problem] = placeholderProblems("--verify", commands);
  if (problem !== undefined) throw usage(problem);
}

/** A person says which command every story must pass; unattended none is made up. */
async function askForChecks(ralph: RalphContext, unchecked: readonly string[]): Promise<readonly string[]> {
  const [suggested] = ralph.prompter.interactive ? await suggestChecks(ralph.root) : [];
  const { value } = await ralph.prompter.ask({
    id: "import.verify",
    kind: "text",
    message: "Which command must every story pass? (empty: none)",
    details: [`open stories that name no check, and cannot pass without one: ${unchecked.length}`],
    initial: suggested?.command ?? "",
  });
  const command = value.trim();
  refusePlaceholders(command === "" ? [] : [command]);
  return command === "" ? [] : [command];
}

function checkLines(unchecked: readonly string[], checks: readonly string[]): readonly string[] {
  if (checks.length > 0) return [`Every story must pass (verify.default of ralph.config.json): ${checks.join("; ")}`];
  return unchecked.length === 0 ? [] : [
    `No check, so that they cannot pass: ${unchecked.join(", ")}`,
    "Name one for every story by `--verify CMD`, or one story's own in a criterion: Verify: `CMD`",
  ];
}

function previewLines({ plan, inPlace }: Source, prd: Prd): readonly string[] {
  const done = prd.userStories.filter(({ passes }) => passes).length;
  const circle = circlesOf(plan.items).flat();
  return [
    `Format: ${plan.tool}`,
    ...prdSummaryLines(prd),
    ...(done === 0 ? [] : [`${done} done by the file's word: Ralph has checked none of them`]),
    ...(circle.length === 0 ? [] : [`These wait for each other, and stay in the file's order: ${circle.join(", ")}`]),
    ...(plan.left.length === 0 ? [] : [`Left out: ${plan.left.join(", ")}`]),
    ...(inPlace ? [`The file as it is is kept as ${keptName(plan)}`] : []),
  ];
}

/** Beside the PRD; the tool's name says what it is. */
function keptName({ tool }: ExternalPlan): string {
  return PRD_FILE.replace(/\.json$/, `.${tool.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}.json`);
}

/** @returns the paths that were written */
async function write(
  ralph: RalphContext,
  { plan, text, inPlace }: Source,
  { prd, before }: { readonly prd: Prd; readonly before: string | null },
): Promise<readonly string[]> {
  await using _lock = await ralph.lock.acquire("import");
  const made = [...await scaffoldExec(ralph.root)];
  if (inPlace) {
    const kept = keptName(plan);
    const file = await resolveInside(ralph.root, kept);
    if (await pathExists(file) && await readText(file) !== text) {
      throw usage(
        `${kept} is there already: the file cannot be kept under that name`,
        "move it away, then import again",
      );
    }
    await writeAtomic(file, text);
    made.push(kept);
  }
  await ralph.state.update(PRD_FILE, (now) => {
    if (now !== null && now !== before && !isEmptyPrd(now)) {
      throw usage(`${PRD_FILE} has changed meanwhile`, "import again");
    }
    return formatPrd(prd);
  });
  return [...made, PRD_FILE];
}

/** Between the parts of a story's notes. */
const PARAGRAPH = "\n\n";

/**
 * A plan as a PRD. A PRD knows no dependencies: its priorities say the order, in which each story comes after those that
 * it depends on. Stories that are done stay so. Pure.
 */
export function toPrd(plan: ExternalPlan): Prd {
  const byPriority = withIds(plan.items).toSorted((one, other) => rank(one) - rank(other));
  const userStories = inDependencyOrder(byPriority).map((item, index) => storyOf(item, index + 1));
  return { branchName: branchOf(plan), userStories };
}

/** The file's own ids, made different where one is used twice or missing. */
function withIds(items: readonly ExternalItem[]): readonly ExternalItem[] {
  const used = new Set(items.map(({ id }) => id));
  const seen = new Set<string>();
  return items.map((item, index) => {
    let { id } = item;
    for (let number = id === "" ? index + 1 : 2; id === "" || seen.has(id); number++) {
      const next = item.id === "" ? `US-${String(number).padStart(3, "0")}` : `${item.id}-${number}`;
      id = used.has(next) ? "" : next;
    }
    seen.add(id);
    used.add(id);
    return { ...item, id };
  });
}

function rank({ priority }: ExternalItem): number {
  return priority ?? Number.MAX_SAFE_INTEGER;
}

function storyOf({ id, title, criteria, notes, done }: ExternalItem, priority: number): Story {
  const acceptanceCriteria = criteria.length === 0 ? [title] : criteria;
  return { id, title, acceptanceCriteria, priority, passes: done, notes: notes.join(PARAGRAPH) };
}

function branchOf({ branch, title, tool }: ExternalPlan): string {
  if (branch !== null && isPlainBranchName(branch)) return branch;
  const slug = onOneLine(branch ?? title).toLowerCase().replaceAll(/[^a-z0-9]+/g, "-").replaceAll(/^-+|-+$/g, "");
  const word = slug === "" ? tool.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-") : slug.slice(0, 60).replace(/-+$/, "");
  return `ralph/${word}`;
}
