import { join } from "node:path";
import { findAdapter } from "../agents/adapters.ts";
import { packageOf, programPath } from "../agents/program.ts";
import type { Finding } from "../cli/finding.ts";
import type { Place } from "../cli/workspace.ts";
import { RalphError } from "../errors/ralph_error.ts";
import { openRepository } from "../git/open_repository.ts";
import { pathExists, removePath } from "../host/files.ts";
import type { Host, SandboxState } from "../host/types.ts";
import { sandboxedHost } from "../sandbox/create_sandbox.ts";
import { sandboxText } from "../ui/event_text.ts";

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
  });
  try {
    const state = await confined.sandbox?.ensureUsable() as SandboxState;
    const used = mode === "on" || mode === "required" ? "" : "; not used: `--sandbox` or `sandbox.mode` turns it on";
    const found: Finding[] = [{
      level: "ok",
      name: "sandbox",
      detail: `${sandboxText({ type: "sandbox", ...state })}${used}`,
    }];
    for (const trial of await trials(root, repository !== null, host)) found.push(await tried(trial, confined, root));
    found.push(...await agentStarts(config, confined, root));
    return found;
  } catch (error) {
    if (!RalphError.isInstance(error)) throw error;
    const level = mode === "required" ? "missing" : "note";
    return [{ level, name: "sandbox", detail: error.message, hint: error.hint }];
  } finally {
    await confined.sandbox?.[Symbol.asyncDispose]();
  }
}

async function trials(root: string, inRepository: boolean, { environment, ids }: Host): Promise<readonly Trial[]> {
  const mark = `.ralph-doctor-${ids.random(8)}`;
  const outside = join(environment.home, mark);
  const git = (path: string): string => `: > "$(git rev-parse --git-path ${path})/${mark}"`;
  const hasKeys = await pathExists(join(environment.home, ".ssh"));
  return [
    {
      name: "write the working tree",
      command: `: > '${join(root, mark)}' && rm '${join(root, mark)}'`,
      wanted: "allowed",
    },
    ...(inRepository
      ? [
        { name: "write git's hooks", command: git("hooks"), wanted: "denied" as const },
        {
          name: "set git's configuration",
          command: `git config doctor.${mark.slice(-8)} x`,
          wanted: "denied" as const,
        },
      ]
      : []),
    { name: "write the home folder", command: `: > '${outside}'; false`, wanted: "denied", leaves: outside },
    ...(hasKeys
      ? [{ name: "read ~/.ssh", command: `ls '${environment.home}/.ssh/'*`, wanted: "denied" as const }]
      : []),
    { name: "write the system", command: `: > /usr/local/${mark}`, wanted: "denied" },
    { name: "read a secret of the environment", command: `test -n "$${SECRET}"`, wanted: "denied" },
    ...(environment.pid < FIRST_TELLING_PID
      ? []
      : [{ name: "see other processes", command: `test -e /proc/${environment.pid}`, wanted: "denied" as const }]),
    { name: "leave the sandbox by a namespace", command: "unshare --user --map-root-user true", wanted: "denied" },
    { name: "reach a service of docker", command: "test -S /var/run/docker.sock", wanted: "denied" },
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
    ? { level: "ok", name: `  ${result}`, detail: name }
    : { level: "missing", name: `  ${result}`, detail: `${name}: it should be ${wanted}` };
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
  if (end.exitCode === 0) return [{ level: "ok", name: "  allowed", detail }];
  const said = end.tail.trim().split("\n").at(-1) ?? "";
  const hint = "a folder that it needs may be hidden: name it in `sandbox.read` (docs/guides/sandbox.md)";
  return [{ level: "missing", name: "  denied", detail: `${detail}: ${said || end.reason}`, hint }];
}
