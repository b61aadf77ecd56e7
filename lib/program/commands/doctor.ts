import { isAbsolute } from "node:path";
import { EXIT, RalphError } from "../../errors/ralph_error.ts";
import { openRepository } from "../../git/open_repository.ts";
import { type Repository, requireRepository } from "../../git/repository.ts";
import { isWholly } from "../../config/strict.ts";
import { commandWord } from "../../agents/program.ts";
import { realPathOf } from "../../host/bubblewrap.ts";
import { findExecutable, shellInvocation } from "../../host/shell.ts";
import { createSlots } from "../../host/slots.ts";
import { isSuperUser } from "../../host/this_process.ts";
import type { Host, ProcessEnd, Variables } from "../../host/types.ts";
import { type Invocation, styleFor, toJson } from "../../cli/command.ts";
import { type Finding, finding, foundOf } from "../../cli/finding.ts";
import { findAgents, type FoundAgent, proofText } from "../../cli/agents.ts";
import { findPlace, type Place, resolveRoot } from "../../cli/workspace.ts";
import { workflowRow } from "../../workflows/table.ts";
import { formatSize } from "../../ui/format_size.ts";
import type { StoredOf } from "./kept.ts";
import { VERSION } from "../../host/version.ts";

const VERSION_TIMEOUT_MS = 20_000;
/** Programs that start at once: some load for seconds, and each has its own time limit. */
const VERSIONS_AT_ONCE = 2;

/** `ralph doctor`: what is there, what is missing, and how to get it. Exit code 1 when something is missing. */
export async function run(invocation: Invocation): Promise<number> {
  const findings = await examine(invocation);
  const missing = findings.filter(({ level }) => level === "missing").length;
  if (invocation.flags.has("json")) invocation.out(toJson({ ok: missing === 0, findings }));
  else for (const line of lines(findings, missing, invocation)) invocation.out(line);
  return missing === 0 ? EXIT.done : EXIT.failed;
}

function lines(findings: readonly Finding[], missing: number, invocation: Invocation): readonly string[] {
  const { good, bad, warn, dim, symbols } = styleFor(invocation, "stdout");
  const notes = findings.filter(({ level }) => level === "note").length;
  const marks = { ok: good(symbols.passed), note: warn(symbols.warning), missing: bad(symbols.failed) };
  const width = Math.max(...findings.map(({ name }) => name.length));
  return [
    ...findings.flatMap(({ level, name, detail, hint }) => [
      `${marks[level]} ${name.padEnd(width)}  ${detail}`,
      ...(hint === undefined ? [] : [`  ${" ".repeat(width)}  ${dim(`hint: ${hint}`)}`]),
    ]),
    missing === 0
      ? good(notes === 0 ? "nothing is missing" : "nothing is missing that a run needs to start")
      : bad(`${missing} ${missing === 1 ? "thing is" : "things are"} missing`),
  ];
}

/** Looks at everything that a run needs; starts no agent but for its version. */
async function examine(invocation: Invocation): Promise<readonly Finding[]> {
  const { host } = invocation;
  const root = await resolveRoot(invocation);
  const config = await foundOf("config", async () => {
    const { file, warnings } = await findPlace(invocation);
    const detail = file ?? "no ralph.config.json: the defaults";
    return warnings.length === 0 ? detail : [finding("note", "config", `${detail} (${warnings.join(", ")})`)];
  });
  const place = config.some(({ level }) => level === "missing") ? null : await findPlace(invocation);
  const agents = await findAgents(host);
  const hasGit = await foundOf("git", async () => {
    const end = await versionOf("git", host);
    if (end.reason !== "exited" || end.exitCode !== 0) throw new RalphError("git-missing");
    return end.stdout.trim().replace(/^git version /, "");
  });
  const slots = createSlots(VERSIONS_AT_ONCE);
  return [
    finding("ok", "ralph", `${VERSION}, ${host.environment.compiled ? "the binary" : host.environment.executable}`),
    ...await firstOnPath(host),
    ...hasGit,
    ...hasGit[0]?.level === "ok" ? await repository(host, root) : [],
    await shell(host),
    host.terminal.interactive
      ? finding("ok", "terminal", "questions can be asked")
      : finding("note", "terminal", "none: commands that ask need `--answers` and `--approve`"),
    ...config,
    ...(place === null ? [] : [
      ...await agentOf(place, host, agents),
      ...await workflowRow(place.workflow.name).workflow.examine?.(place, host) ?? [],
      ...await browser(place, host),
    ]),
    ...await Promise.all(agents.map((agent) => slots.run(() => installed(agent, host)))),
    ...await servers(),
    ...await sandbox(invocation, place),
    ...await queue(),
    ...await probes(invocation, place, agents),
  ];
}

