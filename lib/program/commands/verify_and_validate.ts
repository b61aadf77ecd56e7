import { valueAt } from "../../config/key_path.ts";
import { jsonIn } from "../../host/data.ts";
import type { Verification } from "../../backlog/types.ts";
import { type Invocation, styleFor, toJson } from "../../cli/command.ts";
import { exitCodeOf } from "../../recipe/outcome.ts";
import { chosen, ensureScope } from "../chosen.ts";
import { chooseWorkflow, resolveRoot } from "../../cli/workspace.ts";
import { cacheOf } from "../../git/config_cache.ts";
import { resolve } from "node:path";
import { placeholderProblems, problemOf, type ValidatedFile } from "../../cli/validated_file.ts";
import { CONFIG_FILE, findConfig } from "../../config/load.ts";
import { EXIT, nearest } from "../../errors/ralph_error.ts";
import type { RalphContext } from "../../context/context.ts";
import { deleteRefs } from "../../git/refs.ts";
import type { Host } from "../../host/types.ts";
import { promptWarnings } from "../../prompts/render.ts";
import { workflowRow, WORKFLOWS } from "../../workflows/table.ts";

/** `ralph verify`: the checks of the work, each command once; no agent, no lock, nothing is marked. */
export async function verify(invocation: Invocation): Promise<number> {
  const { place, scope, workflow } = await chosen(invocation);
  const { openSession } = await import("../../cli/session.ts");
  await using session = await openSession(invocation, { asks: false, gates: [], data: true, place });
  const { ralph } = session;
  const verified = await lookedAfter(ralph, (own) => workflow.verify(own, scope));
  if (invocation.flags.has("json")) invocation.out(toJson(verified));
  else for (const line of summary(verified, invocation, workflow.checkForm)) invocation.say(line);
  return exitCodeOf({ ...verified, allowed: ralph.config.verify.allowUnverified });
}

/** A person's uncommitted work is looked after while checks run in it; the refs that keep it go if nothing has changed. */
async function lookedAfter(ralph: RalphContext, run: (ralph: RalphContext) => Promise<Verification>) {
  const { repository } = ralph;
  if (repository === null) return await run(ralph);
  const before = await repository.snapshot();
  const userPaths = new Set(before.changed.map(({ path }) => path));
  const [{ createTurnGuard }, { keptRef }] = await Promise.all([
    import("../../loop/attempt/turn_guard.ts"),
    import("../../loop/attempt/uncommitted.ts"),
  ]);
  const guard = createTurnGuard(ralph, { userPaths, stateFiles: [] });
  await guard.keep(null, before, true);
  const verified = await run({ ...ralph, lookAfter: (by) => guard.look(by) });
  const { contents } = await repository.snapshot();
  const isAsBefore = [...guard.found].every(([path, { content }]) => (contents.get(path) ?? null) === content);
  if (isAsBefore) await deleteRefs(repository, [keptRef(ralph), `${keptRef(ralph)}.staged`]);
  return verified;
}

function summary(verified: Verification, invocation: Invocation, checkForm: string = "in a criterion: Verify: `cmd`") {
  const { good, bad, warn } = styleFor(invocation, "stderr");
  const { length } = verified.results;
  switch (verified.status) {
    case "passed":
      return [good(`${length} of ${length} checks passed`)];
    case "failed":
      return [
        bad(`${verified.failures.length} of ${length} checks failed`),
        ...verified.failures.map(({ name, scope }) => `  ${name}${scope === "" ? "" : ` (${scope})`}`),
      ];
    case "unverified":
      return [
        warn("unverified: there is no check to run"),
        `hint: name commands in \`verify.default\`, by \`--verify CMD\`, or ${checkForm}`,
      ];
    case "aborted":
      return [];
  }
}

