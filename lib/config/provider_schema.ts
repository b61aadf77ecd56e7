import { z } from "zod";
import { defaultConfig } from "./defaults.ts";
import { isHttpUrl, key } from "./notify_schema.ts";
import type { ProviderConfig } from "./types.ts";

const command = z.string().trim().min(1, "must not be empty");
const seconds = z.number().positive();
const count = z.number().int().positive();
const DEFAULTS = defaultConfig();

const dollars = z.number().nonnegative();
const endpoint = z.strictObject({
  name: key(
    command.optional(),
    "Known server: `openai`, `anthropic`, `google`, `openrouter`, `groq`, `ollama`, `lmstudio`, `llamacpp` or `vllm`.",
  ),
  url: key(
    z.string().refine(isHttpUrl, "must be an http or https URL").optional(),
    "Base address, instead of the one of `name`.",
  ),
  keyVariable: key(
    z.string().regex(/^[A-Za-z_]\w*$/, "must be the name of a variable, not a key").optional(),
    "Environment variable that holds the key; its name ends in `_KEY` or `_TOKEN`.",
  ),
  api: key(
    z.enum(["chat", "responses", "anthropic", "google"]).optional(),
    "How the server is spoken to. Without it: the one of `name`, else `chat`.",
  ),
  context: key(count.optional(), "Tokens that a conversation may have. Without it: what the server reports."),
  output: key(count.optional(), "Tokens that one answer may have. Without it: the server's own limit."),
  images: key(z.boolean().optional(), "Whether the model takes images. Without it: it is tried."),
  price: key(
    z.strictObject({
      input: key(dollars, "Input, in US dollars for a million tokens."),
      output: key(dollars, "Output, in US dollars for a million tokens."),
      cachedInput: key(dollars.optional(), "Input from the provider's cache. Without it: as `input`."),
    }).optional(),
    "Price of the model, for servers that report no cost.",
  ),
}).refine(({ name, url }) => name !== undefined || url !== undefined, "needs a name or a url");

const CHOICE = {
  command: key(
    command.optional(),
    "Command of an agent. It runs in the shell as written, with the prompt on standard input; its output is plain text.",
  ),
  preset: key(z.string().optional(), "Known agent: `claude`, `codex` …; `ralph help agents` lists them."),
  model: key(z.string().optional(), "Model, as the known agent names it."),
  reasoning: key(z.string().optional(), "Reasoning effort, as the known agent names it."),
  endpoint: key(
    z.union([command, endpoint]).optional(),
    "Model server of an agent that takes any: a known name, a URL, or an object with settings.",
  ),
};

const names = z.union([command, z.array(command).min(1)]);
const CONDITIONS = ["stage", "kind", "tag", "priority", "after"] as const;
const CHOICES = ["command", "preset", "model", "reasoning", "endpoint"] as const;

const rule = z.strictObject({
  stage: key(z.enum(["plan", "work", "review"]).optional(), "Turns that plan, work on an item, or review."),
  kind: key(
    names.optional(),
    "Kinds of items: `story`, `BUILD`, `VERIFY` …; the first lines of an iteration show them.",
  ),
  tag: key(names.optional(), "Tags of which the item has one."),
  priority: key(
    z.union([z.number().int(), z.array(z.number().int()).min(1)]).optional(),
    "Priorities of which the item has one.",
  ),
  after: key(count.optional(), "Failed attempts at the item after which the rule holds."),
  ...CHOICE,
}).refine((one) => CONDITIONS.some((name) => one[name] !== undefined), `needs a condition: ${CONDITIONS.join(", ")}`)
  .refine((one) => CHOICES.some((name) => one[name] !== undefined), `needs a choice: ${CHOICES.join(", ")}`);

/** `provider`. */
export const PROVIDER_SCHEMA: z.ZodType<ProviderConfig> = z.strictObject({
  ...CHOICE,
  fallback: key(
    z.union([z.string().min(1), z.strictObject(CHOICE)]).optional(),
    "Agent that takes over while the first one waits for a rate limit: a known agent's name, or an object with `command`, or with `preset`, `model` and `reasoning`.",
  ),
  route: key(
    z.array(rule).default([]),
    "Rules that choose another agent or model for some turns: the first whose conditions all hold decides.",
  ),
  args: key(z.array(z.string()).default([]), "Arguments added to `provider.command`."),
  interactiveArgs: key(
    z.array(z.string()).optional(),
    "Arguments used instead of `args` where the agent talks to you in the terminal; the prompt comes last.",
  ),
  timeout: key(seconds.default(DEFAULTS.provider.timeout), "Longest time for one agent turn, in seconds."),
  idleTimeout: key(
    seconds.default(DEFAULTS.provider.idleTimeout),
    "Longest time without output from an agent that streams events, in seconds.",
  ),
});
