import { join } from "node:path";
import type { Adapter } from "../agents/adapter.ts";
import { adapterAgent } from "../agents/adapter_agent.ts";
import { ADAPTERS, findAdapter } from "../agents/adapters.ts";
import { packageOf, programPath } from "../agents/program.ts";
import { tokensOf } from "../backlog/usage.ts";
import type { FoundAgent } from "../cli/agents.ts";
import { didYouMean, usage } from "../cli/command.ts";
import { type Finding, finding, foundOf } from "../cli/finding.ts";
import { optional } from "../cli/settings.ts";
import type { Place } from "../cli/workspace.ts";
import { isWholly } from "../config/strict.ts";
import type { ProviderChoice } from "../config/load.ts";
import type { AgentEvent } from "../events/types.ts";
import { openRepository } from "../git/open_repository.ts";
import { pathExists, removePath, temporaryDirectory } from "../host/files.ts";
import type { Host, SandboxState } from "../host/types.ts";
import { sandboxedHost, sandboxStateOf } from "../sandbox/create_sandbox.ts";
import { confinementText, formatDuration, sandboxText } from "../ui/text.ts";

const MARKER = "<ralph>DONE</ralph>";
const PROMPT =
  `This is a test of how you are started. Do nothing, use no tool, and end your answer with this line:\n${MARKER}\n`;
const TIMEOUT_MS = 180_000;

/** A probe needs to know this of an agent. */
export interface ProbeOptions extends Pick<ProviderChoice, "endpoint" | "model"> {
  readonly host: Host;
  readonly signal: AbortSignal;
}

/**
 * The agents that `--probe` names; without names the configured one. An agent that was not chosen is not asked: it costs a turn.
 *
 * @throws {RalphError} usage
 */
export function probed(names: string, preset: string | undefined, found: readonly FoundAgent[]): readonly Adapter[] {
  const asked = names.split(",").map((name) => name.trim()).filter((name) => name !== "");
  const wanted = asked.length > 0 ? asked : preset !== undefined ? [preset] : [];
  if (wanted.length === 0) {
    const names = found.map(({ name }) => name).join(",") || "claude";
    throw usage("no agent is configured: which one is to be probed?", `\`ralph doctor --probe ${names}\``);
  }
  return wanted.map((name) => {
    const adapter = ADAPTERS.find((row) => row.name === name);
    if (adapter !== undefined) return adapter;
    const hint = didYouMean(name, ADAPTERS.map((row) => row.name), "`ralph doctor` lists them");
    throw usage(`there is no agent named ${name} to probe`, hint);
  });
}

/** Sends one cheap prompt through an adapter, in an empty folder, and compares what came back with what it expects. */
export async function probe(adapter: Adapter, { host, signal, model, endpoint }: ProbeOptions): Promise<Finding> {
  const name = `probe ${adapter.name}`;
  await using folder = await temporaryDirectory("ralph-probe-");
  const agent = adapterAgent(adapter, { host, model, endpoint, root: folder.path });
  const events: AgentEvent[] = [];
  const turn = await agent.runTurn({
    prompt: PROMPT,
    cwd: folder.path,
    transcript: join(folder.path, "transcript.log"),
    timeoutMs: TIMEOUT_MS,
    environment: {},
    signal,
    onEvent: (event) => events.push(event),
  });
  const took = formatDuration(turn.durationMs);
  if (turn.end.reason !== "completed") {
    const message = "message" in turn.end ? turn.end.message : "interrupted";
    return finding("missing", name, `${turn.end.reason} after ${took}: ${message}`, adapter.login);
  }
  const tokens = tokensOf(turn.usage);
  const { translator } = await adapter.load();
  const problems = [
    ...(turn.lines.includes(MARKER) ? [] : ["the marker was not in its output"]),
    ...(events.some(({ type }) => type === "agent-line-invalid") ? ["it printed lines that are no events"] : []),
    ...(translator === null || events.some(({ type }) => type === "agent-text")
      ? []
      : ["no output was found in its stream"]),
    ...(adapter.proof.kind === "measured" && tokens === null ? ["it reported no usage"] : []),
  ];
  const used = tokens === null ? "usage unknown" : `${tokens} tokens`;
  if (problems.length === 0) return finding("ok", name, `answered as expected in ${took}, ${used}`);
  const hint = "its program has changed since the adapter was written: `--agent-cmd` runs it as plain text";
  return finding("missing", name, `answered in ${took}, but ${problems.join("; ")}`, hint);
}

/** One thing that is tried inside. */
interface Trial {
  readonly name: string;
  /** For `sh`; exit code 0 is "it works". */
  readonly command: string;
  readonly wanted: "allowed" | "denied";
  /** Absolute path of a file that must not be there afterwards. */
  readonly leaves?: string;
}

const SECRET = "DOCTOR_SECRET_TOKEN";
const TRIAL_MS = 20_000;
/** Numbers below are processes inside as well. */
const FIRST_TELLING_PID = 50;

