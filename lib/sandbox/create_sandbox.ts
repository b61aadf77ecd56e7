import { RalphError } from "../errors/ralph_error.ts";
import type { SandboxRequest } from "../host/confinement.ts";
import { isWholly } from "../config/strict.ts";
import type { SandboxConfig } from "../config/load.ts";
import { commandConfiner } from "../host/command_confiner.ts";
import * as confine from "../host/confine.ts";
import { ensurePrivateDirectory, pathExists } from "../host/files.ts";
import type { RefusedHost } from "../host/sandbox_proxy.ts";
import { SEATBELT, seatbelt } from "../host/seatbelt.ts";
import type { Host, ProcessEnd, ProcessRequest, Sandbox, SandboxState } from "../host/types.ts";
import { type PlaceSource, readPlace } from "./read_place.ts";
import { isSuperUser } from "../host/this_process.ts";
import { isBelow } from "./outside.ts";
import { TREE_VARIABLE } from "../host/sweep.ts";
import { CheckTrials } from "./check_trials.ts";
import { agentHomes, lightPolicyOf, policyOf, type SandboxPlace } from "./policy.ts";

/** Milliseconds for the first start; an image may have to be loaded. */
const TRIAL_MS = 120_000;

export interface SandboxOptions extends PlaceSource {
  readonly onState: (state: SandboxState) => void;
  /** A process wanted a host that is not on the list. */
  readonly onRefused: (refused: RefusedHost) => void;
  /** A check does not pass inside, or files of a turn are set aside. */
  readonly onOutside: (message: string) => void;
}

/**
 * The machine with a sandbox, where the configuration wants one: its processes are confined where their request says
 * what they are (`sandbox`).
 */
export function sandboxedHost(options: SandboxOptions): Host {
  let aside: string | null = null; // the newest message about files that are set aside
  const { host, config, repository, onOutside } = options;
  const { mode } = config.sandbox;
  // the run above decides how its turns are confined, and with them the commands of Ralph that they call
  const isOfTurn = host.environment.variables[TREE_VARIABLE] !== undefined;
  if (mode === "off" || (mode === "auto" && (isSuperUser() || isOfTurn))) return host;
  const isLight = !isWholly(config.sandbox);
  let opening: Promise<CheckTrials> | undefined;
  let announced = false;
  let finding: Promise<confine.Confiner | SandboxState> | undefined;
  // Read once a folder: the brief keeps what it depends on as it is.
  const places = new Map<string, Promise<SandboxPlace>>();

  const onAside = (message: string): void => options.onOutside(aside = message);
  const find = (): Promise<confine.Confiner | SandboxState> => finding ??= confinerOf(options, onAside);

  async function confined(asked: SandboxRequest, request: ProcessRequest): Promise<ProcessEnd> {
    const confiner = await find();
    if (!announced) await sandbox.announce();
    const outside = (): Promise<ProcessEnd> => host.processes.run(request);
    if (!("run" in confiner)) return outside();
    const reading = places.get(asked.cwd) ?? readPlace(options, asked.cwd);
    places.set(asked.cwd, reading);
    const place = await reading;
    if (isLight) host.guard?.holdSettings();
    const policy = isLight ? lightPolicyOf(place, asked, config.sandbox) : policyOf(place, asked, config.sandbox);
    const inside = (): Promise<ProcessEnd> => confiner.run(policy, { ...request, ...asked.inside });
    if (!isLight || (asked.role !== "turn" && asked.check === undefined)) return await inside();
    const open = async (): Promise<CheckTrials> =>
      await CheckTrials.open({ folder: place.caches, branch: await repository?.currentBranch() ?? "", onOutside });
    const trials = await (opening ??= open());
    if (asked.check !== undefined) return await trials.run(asked.check, { hidden: policy.hidden, inside, outside });
    await trials.close(request.environment?.["RALPH_ITEM"]);
    // where none can be made, the agent says so itself
    for (const path of agentHomes(place, asked)) await ensurePrivateDirectory(path).catch(() => {});
    return await inside();
  }

  const sandbox: Sandbox = {
    isWhole: !isLight,
    aside: () => aside,
    async ensureUsable() {
      const found = await find();
      return "run" in found ? stateOf(found, config.sandbox) : found;
    },
    async announce() {
      const state = await sandbox.ensureUsable();
      announced = true;
      if (state.on || mode !== "auto") options.onState(state); // that nothing can be confined is said by `ralph doctor`
      return state;
    },
    async [Symbol.asyncDispose]() {
      const found = await finding?.catch(() => null);
      if (found && "run" in found) await found[Symbol.asyncDispose]();
    },
  };
  const run: Host["processes"]["run"] = (request) => {
    const { sandbox: asked } = request;
    const isFree = asked === undefined || (isLight && !["turn", "check"].includes(asked.role));
    return isFree ? host.processes.run(request) : confined(asked, request);
  };
  return { ...host, sandbox, processes: { ...host.processes, run } };
}

