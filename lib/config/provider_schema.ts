import { z } from "zod";
import type { NotifyConfig } from "../generated/config.ts";
import { command, count, httpUrl, isHttpUrl, named, seconds, section } from "./parts.ts";

const dollars = z.number().nonnegative();
const endpoint = named(
  "EndpointConfig",
  "A model server.",
  z.strictObject({
    name: command.optional().describe(
      "Known server: `openai`, `anthropic`, `google`, `openrouter`, `groq`, `ollama`, `lmstudio`, `llamacpp` or `vllm`.",
    ),
    url: httpUrl.optional().describe("Base address, instead of the one of `name`."),
    keyVariable: z.string().regex(/^[A-Za-z_]\w*$/, "must be the name of a variable, not a key").optional().describe(
      "Environment variable that holds the key; its name ends in `_KEY` or `_TOKEN`.",
    ),
    api: named("EndpointApi", "The protocol of a model server.", z.enum(["chat", "responses", "anthropic", "google"]))
      .optional().describe("How the server is spoken to. Without it: the one of `name`, else `chat`."),
    context: count.optional().describe("Tokens that a conversation may have. Without it: what the server reports."),
    output: count.optional().describe("Tokens that one answer may have. Without it: the server's own limit."),
    images: z.boolean().optional().describe("Whether the model takes images. Without it: it is tried."),
    price: named(
      "EndpointPrice",
      "The price of a model.",
      z.strictObject({
        input: dollars.describe("Input, in US dollars for a million tokens."),
        output: dollars.describe("Output, in US dollars for a million tokens."),
        cachedInput: dollars.optional().describe("Input from the provider's cache. Without it: as `input`."),
      }),
    ).optional().describe("Price of the model, for servers that report no cost."),
  }).refine(({ name, url }) => name !== undefined || url !== undefined, "needs a name or a url"),
);

const CHOICE = {
  command: command.optional().describe(
    "Command of an agent. It runs in the shell as written, with the prompt on standard input; its output is plain text.",
  ),
  preset: z.string().optional().describe("Known agent: `claude`, `codex` …; `ralph help agents` lists them."),
  model: z.string().optional().describe("Model, as the known agent names it."),
  reasoning: z.string().optional().describe("Reasoning effort, as the known agent names it."),
  endpoint: z.union([command, endpoint]).optional().describe(
    "Model server of an agent that takes any: a known name, a URL, or an object with settings.",
  ),
};

const names = z.union([command, z.array(command).min(1)]);
const CONDITIONS = ["stage", "kind", "tag", "priority", "after"] as const;
const CHOICES = ["command", "preset", "model", "reasoning", "endpoint"] as const;

const rule = named(
  "RouteRule",
  "Another agent or model for the turns that meet all conditions.",
  z.strictObject({
    stage: named("TurnStage", "A kind of turn.", z.enum(["plan", "work", "review"])).optional().describe(
      "Turns that plan, work on an item, or review.",
    ),
    kind: names.optional().describe(
      "Kinds of items: `story`, `BUILD`, `VERIFY` …; the first lines of an iteration show them.",
    ),
    tag: names.optional().describe("Tags of which the item has one."),
    priority: z.union([z.number().int(), z.array(z.number().int()).min(1)]).optional().describe(
      "Priorities of which the item has one.",
    ),
    after: count.optional().describe("Failed attempts at the item after which the rule holds."),
    ...CHOICE,
  }).refine((one) => CONDITIONS.some((name) => one[name] !== undefined), `needs a condition: ${CONDITIONS.join(", ")}`)
    .refine((one) => CHOICES.some((name) => one[name] !== undefined), `needs a choice: ${CHOICES.join(", ")}`),
);

/** `provider`. */
export const PROVIDER_SCHEMA: z.ZodType = section("provider", "The agent that does the work.", {
  ...CHOICE,
  fallback: z.union([
    z.string().min(1),
    named("ProviderChoice", "One agent: a command, or a known agent with its settings.", z.strictObject(CHOICE)),
  ]).optional().describe(
    "Agent that takes over while the first one waits for a rate limit: a known agent's name, or an object with `command`, or with `preset`, `model` and `reasoning`.",
  ),
  route: z.array(rule).describe(
    "Rules that choose another agent or model for some turns: the first whose conditions all hold decides.",
  ),
  args: z.array(z.string()).describe("Arguments added to `provider.command`."),
  interactiveArgs: z.array(z.string()).optional().describe(
    "Arguments used instead of `args` where the agent talks to you in the terminal; the prompt comes last.",
  ),
  claims: z.enum(["required", "optional"]).optional().describe(
    'Whether an item with checks of its own also needs the agent\'s closing line. Without it: required of known agents and with `trust: "strict"`; for other commands an item without the line is unverified.',
  ),
  timeout: seconds.describe("Longest time for one agent turn, in seconds."),
  idleTimeout: seconds.describe("Longest time without output from an agent that streams events, in seconds."),
});

/** Addresses that are secrets themselves. */
const SECRET_URL_REGEXP =
  /\/\/[^/]*@|\/\/hooks\.slack\.com\/services\/\w|\/api\/webhooks\/\d+\/\w|\/hooks\/[a-z0-9]{20}/i;
const VARIABLE_REGEXP = /\$\{\w+\}/g;

const reason = named(
  "NotifyReason",
  "Why a person is notified.",
  z.enum(["passed", "failed", "blocked", "limit", "question"]),
);

/** One entry of `notify`. */
export const NOTIFY_SCHEMA: z.ZodType<NotifyConfig> = named(
  "NotifyConfig",
  "One way to notify a person: a URL, a command, or the desktop.",
  z.strictObject({
    on: z.array(reason).min(1).default([...reason.options]).describe(
      "What it is sent for. `limit`: a rate limit is waited for, or a limit of the run was reached.",
    ),
    url: command
      .refine((text) => isHttpUrl(text.replaceAll(VARIABLE_REGEXP, "https://a")) || text.startsWith("${"), {
        message: "must be an http or https URL",
      })
      .refine((text) => !SECRET_URL_REGEXP.test(text), {
        message: "holds a secret: put the URL into a variable of the environment and write `${NAME}`",
      })
      .optional().describe("Address that gets the notification as JSON. `${NAME}` is a variable of the environment."),
    topic: command.optional().describe("Topic of an ntfy server, whose address is `url`."),
    headers: z.record(z.string(), z.string()).refine(
      (headers) =>
        Object.entries(headers).every(([name, value]) => !/auth|token|key/i.test(name) || /\$\{\w+\}/.test(value)),
      "must name secrets as `${NAME}`, a variable of the environment",
    ).optional().describe("Headers of the request. `${NAME}` is a variable of the environment."),
    command: command.optional().describe("Shell command that gets the JSON on standard input."),
    desktop: z.literal(true).optional().describe("Show it on the desktop, by the terminal or the system's program."),
    output: z.boolean().default(false).describe("Send what agents and checks said of it as well."),
  }).refine(
    (one) => [one.url, one.command, one.desktop].filter((way) => way !== undefined).length === 1,
    "needs exactly one of url, command and desktop",
  ),
);
