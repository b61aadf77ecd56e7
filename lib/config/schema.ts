/**
 * `ralph.config.json`: every field with a default of its own, so that a block given in part loses nothing.
 *
 * @module
 */
import { z } from "zod";
import { defaultConfig } from "./defaults.ts";
import type { Config } from "./types.ts";

export type * from "./types.ts";

const command = z.string().trim().min(1, "must not be empty");
const seconds = z.number().positive();
const limit = z.number().positive().nullable();
const count = z.number().int().positive();
const commands = z.array(command);
const path = command.refine(
  (text) => !text.startsWith("/") && !text.split("/").includes(".."),
  "must be a path inside the root",
);
const outerPath = z.string().regex(/^(?:~$|~\/|\/)/, "must be absolute or begin with `~/`");
const host = z.string().regex(
  /^(?:localhost|\*\.[\w-]+(?:\.[\w-]+)+|[\w-]+(?:\.[\w-]+)+|\[[\da-f:]+\])(?::[1-9]\d{0,4})?$/i,
  "must be a host such as `packages.example.org`, `*.example.com`, `localhost:11434` or `[::1]:80`",
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
    challenge: z.number().int().nonnegative().default(DEFAULTS.verify.challenge),
    challenger: command.optional(),
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
  sandbox: z.strictObject({
    mode: z.enum(["auto", "off", "on", "required"]).default(DEFAULTS.sandbox.mode),
    network: z.enum(["agent", "all", "none"]).default(DEFAULTS.sandbox.network),
    allow: z.array(host).default([]),
    write: z.array(outerPath).default([]),
    read: z.array(outerPath).default([]),
    environment: z.array(command).default([]),
    command: z.array(z.string().min(1)).min(1).nullable().default(null),
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