function stateOf({ name }: confine.Confiner, { mode, network, allow, command }: SandboxConfig): SandboxState {
  if (!isWholly({ mode })) return { on: true, by: `${name} (${mode})`, network: "all" };
  if (command !== null) return { on: true, by: name, network: "unknown" };
  return { on: true, by: name, network: network === "agent" ? allow : network };
}

/** Finds the sandbox of this system. @param hosts as of `findBubblewrap()` */
export async function findBackend(host: Host, hosts: "some" | "all"): Promise<confine.Backend | confine.Lacking> {
  if (host.environment.platform === "darwin" && await pathExists(SEATBELT)) return seatbelt(host.environment);
  return await bubblewrapHere(host, hosts);
}

async function bubblewrapHere(host: Host, hosts: "some" | "all"): Promise<confine.Backend | confine.Lacking> {
  const found = await confine.findBubblewrap(host, hosts);
  return "problem" in found ? found : confine.bubblewrap(host, found);
}

async function confinerOf(
  options: SandboxOptions,
  onAside: SandboxOptions["onOutside"],
): Promise<confine.Confiner | SandboxState> {
  const { host, config, onRefused } = options;
  const { command, network, mode } = config.sandbox;
  const isLight = !isWholly(config.sandbox);
  const find = async (): Promise<confine.Confiner | confine.Lacking> => {
    const hosts = network === "agent" ? "some" : "all";
    const backend = await (isLight ? bubblewrapHere(host, "all") : findBackend(host, hosts));
    return "problem" in backend ? backend : confine.confiner(host, backend, onRefused, onAside);
  };
  const found = command === null || isLight ? await find() : await commandConfiner(host, command);
  const failed = ({ message: problem }: Error): confine.Lacking => ({ problem, hint: "`ralph doctor` tries it again" });
  const trial = "run" in found ? lackingOf(found, options) : Promise.resolve(found);
  const lacking = await (isLight ? trial.catch(failed) : trial);
  if ("run" in found && lacking === null) return found;
  const { problem, hint } = lacking as confine.Lacking;
  if (mode === "required") throw new RalphError("sandbox-missing", { details: { problem }, hint });
  return { on: false, by: `${problem}; ${hint}`, network: "all" };
}

/** How processes would be confined; absent: they would not be. */
export async function sandboxStateOf(place: PlaceSource): Promise<SandboxState | undefined> {
  if (place.config.sandbox.mode === "auto" && isSuperUser()) {
    const by = "root's agents and checks are confined by `--sandbox` alone";
    return { on: false, by, network: "all" };
  }
  const { sandbox } = sandboxedHost({ ...place, onState() {}, onRefused() {}, onOutside() {} });
  const state = await sandbox?.ensureUsable();
  await sandbox?.[Symbol.asyncDispose]();
  return state;
}

/** Starts nothing in it, once, with all that a turn is shown: what fails then would fail each turn. */
async function lackingOf(confiner: confine.Confiner, options: SandboxOptions): Promise<confine.Lacking | null> {
  const { root, config } = options;
  const place = await readPlace(options, root);
  const isLight = !isWholly(config.sandbox);
  const own = isLight || options.host.environment.compiled
    ? undefined
    : place.ralph.find((path) => isBelow(path, [place.tree]));
  if (own !== undefined) {
    return {
      problem: `Ralph itself is in the working tree, where a turn can change it: ${own}`,
      hint: "install it outside of the project, as the binary for example (docs/install.md)",
    };
  }
  const shown = isLight ? [{ from: place.tree, at: place.tree }] : []; // checkouts have processes of their own
  const asked = { role: "turn", cwd: root, shown } as const;
  const policy = (isLight ? lightPolicyOf : policyOf)(place, asked, config.sandbox);
  const nothing = { file: "/bin/sh", arguments: ["-c", ":"], cwd: root, timeoutMs: TRIAL_MS };
  const end = await confiner.run({ ...policy, network: policy.network === "all" ? "all" : "none" }, nothing);
  if (end.exitCode === 0) return null;
  const said = end.tail.trim().split("\n").at(-1) || end.reason;
  if (isLight) return { problem: `${confiner.name}: ${said}`, hint: "`--sandbox` confines by other means" };
  const hint = config.sandbox.command === null
    ? "a path of `sandbox.read` or `sandbox.write` may be in the way; `ralph doctor --sandbox` tries it again"
    : "start it by hand; docs/guides/sandbox.md says what it is given";
  return { problem: `${confiner.name} fails: ${said}`, hint };
}