/** Tried where it is asked for, and where a run would use one; otherwise only looked for. */
async function sandbox(invocation: Invocation, found: Place | null): Promise<readonly Finding[]> {
  if (found === null) return [];
  const { flags, host } = invocation;
  const { agreedSandbox } = await import("../../cli/agreed_config.ts");
  const agreed = { ...found.config.sandbox, ...await agreedSandbox(invocation, found, null) };
  const place = { ...found, config: { ...found.config, sandbox: agreed } };
  if (!flags.has("sandbox") && !isWholly(agreed)) {
    const { probeConfinement } = await import("../probe.ts");
    return [
      await probeConfinement(place, host),
      await bubblewrap(host, "bubblewrap", "final checks run in a checkout at another path"),
      await bubblewrap(host, "--sandbox", "it does not work"),
    ];
  }
  const { probeSandbox } = await import("../probe.ts");
  return await probeSandbox(place, host);
}

/** Without it each verdict has a line that says so; the sandbox needs more programs. */
async function bubblewrap(host: Host, name: "bubblewrap" | "--sandbox", without: string): Promise<Finding> {
  const { findBubblewrap } = await import("../../host/confine.ts");
  const { findBackend } = await import("../../sandbox/create_sandbox.ts");
  const found = await (name === "--sandbox" ? findBackend(host, "some") : findBubblewrap(host, "all"));
  if ("problem" in found) return finding("note", name, `${found.problem}: ${without}`, found.hint);
  return finding("ok", name, "program" in found ? `${found.program}, for final checks` : found.name);
}

/** The library only: no address of a database is known before a run. */
async function queue(): Promise<readonly Finding[]> {
  const { loadPostgres } = await import("../../machines/open_engine.ts");
  return await foundOf("--queue", async () => {
    await loadPostgres();
    return "takes a PostgreSQL: `postgres://USER@HOST/DATABASE`";
  }, "note");
}

/** One at a time: each is a turn of a real agent. */
async function probes({ flags, host, signal, say }: Invocation, place: Place | null, agents: readonly FoundAgent[]) {
  if (!flags.has("probe")) return [];
  const { probe, probed } = await import("../probe.ts");
  const { preset, model, endpoint } = place?.config.provider ?? {};
  const findings: Finding[] = [];
  for (const adapter of probed(flags.text("probe") ?? "", preset, agents)) {
    say(`probing ${adapter.name}: one short turn`);
    findings.push(await probe(adapter, { host, signal, ...(adapter.name === preset ? { model, endpoint } : {}) }));
  }
  return findings;
}

/** Several programs are called `ralph`, and another one may begin its work whatever it is asked: none is started. */
async function firstOnPath({ environment }: Host): Promise<readonly Finding[]> {
  const { cwd, executable, script } = environment;
  const found = await findExecutable("ralph", environment, cwd);
  if (found === null || realPathOf(found) === realPathOf(script ?? executable)) return [];
  const detail = `\`ralph\` on PATH is ${found}: another program of that name, or another installation`;
  return [finding("note", "PATH", detail, "name this one by its path, or put its folder before on PATH")];
}

/** Asks a program for its version. */
async function versionOf(file: string, { environment: { cwd }, processes }: Host): Promise<ProcessEnd> {
  return await processes.run({ file, arguments: ["--version"], cwd, timeoutMs: VERSION_TIMEOUT_MS });
}

async function repository(host: Host, root: string): Promise<readonly Finding[]> {
  const open = async () => requireRepository({ repository: await openRepository(host, root), root });
  const here = await foundOf("repository", async () => {
    const found = await open();
    const { branch, changed } = await found.status();
    const dirty = changed.length === 0
      ? "clean"
      : `${changed.length} changed ${changed.length === 1 ? "file" : "files"} (allowed)`;
    return `${found.topLevel}, ${branch ?? "detached HEAD"}, ${dirty}`;
  });
  if (here[0]?.level !== "ok") return here;
  const found = await open();
  const identity = await foundOf("identity", async () => {
    await found.ensureReady();
    return "git knows an author, no merge is in progress";
  });
  const stored = await foundOf("cache", () => kept({ host, repository: found }));
  return [...here, ...identity, ...await signing(found, host), ...stored];
}

