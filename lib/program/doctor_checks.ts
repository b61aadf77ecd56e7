import { isAbsolute } from "node:path";
import type { ProviderChoice } from "../config/types.ts";
import { RalphError } from "../errors/ralph_error.ts";
import { openRepository } from "../git/open_repository.ts";
import { findExecutable, shellInvocation } from "../host/shell.ts";
import { isSuperUser } from "../host/this_process.ts";
import type { Host } from "../host/types.ts";
import type { Invocation } from "../cli/command.ts";
import type { Finding } from "../cli/finding.ts";
import { findAgents, type FoundAgent, proofText } from "../cli/known_agents.ts";
import { findPlace, type Place } from "../cli/workspace.ts";
import { resolveRoot } from "../cli/root.ts";
import { optional } from "../cli/settings.ts";
import { workflowRow } from "../workflows/table.ts";
import { formatSize } from "../ui/format_size.ts";
import type { StoredOf } from "./stored.ts";
import { VERSION } from "../host/version.ts";

const VERSION_TIMEOUT_MS = 20_000;
/** Programs that start at once: some load for seconds, and each has its own time limit. */
const VERSIONS_AT_ONCE = 2;

/** Looks at everything that a run needs; starts no agent but for its version. */
export async function examine(invocation: Invocation): Promise<readonly Finding[]> {
  const { host } = invocation;
  const root = await resolveRoot(invocation);
  const { finding: config, place } = await configuration(invocation);
  const agents = await findAgents(host);
  return [
    { level: "ok", name: "ralph", detail: `${VERSION}, ${runtime(host)}` },
    ...await firstOnPath(host),
    await git(host, root),
    ...await repository(host, root),
    ...await kept(host, root),
    await shell(host),
    host.terminal.interactive
      ? { level: "ok", name: "terminal", detail: "questions can be asked" }
      : { level: "note", name: "terminal", detail: "none: commands that ask need `--answers` and `--approve`" },
    config,
    ...(place === null ? [] : [
      await agentOf(place, host, agents),
      ...await (await workflowRow(place.workflow.name).load()).examine?.(place, host) ?? [],
      ...await browser(place, host),
    ]),
    ...await atMost(VERSIONS_AT_ONCE, agents, (agent) => installed(agent, host)),
    ...await servers(),
    ...await sandbox(invocation, place),
    await queue(),
    ...await probes(invocation, place, agents),
  ];
}

/** Tried where it is asked for, and where a run would use one; otherwise only looked for. */
async function sandbox({ flags, host }: Invocation, place: Place | null): Promise<readonly Finding[]> {
  if (place === null) return [];
  const { mode } = place.config.sandbox;
  if (!flags.has("sandbox") && (mode === "off" || mode === "auto")) {
    return [
      await bubblewrap(host, "bubblewrap", "final checks run in a checkout at another path"),
      await bubblewrap(host, "--sandbox", "it does not work"),
    ];
  }
  const { probeSandbox } = await import("./sandbox_probe.ts");
  return await probeSandbox(place, host);
}

/** Without it each verdict has a line that says so; the sandbox needs more programs. */
async function bubblewrap(host: Host, name: "bubblewrap" | "--sandbox", without: string): Promise<Finding> {
  const { findBubblewrap } = await import("../host/confine.ts");
  const found = await findBubblewrap(host, name === "--sandbox" ? "some" : "all");
  return "problem" in found ? { level: "note", name, detail: `${found.problem}: ${without}`, hint: found.hint } : {
    level: "ok",
    name,
    detail: `${found.program}${name === "bubblewrap" ? ", for final checks" : ", socat, ripgrep"}`,
  };
}

/** The library only: no address of a database is known before a run. */
async function queue(): Promise<Finding> {
  const { loadPostgres } = await import("../machines/open_engine.ts");
  const name = "--queue";
  const ready: Finding = { level: "ok", name, detail: "takes a PostgreSQL: `postgres://USER@HOST/DATABASE`" };
  return await loadPostgres().then(
    () => ready,
    (error: RalphError) => ({ level: "note", name, detail: error.message, hint: error.hint }),
  );
}

