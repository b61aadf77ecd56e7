/**
 * `ralph.config.json`: every field with a default of its own, so that a block given in part loses nothing.
 *
 * @module
 */
import { z } from "zod";
import { defaultConfig } from "./defaults.ts";

/** One agent: a command, or a known agent's name with what it is told. */
export interface ProviderChoice {
  /** Runs through the shell exactly as written, prompt on standard input, output as plain text. */
  readonly command?: string | undefined;
  /** The name of a built-in adapter. */
  readonly preset?: string | undefined;
  /** In the agent's own words; only with `preset`. */
  readonly model?: string | undefined;
  /** How hard it thinks, in the agent's own words; only with `preset`. */
  readonly reasoning?: string | undefined;
}

/** The agent that does the work. */
export interface ProviderConfig extends ProviderChoice {
  /** Put behind the command, each quoted for the shell. */
  readonly args: readonly string[];
  /**
   * Put behind the command (instead of `args`) or the known agent's program where the terminal is handed over, as by
   * `ralph prd`, GSD's planning and a plan with checkpoints; the prompt comes last.
   */
  readonly interactiveArgs?: readonly string[] | undefined;
  /** Takes over while the agent waits for a rate limit: a known agent's name, or a choice of its own. */
  readonly fallback?: string | ProviderChoice | undefined;
  /** Seconds for one turn. @default 1800 */
  readonly timeout: number;
  /** Seconds without output, for agents that stream events. @default 1200 */
  readonly idleTimeout: number;
}

/** What must pass. */
export interface VerifyConfig {
  /** Run for every item. */
  readonly default: readonly string[];
  /** Run for items tagged `ui`, after the browser checks. */
  readonly ui: readonly string[];
  /** Seconds for one command. @default 300 */
  readonly timeout: number;
  /** Let a claim settle an item that names no check. @default false */
  readonly allowUnverified: boolean;
  /** Run the shared checks once before the first turn, and tell which fail already. @default false */
  readonly baseline: boolean;
  /**
   * What the checks at the end of a run look at: a clean checkout of HEAD, the working tree as it is, or there are none.
   * @default "clean"
   */
  readonly final: "clean" | "tree" | "off";
  /** Run each item's commands in a clean checkout of what would be committed. @default false */
  readonly isolated: boolean;
}

/** What git ignores and a second tree needs all the same. */
export interface WorkspaceConfig {
  /** Globs of ignored paths that are copied; one without `/` names them at any depth. */
  readonly copy: readonly string[];
  /** Ignored paths, relative to the root, that are too large to copy: they are shared with the tree. */
  readonly link: readonly string[];
  /** Command that installs what the checks need; `null`: nothing is installed. */
  readonly setup: string | null;
  /** Seconds for it. @default 600 */
  readonly setupTimeout: number;
}

/** What is watched, so that tests are not weakened until they pass. */
export interface TestsConfig {
  /** Globs, relative to the root, of the files that are tests. */
  readonly globs: readonly string[];
  /** `report`: weakened tests are told, `block`: the attempt fails. @default "report" */
  readonly integrity: "off" | "report" | "block";
}

/** When a run ends although work is left. `null`: no limit. */
export interface LimitsConfig {
  /** Agent turns of one run. */
  readonly iterations: number | null;
  /** Minutes that one run lasts. */
  readonly minutes: number | null;
  /** Tokens, input and output, of one run; what an agent does not tell is not counted. */
  readonly tokens: number | null;
  /** US dollars of one run; what an agent does not tell is not counted. */
  readonly costUsd: number | null;
  /** Turns in a row that changed no file and passed nothing. @default 5 */
  readonly idle: number;
  /** Turns in a row after which nothing passed for the first time. @default 12 */
  readonly stalled: number;
  /** Items added during the run that count as passing for the first time. @default 100 */
  readonly added: number;
  /** The same failure this often in a row blocks the item. @default 3 */
  readonly sameFailure: number;
  /** Parallel hooks at once. @default 4 */
  readonly hooks: number;
  /** Rejections after which a task of the spec workflow is given up on. @default 3 */
  readonly rejections: number;
  /** Seconds that a rate limit is waited for at most; 0 never waits. @default 21600 */
  readonly maxWait: number;
}

/** What is kept of earlier runs. */
export interface LogsConfig {
  /** How many runs' folders; the oldest go first. @default 20 */
  readonly keep: number;
}

/** What Ralph commits. */
export interface CommitsConfig {
  /** Commit what a verified turn left uncommitted. @default true */
  readonly work: boolean;
  /** Commit Ralph's own state. @default true */
  readonly prdChanges: boolean;
  /** Subject of the feature workflow's state commits. @default "chore: update prd.json" */
  readonly message: string;
}