/** `ralph validate`: the configuration and the state files, all problems at once; nothing is changed. */
export async function validate(invocation: Invocation): Promise<number> {
  const { flags, out } = invocation;
  const root = await resolveRoot(invocation);
  const files = await validateFiles(invocation, root);
  const valid = files.every(({ problems }) => problems.length === 0);
  if (flags.has("json")) {
    out(toJson({ root, valid, files: files.map(({ refused: _refused, ...file }) => file) }));
    return valid ? EXIT.done : EXIT.usage;
  }
  const { good, bad, warn, dim, symbols } = styleFor(invocation, "stdout");
  for (const { path, present, problems, warnings } of files) {
    const mark = problems.length > 0 ? bad(symbols.failed) : present ? good(symbols.passed) : dim(symbols.open);
    out(`${mark} ${path}${present ? "" : dim(" (not there)")}`);
    for (const problem of problems) out(`    ${bad(problem)}`);
    for (const warning of warnings) out(`    ${warn(`warning: ${warning}`)}`);
  }
  return valid ? EXIT.done : EXIT.usage;
}

/** A configuration that cannot be read is a finding like others. */
async function validateFiles(invocation: Invocation, root: string): Promise<readonly ValidatedFile[]> {
  const { arguments: [scope = ""], flags, host } = invocation;
  const named = flags.text("config");
  const found = await readConfig(root, named === undefined ? undefined : resolve(host.environment.cwd, named), host);
  const recipe = flags.text("recipe");
  if (recipe !== undefined) {
    const { recipeViews } = await import("../recipe_views.ts");
    const views = await recipeViews(invocation, recipe);
    return [found.file, ...await views.validate({ root, config: found.config, scope, host })];
  }
  const { config, file } = found;
  const asked = { flag: flags.text("workflow"), config: config?.workflow, line: invocation };
  const row = workflowRow((await chooseWorkflow(WORKFLOWS, root, asked)).name);
  ensureScope(invocation, row);
  const { workflow } = row;
  const files = await workflow.validate({ root, config, scope, host });
  const own = config === null ? [] : workflow.validateConfig?.({ config, present: file.present }) ?? [];
  return [{ ...file, problems: [...own, ...file.problems] }, ...files, ...await promptFiles(root)];
}

/** The files that replace prompts, where something in them is hardly meant. */
async function promptFiles(root: string): Promise<readonly ValidatedFile[]> {
  const found = await promptWarnings(root);
  return [...new Set(found.map(({ path }) => path))].map((path) => {
    const warnings = found.filter((one) => one.path === path).map(({ text }) => text);
    return { path, present: true, problems: [], warnings };
  });
}

/** The file, and the configuration; `null` where that cannot be read. */
async function readConfig(root: string, named: string | undefined, host: Host) {
  const path = named ?? CONFIG_FILE;
  try {
    const { config, file, problems, text, warnings } = await findConfig(root, named, await cacheOf(root, host));
    const data = config ?? jsonIn(text); // what is wrong beside the problems found is named at once
    const commands = [["verify", "default"], ["verify", "ui"]].flatMap((path) => valueAt(data, path))
      .filter((command) => typeof command === "string");
    const own = [...placeholderProblems("verify", commands), ...await agentProblems(data, text)];
    return { file: { path, present: file !== null, problems: [...problems, ...own], warnings }, config };
  } catch (error) {
    return { file: { path, present: false, problems: [problemOf(error, path)], warnings: [] }, config: null };
  }
}

/** Names of agents that there are not. */
async function agentProblems(data: unknown, text: string): Promise<readonly string[]> {
  const hooks = valueAt(data, ["hooks"]);
  const places: readonly (readonly PropertyKey[])[] = [
    ["provider", "preset"],
    ["provider", "fallback"],
    ["provider", "fallback", "preset"],
    ["verify", "challenger"],
    ...(Array.isArray(hooks) ? [...hooks.keys()].map((index) => ["hooks", index, "agent"]) : []),
  ];
  const named = places.map((path) => [path, valueAt(data, path)] as const)
    .filter((entry): entry is readonly [readonly PropertyKey[], string] => typeof entry[1] === "string");
  if (named.length === 0) return [];
  const { AGENT_NAMES } = await import("../../agents/registry.ts");
  const unknown = named.filter(([, name]) => !AGENT_NAMES.includes(name));
  if (unknown.length === 0) return [];
  const { jsonPlace } = await import("../../config/json_place.ts");
  return unknown.map(([path, name]) => {
    const { line, column } = jsonPlace(text, path);
    const near = nearest(name, AGENT_NAMES);
    const meant = near === null ? `known: ${AGENT_NAMES.join(", ")}` : `did you mean "${near}"?`;
    return `line ${line}, column ${column}: ${path.join(".")}: there is no agent named ${name}; ${meant}`;
  });
}