/** One at a time: each is a turn of a real agent. */
async function probes(
  { flags, host, signal, say }: Invocation,
  place: Place | null,
  agents: readonly FoundAgent[],
): Promise<readonly Finding[]> {
  if (!flags.has("probe")) return [];
  const { probe, probed } = await import("./probe.ts");
  const { preset, model, endpoint } = place?.config.provider ?? {};
  const findings: Finding[] = [];
  for (const adapter of probed(flags.text("probe") ?? "", preset, agents)) {
    say(`probing ${adapter.name}: one short turn`);
    findings.push(await probe(adapter, { host, signal, ...(adapter.name === preset ? { model, endpoint } : {}) }));
  }
  return findings;
}

function runtime({ environment }: Host): string {
  return environment.compiled ? "the binary" : environment.executable;
}

/** Several programs are called `ralph`: nothing is said of one that reports this version. */
async function firstOnPath(host: Host): Promise<readonly Finding[]> {
  const { cwd } = host.environment;
  const found = await findExecutable("ralph", host.environment, cwd);
  if (found === null) return [];
  const end = await host.processes.run({ file: found, arguments: ["--version"], cwd, timeoutMs: VERSION_TIMEOUT_MS });
  if (end.reason === "exited" && end.stdout.trim() === VERSION) return [];
  const detail = `\`ralph\` on PATH is ${found}: another program of that name, or another version`;
  return [{ level: "note", name: "PATH", detail, hint: "name this one by its path, or put its folder before on PATH" }];
}

async function git(host: Host, root: string): Promise<Finding> {
  const end = await host.processes.run({
    file: "git",
    arguments: ["--version"],
    cwd: root,
    timeoutMs: VERSION_TIMEOUT_MS,
  });
  if (end.reason === "exited" && end.exitCode === 0) {
    return { level: "ok", name: "git", detail: end.stdout.trim().replace(/^git version /, "") };
  }
  const { message, hint } = new RalphError("git-missing");
  return { level: "missing", name: "git", detail: message, hint };
}

async function repository(host: Host, root: string): Promise<readonly Finding[]> {
  const name = "repository";
  try {
    const found = await openRepository(host, root);
    if (found === null) {
      const { message, hint } = new RalphError("not-a-repository", { details: { root } });
      return [{ level: "missing", name, detail: message, hint }];
    }
    const { branch, changed } = await found.status();
    const dirty = changed.length === 0
      ? "clean"
      : `${changed.length} changed ${changed.length === 1 ? "file" : "files"} (allowed)`;
    const here: Finding = { level: "ok", name, detail: `${found.topLevel}, ${branch ?? "detached HEAD"}, ${dirty}` };
    return [
      here,
      await attempt(
        "identity",
        async () => void await found.ensureReady(),
        "git knows an author, no merge is in progress",
      ),
    ];
  } catch (error) {
    return RalphError.isInstance(error) && error.code !== "git-missing"
      ? [{ level: "missing", name, detail: error.message, hint: error.hint }]
      : [];
  }
}

/** Counts the things that Ralph keeps outside of the tree, by kind. */
async function kept(host: Host, root: string): Promise<readonly Finding[]> {
  const found = await openRepository(host, root).catch(() => null); // `repository` says why
  if (found === null) return [];
  try {
    return await storedFindings({ host, repository: found });
  } catch (error) {
    if (!RalphError.isInstance(error)) throw error;
    return [{ level: "missing", name: "cache", detail: error.message, hint: error.hint }];
  }
}

async function storedFindings(of: StoredOf): Promise<readonly Finding[]> {
  const { allCheckouts, STORED, storedFor } = await import("./stored.ts");
  const stored = await storedFor(of);
  const all = await allCheckouts(of.host);
  const sum = (kind: string): number => stored.reduce((to, one) => to + (one.kind === kind ? one.bytes ?? 0 : 0), 0);
  return STORED.filter((kind) => stored.some((one) => one.kind === kind)).map((kind) => ({
    level: "ok",
    name: kind,
    detail: `${stored.filter((one) => one.kind === kind).length} kept of this project, ${formatSize(sum(kind))}` +
      (kind === "cache" ? `; all projects: ${formatSize(all.bytes)} in ${all.path}` : ""),
    hint: `\`ralph clean ${kind}\` shows and removes it`,
  }));
}