/** Tries inside of the sandbox what an agent could try, and says what was denied and what was allowed. */
export async function probeSandbox({ config, root }: Place, host: Host): Promise<readonly Finding[]> {
  const { mode } = config.sandbox;
  const repository = await openRepository(host, root);
  const variables = { ...host.environment.variables, [SECRET]: host.ids.random(16) };
  const confined = sandboxedHost({
    host: { ...host, environment: { ...host.environment, variables } },
    root,
    repository,
    config: { ...config, sandbox: { ...config.sandbox, mode: "required" } },
    onState: () => {},
    onRefused: () => {},
    onOutside: () => {},
  });
  try {
    return await foundOf("sandbox", async () => {
      const state = await confined.sandbox?.ensureUsable() as SandboxState;
      const used = isWholly(config.sandbox) ? "" : "; not used: `--sandbox` or `sandbox.mode` turns it on";
      const found = [finding("ok", "sandbox", `${sandboxText({ type: "sandbox", ...state })}${used}`)];
      for (const trial of await trials(root, repository !== null, host)) found.push(await tried(trial, confined, root));
      return [...found, ...await agentStarts(config, confined, root)];
    }, mode === "required" ? "missing" : "note");
  } finally {
    await confined.sandbox?.[Symbol.asyncDispose]();
  }
}

/** Says how a run is confined where nothing asks for more. */
export async function probeConfinement({ config, root }: Place, host: Host): Promise<Finding> {
  const state = await sandboxStateOf({ host, root, repository: await openRepository(host, root), config });
  return finding(state?.on === false ? "note" : "ok", "sandbox", confinementText(state));
}

async function trials(root: string, inRepository: boolean, { environment, ids }: Host): Promise<readonly Trial[]> {
  const mark = `.ralph-doctor-${ids.random(8)}`;
  const outside = join(environment.home, mark);
  const git = (path: string): string => `: > "$(git rev-parse --git-path ${path})/${mark}"`;
  const hasKeys = await pathExists(join(environment.home, ".ssh"));
  const allowed: Trial = {
    name: "write the working tree",
    command: `: > '${join(root, mark)}' && rm '${join(root, mark)}'`,
    wanted: "allowed",
  };
  const denied: readonly (readonly [name: string, command: string, isTried?: boolean])[] = [
    ["write git's hooks", git("hooks"), inRepository],
    ["set git's configuration", `git config doctor.${mark.slice(-8)} x`, inRepository],
    ["write the home folder", `: > '${outside}'; false`],
    ["read ~/.ssh", `ls '${environment.home}/.ssh/'*`, hasKeys],
    ["write the system", `: > /usr/local/${mark}`],
    ["read a secret of the environment", `test -n "$${SECRET}"`],
    ["see other processes", `test -e /proc/${environment.pid}`, environment.pid >= FIRST_TELLING_PID],
    ["leave the sandbox by a namespace", "unshare --user --map-root-user true"],
    ["reach a service of docker", "test -S /var/run/docker.sock"],
  ];
  return [
    allowed,
    ...denied.filter(([, , isTried = true]) => isTried).map(([name, command]): Trial => {
      const leaves = optional("leaves", command.includes(outside) ? outside : undefined);
      return { name, command, wanted: "denied", ...leaves };
    }),
  ];
}

async function tried({ name, command, wanted, leaves }: Trial, host: Host, root: string): Promise<Finding> {
  const end = await host.processes.run({
    file: "/bin/sh",
    arguments: ["-c", command],
    cwd: root,
    sandbox: { role: "turn", cwd: root },
    timeoutMs: TRIAL_MS,
  });
  const left = leaves !== undefined && await pathExists(leaves);
  if (left) await removePath(leaves);
  const result = end.exitCode === 0 || left ? "allowed" : "denied";
  return result === wanted
    ? finding("ok", `  ${result}`, name)
    : finding("missing", `  ${result}`, `${name}: it should be ${wanted}`);
}

/** An agent shows what it lacks inside when it starts. */
async function agentStarts({ provider }: Place["config"], host: Host, root: string): Promise<readonly Finding[]> {
  const adapter = findAdapter(provider.preset ?? "");
  const file = adapter === undefined ? null : await programPath(adapter, host, root);
  if (adapter === undefined || file === null) return [];
  const end = await host.processes.run({
    file,
    arguments: ["--version"],
    cwd: root,
    sandbox: { role: "turn", cwd: root, needs: adapter.needs, read: [file, packageOf(file)] },
    timeoutMs: TRIAL_MS,
  });
  const detail = `start ${adapter.name}`;
  if (end.exitCode === 0) return [finding("ok", "  allowed", detail)];
  const said = end.tail.trim().split("\n").at(-1) ?? "";
  const hint = "a folder that it needs may be hidden: name it in `sandbox.read` (docs/guides/sandbox.md)";
  return [finding("missing", "  denied", `${detail}: ${said || end.reason}`, hint)];
}