/** A run commits as git is configured: a commit that nothing names is signed now, before a run cannot. */
async function signing({ git, topLevel }: Repository, host: Host): Promise<readonly Finding[]> {
  const isOn = (await git(["config", "--type=bool", "--get", "commit.gpgSign"])).stdout.trim() === "true";
  const tree = isOn ? (await git(["rev-parse", "--verify", "--quiet", "HEAD^{tree}"])).stdout.trim() : "";
  if (tree === "") return [];
  const isSsh = (await git(["config", "--get", "gpg.format"])).stdout.trim() === "ssh";
  const end = await host.processes.run({
    file: "git",
    arguments: ["commit-tree", "-S", "-m", "ralph doctor", tree],
    cwd: topLevel,
    timeoutMs: VERSION_TIMEOUT_MS,
  });
  if (end.reason === "exited" && end.exitCode === 0) {
    return [finding("ok", "signing", `git signs commits${isSsh ? " with an ssh key" : ""}`)];
  }
  const why = end.stderr.trim().split("\n")[0] || "it took too long";
  const unlock = isSsh ? "`ssh-add` unlocks the key" : "unlock the key: `git commit --allow-empty -m try`";
  const hint = `${unlock}; \`git config commit.gpgSign false\` signs none here`;
  return [finding("missing", "signing", `git cannot sign a commit: ${why}`, hint)];
}

/** Counts the things that Ralph keeps outside of the tree, by kind. */
async function kept(of: StoredOf): Promise<readonly Finding[]> {
  const { allCheckouts, STORED, storedFor } = await import("./kept.ts");
  const stored = await storedFor(of);
  const all = await allCheckouts(of.host);
  return STORED.flatMap((kind) => {
    const own = stored.filter((one) => one.kind === kind);
    if (own.length === 0) return [];
    const size = formatSize(own.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0));
    const others = kind === "cache" ? `; all projects: ${formatSize(all.bytes)} in ${all.path}` : "";
    const detail = `${own.length} kept of this project, ${size}${others}`;
    return [finding("ok", kind, detail, `\`ralph clean ${kind}\` shows and removes it`)];
  });
}

async function shell(host: Host): Promise<Finding> {
  const { file, arguments: given } = await shellInvocation("true", host.environment);
  return given.includes("--norc")
    ? finding("ok", "shell", file)
    : finding("note", "shell", `${file}: a failure before a pipe goes unseen`, "install bash");
}

async function agentOf({ config, root }: Place, host: Host, found: readonly FoundAgent[]): Promise<readonly Finding[]> {
  const { command = "", endpoint, model, preset } = config.provider;
  if (command === "" && (preset === undefined || preset === "command")) {
    const { message } = new RalphError("agent-missing");
    const [first] = found;
    if (first === undefined) {
      const detail = `${message}, and none was found on PATH`;
      return [finding("missing", "agent", detail, "`ralph help agents` says how to get one")];
    }
    const configured = `add \`"provider": { "preset": "${first.name}" }\` to ralph.config.json`;
    return [finding("note", "agent", message, `${configured}, or give \`--agent ${first.name}\``)];
  }
  if (preset === "scripted") return [finding("ok", "agent", "scripted, built in")];
  if (preset === "builtin") { // it needs nothing but a model server
    const { configuredEndpoint } = await import("../../agents/ask_endpoint.ts");
    return await foundOf("agent", async () => {
      const ready = await configuredEndpoint(endpoint, model, host.environment.variables);
      return `builtin, ${ready.model} of ${ready.url}`;
    });
  }
  if (preset !== undefined && preset !== "command") return [await presetOf(preset, found, { host, root })];
  const word = commandWord(command);
  if (word === null) return [finding("note", "agent", `${command} (a shell line: not looked up)`)];
  const path = await findExecutable(word, host.environment, root);
  return path === null
    ? [finding("missing", "agent", `\`${word}\` is not on PATH`, "install it, or name another command")]
    : [finding("ok", "agent", isAbsolute(word) ? command : `${command} (${path})`)];
}