/** A server that items tagged `ui` are looked at through. */
export interface ServiceConfig {
  readonly name: string;
  /** Runs through the shell. Absent: the user runs the service. */
  readonly start?: string | undefined;
  /** URL that answers with a status below 500 when the service is ready. */
  readonly ready: string;
  /** Seconds until it must be. @default 30 */
  readonly readyTimeout: number;
  /** Start it afresh before each verification. @default true */
  readonly restartBeforeVerify: boolean;
}

/** The built-in look at pages. */
export interface BrowserConfig {
  /** @default true */
  readonly enabled: boolean;
  /** Chrome or Chromium; empty: looked for. @default "" */
  readonly executablePath: string;
  /** Without a window. @default true */
  readonly headless: boolean;
  /** Relative to the root. @default ".ralph/screenshots" */
  readonly screenshotDir: string;
}

/** The slash commands of GSD, as the agent knows them: `/gsd:plan-phase`. @default what is installed */
export interface GsdConfig {
  readonly commands: {
    readonly init?: string | undefined;
    readonly roadmap?: string | undefined;
    readonly discover?: string | undefined;
    readonly plan?: string | undefined;
  };
}

/** One hook of the configuration, with exactly one of `workflow`, `prompt` and `command`. */
export interface HookConfig {
  readonly id: string;
  readonly workflow?: string | undefined;
  readonly prompt?: string | undefined;
  readonly command?: string | undefined;
  /** @default true */
  readonly enabled: boolean;
  /** Beside the next iteration; otherwise before it. @default true */
  readonly parallel: boolean;
  /** @default "after" */
  readonly when: "after" | "before";
  /** A parallel hook works in a git worktree of its own. @default true */
  readonly isolated: boolean;
  /** A known agent's name. @default the run's agent */
  readonly agent?: string | undefined;
  /** A command as the agent. */
  readonly agentCommand?: string | undefined;
  /** Seconds. @default provider.timeout */
  readonly timeout?: number | undefined;
}

/** The whole configuration, defaults filled in. */
export interface Config {
  /** Wins over what is found in the root. */
  readonly workflow?: string | undefined;
  /**
   * `strict`: changed tests fail the attempt, items whose own checks pass before the work are parked, and no claim
   * settles an item. @default "normal"
   */
  readonly trust: "normal" | "strict";
  /** The agent that does the work. */
  readonly provider: ProviderConfig;
  /** What must pass. */
  readonly verify: VerifyConfig;
  /** What git ignores and a second tree needs all the same. */
  readonly workspace: WorkspaceConfig;
  /** What is watched. */
  readonly tests: TestsConfig;
  /** When a run ends although work is left. */
  readonly limits: LimitsConfig;
  /** What Ralph commits. */
  readonly commits: CommitsConfig;
  /** Servers that items tagged `ui` are looked at through. */
  readonly services: readonly ServiceConfig[];
  /** The built-in look at pages. */
  readonly browser: BrowserConfig;
  /** What is kept of earlier runs. */
  readonly logs: LogsConfig;
  /** Attempts an item is given. @default 3 */
  readonly maxRetries: number;
  /** Globs that a turn must not change; `ralph.config.json` is always one of them. */
  readonly protect: readonly string[];
  /** Run with each iteration of every workflow. */
  readonly hooks: readonly HookConfig[];
  /** How a run is shown. @default "auto" */
  readonly ui: "auto" | "rich" | "plain" | "json";
  /** The slash commands of GSD. */
  readonly gsd: GsdConfig;
}

const command = z.string().trim().min(1, "must not be empty");
const seconds = z.number().positive();
const limit = z.number().positive().nullable();
const count = z.number().int().positive();
const commands = z.array(command);
const path = command.refine(
  (text) => !text.startsWith("/") && !text.split("/").includes(".."),
  "must be a path inside the root",
);

const hook = z.strictObject({
  id: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, "must be letters, digits, ., _ and -"),
  workflow: command.optional(),
  prompt: command.optional(),
  command: command.optional(),
  enabled: z.boolean().default(true),
  parallel: z.boolean().default(true),
  when: z.enum(["after", "before"]).default("after"),
  isolated: z.boolean().default(true),
  agent: command.optional(),
  agentCommand: command.optional(),
  timeout: seconds.optional(),
}).refine(
  (one) => [one.workflow, one.prompt, one.command].filter((action) => action !== undefined).length === 1,
  "needs exactly one of workflow, prompt and command",
);