async function shell(host: Host): Promise<Finding> {
  const { file, arguments: given } = await shellInvocation("true", host.environment);
  return given.includes("--norc")
    ? { level: "ok", name: "shell", detail: file }
    : { level: "note", name: "shell", detail: `${file}: a failure before a pipe goes unseen`, hint: "install bash" };
}

async function configuration(
  invocation: Invocation,
): Promise<{ readonly finding: Finding; readonly place: Place | null }> {
  try {
    const place = await findPlace(invocation);
    const detail = place.file ?? "no ralph.config.json: the defaults";
    const unknown = place.warnings.length === 0 ? "" : ` (${place.warnings.join(", ")})`;
    return { finding: { level: unknown === "" ? "ok" : "note", name: "config", detail: detail + unknown }, place };
  } catch (error) {
    if (!RalphError.isInstance(error)) throw error;
    return { finding: { level: "missing", name: "config", detail: error.message, hint: error.hint }, place: null };
  }
}

async function agentOf({ config, root }: Place, host: Host, found: readonly FoundAgent[]): Promise<Finding> {
  const name = "agent";
  const { command, preset } = config.provider;
  if (command === undefined && preset === undefined) {
    const { message } = new RalphError("agent-missing");
    const example = found[0] === undefined
      ? 'add `"provider": { "command": "…" }` to ralph.config.json, or give `--agent-cmd`'
      : `add \`"provider": { "preset": "${found[0].name}" }\` to ralph.config.json, or give \`--agent ${
        found[0].name
      }\``;
    return found.length === 0
      ? { level: "missing", name, detail: `${message}, and none was found on PATH`, hint: example }
      : { level: "note", name, detail: message, hint: example };
  }
  if (preset === "scripted") return { level: "ok", name, detail: "scripted, built in" };
  if (preset === "builtin") return await builtinOf(config.provider, host);
  if (preset !== undefined && preset !== "command") return await presetOf(preset, found, { host, root });
  const word = firstWord(command ?? "");
  const path = await findExecutable(word, host.environment, root);
  if (path !== null) {
    return { level: "ok", name, detail: `${command ?? preset} ${isAbsolute(word) ? "" : `(${path})`}`.trim() };
  }
  if (command !== undefined && /[^\w./-]/.test(word)) {
    return { level: "note", name, detail: `${command} (a shell line: not looked up)` };
  }
  return { level: "missing", name, detail: `\`${word}\` is not on PATH`, hint: "install it, or name another command" };
}

/** The built-in agent needs nothing but a model server. */
async function builtinOf({ endpoint, model }: ProviderChoice, host: Host): Promise<Finding> {
  const { configuredEndpoint } = await import("../agents/ask_endpoint.ts");
  try {
    const ready = await configuredEndpoint(endpoint, model, host.environment.variables);
    return { level: "ok", name: "agent", detail: `builtin, ${ready.model} of ${ready.url}` };
  } catch (error) {
    if (!RalphError.isInstance(error)) throw error;
    return { level: "missing", name: "agent", detail: error.message, hint: error.hint };
  }
}

/** Model servers of this machine that answer: for the built-in agent, and for others that take any. */
async function servers(): Promise<readonly Finding[]> {
  const { localEndpoints } = await import("../agents/ask_endpoint.ts");
  return (await localEndpoints()).map(({ endpoint: { name, url }, models }): Finding => ({
    level: "ok",
    name,
    detail: `${url}, ${models.map(({ id }) => id).slice(0, 6).join(", ") || "no model"} (for \`--agent builtin\`)`,
  }));
}

async function presetOf(
  preset: string,
  found: readonly FoundAgent[],
  place: { readonly host: Host; readonly root: string },
): Promise<Finding> {
  const here = found.find((agent) => agent.name === preset);
  if (here !== undefined) return await readyAgent(here, place);
  const { findAdapter } = await import("../agents/adapters.ts");
  const adapter = findAdapter(preset);
  return adapter === undefined
    ? {
      level: "missing",
      name: "agent",
      detail: `there is no agent named ${preset}`,
      hint: "`ralph help agents` lists them",
    }
    : {
      level: "missing",
      name: "agent",
      detail: `\`${adapter.programs[0]}\` is not on PATH`,
      hint: `${adapter.install}; ${adapter.login}`,
    };
}