/** Model servers of this machine that answer: for the built-in agent, and for others that take any. */
async function servers(): Promise<readonly Finding[]> {
  const { localEndpoints } = await import("../../agents/ask_endpoint.ts");
  return (await localEndpoints()).map(({ endpoint: { name, url }, models }) => {
    const some = models.map(({ id }) => id).slice(0, 6).join(", ") || "no model";
    return finding("ok", name, `${url}, ${some} (for \`--agent builtin\`)`);
  });
}

async function presetOf(
  preset: string,
  found: readonly FoundAgent[],
  place: { readonly host: Host; readonly root: string },
): Promise<Finding> {
  const here = found.find((agent) => agent.name === preset);
  if (here !== undefined) return await readyAgent(here, place);
  const { findAdapter } = await import("../../agents/adapters.ts");
  const adapter = findAdapter(preset);
  if (adapter === undefined) {
    return finding("missing", "agent", `there is no agent named ${preset}`, "`ralph help agents` lists them");
  }
  const { install, login, name, program } = adapter;
  return finding("missing", "agent", `\`${program ?? name}\` is not on PATH`, `${install}; ${login}`);
}

/** Tells if the agent will start, as far as that is known without starting it. */
async function readyAgent(
  { name: preset, path, adapter }: FoundAgent,
  { host: { environment }, root }: { readonly host: Host; readonly root: string },
): Promise<Finding> {
  const name = `${preset} (${path})`;
  const refusal = refusalOf(adapter, environment.variables);
  if (refusal !== null) return finding("missing", "agent", `${name}: ${refusal.why}`, refusal.hint);
  const { seesLogin } = await import("../../agents/turn_verdict.ts");
  return await seesLogin(adapter, environment, root)
    ? finding("ok", "agent", name)
    : finding("note", "agent", `${name}: no login or key of it is seen`, adapter.login);
}

/** The reason why the agent will not start, as far as that is known without starting it: root, for one. */
function refusalOf({ refusals = [] }: FoundAgent["adapter"], variables: Variables) {
  const found = refusals.map(({ foresee, hint }) => ({ why: foresee?.({ variables, isRoot: isSuperUser() }), hint }));
  return found.find(({ why }) => typeof why === "string") ?? null;
}

async function installed({ name, path, adapter }: FoundAgent, host: Host): Promise<Finding> {
  const end = await versionOf(path, host);
  if (end.reason !== "exited" || end.exitCode !== 0) {
    const slow = end.reason === "timed-out" ? `it did not answer within ${VERSION_TIMEOUT_MS / 1000} s` : undefined;
    return finding("note", name, `${path} does not report its version`, slow);
  }
  const [version = ""] = (end.stdout.trim() || end.stderr.trim()).split("\n");
  const { doubtful } = adapter;
  const detail = `${version} (${path}), ${proofText(adapter)}`;
  const refusal = refusalOf(adapter, host.environment.variables);
  if (refusal !== null) return finding("note", name, `${detail}: ${refusal.why}`, refusal.hint);
  if (doubtful === undefined || isOlder(version, doubtful.from)) return finding("ok", name, detail);
  return finding("note", name, `${detail}: ${doubtful.why}`, `\`ralph doctor --probe ${name}\` tries it`);
}

/** True where the first version in the text comes before the other one. Pure. */
function isOlder(text: string, than: string): boolean {
  const numbers = (version: string): readonly number[] => version.split(".").map(Number);
  const here = numbers(/\d+(?:\.\d+)+/.exec(text)?.[0] ?? "");
  const at = numbers(than).findIndex((number, index) => number !== (here[index] ?? 0));
  return at >= 0 && (here[at] ?? 0) < (numbers(than)[at] ?? 0);
}

/** Only where pages may be looked at. */
async function browser({ config, root, workflow }: Place, host: Host): Promise<readonly Finding[]> {
  if (workflowRow(workflow.name).pages !== true && config.services.length === 0) return [];
  if (!config.browser.enabled) return [finding("ok", "browser", "not used: `browser.enabled` is false")];
  const { findBrowser } = await import("../../checks/browser/find_browser.ts");
  const { executablePath } = config.browser;
  return await foundOf("browser", () => findBrowser(executablePath, host.environment, root), "note");
}