const DEFAULTS = defaultConfig();
const CHOICE = {
  command: command.optional(),
  preset: z.string().optional(),
  model: z.string().optional(),
  reasoning: z.string().optional(),
};

/** The schema, as `ralph schema config` prints it. */
export const CONFIG_SCHEMA: z.ZodType<Config> = z.strictObject({
  $schema: z.string().optional(),
  workflow: z.enum(["exec", "feature", "spec", "sprint", "gsd"]).optional(),
  trust: z.enum(["normal", "strict"]).default(DEFAULTS.trust),
  provider: z.strictObject({
    ...CHOICE,
    fallback: z.union([z.string().min(1), z.strictObject(CHOICE)]).optional(),
    args: z.array(z.string()).default([]),
    interactiveArgs: z.array(z.string()).optional(),
    timeout: seconds.default(DEFAULTS.provider.timeout),
    idleTimeout: seconds.default(DEFAULTS.provider.idleTimeout),
  }).prefault({}),
  verify: z.strictObject({
    default: commands.default([]),
    ui: commands.default([]),
    timeout: seconds.default(DEFAULTS.verify.timeout),
    allowUnverified: z.boolean().default(DEFAULTS.verify.allowUnverified),
    baseline: z.boolean().default(DEFAULTS.verify.baseline),
    final: z.enum(["clean", "tree", "off"]).default(DEFAULTS.verify.final),
    isolated: z.boolean().default(DEFAULTS.verify.isolated),
  }).prefault({}),
  workspace: z.strictObject({
    copy: z.array(path).default([...DEFAULTS.workspace.copy]),
    link: z.array(path).default([]),
    setup: command.nullable().default(DEFAULTS.workspace.setup),
    setupTimeout: seconds.default(DEFAULTS.workspace.setupTimeout),
  }).prefault({}),
  tests: z.strictObject({
    globs: z.array(z.string().min(1)).default([...DEFAULTS.tests.globs]),
    integrity: z.enum(["off", "report", "block"]).default(DEFAULTS.tests.integrity),
  }).prefault({}),
  limits: z.strictObject({
    iterations: limit.default(DEFAULTS.limits.iterations),
    minutes: limit.default(DEFAULTS.limits.minutes),
    tokens: limit.default(DEFAULTS.limits.tokens),
    costUsd: limit.default(DEFAULTS.limits.costUsd),
    idle: count.default(DEFAULTS.limits.idle),
    stalled: count.default(DEFAULTS.limits.stalled),
    added: count.default(DEFAULTS.limits.added),
    sameFailure: count.default(DEFAULTS.limits.sameFailure),
    hooks: count.default(DEFAULTS.limits.hooks),
    rejections: count.default(DEFAULTS.limits.rejections),
    maxWait: z.number().nonnegative().default(DEFAULTS.limits.maxWait),
  }).prefault({}),
  commits: z.strictObject({
    work: z.boolean().default(DEFAULTS.commits.work),
    prdChanges: z.boolean().default(DEFAULTS.commits.prdChanges),
    message: command.default(DEFAULTS.commits.message),
  }).prefault({}),
  services: z.array(z.strictObject({
    name: command,
    start: command.optional(),
    ready: z.string().refine(isHttpUrl, "must be an http or https URL"),
    readyTimeout: seconds.default(30),
    restartBeforeVerify: z.boolean().default(true),
  })).default([]).refine(haveOwnNames, "every service needs a name of its own"),
  browser: z.strictObject({
    enabled: z.boolean().default(DEFAULTS.browser.enabled),
    executablePath: z.string().default(DEFAULTS.browser.executablePath),
    headless: z.boolean().default(DEFAULTS.browser.headless),
    screenshotDir: command.default(DEFAULTS.browser.screenshotDir),
  }).prefault({}),
  logs: z.strictObject({ keep: count.default(DEFAULTS.logs.keep) }).prefault({}),
  maxRetries: count.default(DEFAULTS.maxRetries),
  protect: z.array(z.string().min(1)).default([]),
  hooks: z.array(hook).default([]),
  ui: z.enum(["auto", "rich", "plain", "json"]).default(DEFAULTS.ui),
  gsd: z.strictObject({
    commands: z.strictObject({
      init: command.optional(),
      roadmap: command.optional(),
      discover: command.optional(),
      plan: command.optional(),
    }).prefault({}),
  }).prefault({}),
});

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

function haveOwnNames(services: readonly { readonly name: string }[]): boolean {
  return new Set(services.map(({ name }) => name)).size === services.length;
}
