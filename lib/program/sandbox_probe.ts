import { join } from "node:path";
import { findAdapter } from "../agents/adapters.ts";
import { packageOf, programPath } from "../agents/program.ts";
import { type Finding, foundOf } from "../cli/finding.ts";
import { optional } from "../cli/settings.ts";
import type { Place } from "../cli/workspace.ts";
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
    return await foundOf("sandbox", async () => {
      const state = await confined.sandbox?.ensureUsable() as SandboxState;
      const used = mode === "on" || mode === "required" ? "" : "; not used: `--sandbox` or `sandbox.mode` turns it on";
      const detail = `${sandboxText({ type: "sandbox", ...state })}${used}`;
      const found: Finding[] = [{ level: "ok", name: "sandbox", detail }];
      for (const trial of await trials(root, repository !== null, host)) found.push(await tried(trial, confined, root));
      return [...found, ...await agentStarts(config, confined, root)];
    }, mode === "required" ? "missing" : "note");
  } finally {
    await confined.sandbox?.[Symbol.asyncDispose]();
  }
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