/** Tells if the agent will start, as far as that is known without starting it. */
async function readyAgent(
  { name: preset, path, adapter }: FoundAgent,
  { host: { environment }, root }: { readonly host: Host; readonly root: string },
): Promise<Finding> {
  const name = "agent";
  const { variables } = environment;
  for (const { foresee, hint } of adapter.refusals ?? []) {
    const why = foresee?.({ variables, isRoot: isSuperUser() }) ?? null;
    if (why !== null) return { level: "missing", name, detail: `${preset} (${path}): ${why}`, hint };
  }
  const { seesLogin } = await import("../agents/login_watch.ts");
  return await seesLogin(adapter, environment, root)
    ? { level: "ok", name, detail: `${preset} (${path})` }
    : { level: "note", name, detail: `${preset} (${path}): no login or key of it is seen`, hint: adapter.login };
}

function firstWord(command: string): string {
  return command.trim().split(/\s+/)[0] ?? "";
}

/** Maps a list with only so many under way at once; the results are in its order. */
async function atMost<Value, Result>(
  most: number,
  values: readonly Value[],
  map: (value: Value) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  const left = [...values.entries()];
  async function work(): Promise<void> {
    for (let next = left.shift(); next !== undefined; next = left.shift()) results[next[0]] = await map(next[1]);
  }
  await Promise.all(Array.from({ length: most }, work));
  return results;
}

async function installed({ name, path, adapter }: FoundAgent, host: Host): Promise<Finding> {
  const end = await host.processes.run({
    file: path,
    arguments: ["--version"],
    cwd: host.environment.cwd,
    timeoutMs: VERSION_TIMEOUT_MS,
  });
  const [version = ""] = (end.stdout.trim() || end.stderr.trim()).split("\n");
  const { doubtful } = adapter;
  if (end.reason === "exited" && end.exitCode === 0 && doubtful !== undefined && !isOlder(version, doubtful.from)) {
    const detail = `${version} (${path}), ${proofText(adapter)}: ${doubtful.why}`;
    return { level: "note", name, detail, hint: `\`ralph doctor --probe ${name}\` tries it` };
  }
  return end.reason === "exited" && end.exitCode === 0
    ? { level: "ok", name, detail: `${version} (${path}), ${proofText(adapter)}` }
    : {
      level: "note",
      name,
      detail: `${path} does not report its version`,
      ...optional(
        "hint",
        end.reason === "timed-out" ? `it did not answer within ${VERSION_TIMEOUT_MS / 1000} s` : undefined,
      ),
    };
}

/** True where the first version in the text comes before the other one. Pure. */
function isOlder(text: string, than: string): boolean {
  const numbers = (version: string): readonly number[] => version.split(".").map(Number);
  const here = numbers(/\d+(?:\.\d+)+/.exec(text)?.[0] ?? "");
  const at = numbers(than).findIndex((number, index) => number !== (here[index] ?? 0));
  return at >= 0 && (here[at] ?? 0) < (numbers(than)[at] ?? 0);
}

async function attempt(name: string, act: () => Promise<void>, detail: string): Promise<Finding> {
  try {
    await act();
    return { level: "ok", name, detail };
  } catch (error) {
    if (!RalphError.isInstance(error)) throw error;
    return { level: "missing", name, detail: error.message, hint: error.hint };
  }
}

/** Only where pages may be looked at. */
async function browser({ config, root, workflow }: Place, host: Host): Promise<readonly Finding[]> {
  if (workflowRow(workflow.name).pages !== true && config.services.length === 0) return [];
  if (!config.browser.enabled) {
    return [{ level: "ok", name: "browser", detail: "not used: `browser.enabled` is false" }];
  }
  const { findBrowser } = await import("../checks/browser/find_browser.ts");
  try {
    return [{
      level: "ok",
      name: "browser",
      detail: await findBrowser(config.browser.executablePath, host.environment, root),
    }];
  } catch (error) {
    if (!RalphError.isInstance(error)) throw error;
    return [{ level: "note", name: "browser", detail: error.message, hint: error.hint }];
  }
}
