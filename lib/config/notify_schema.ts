import { z } from "zod";
import type { NotifyConfig } from "../generated/config.ts";
import { command, isHttpUrl, named } from "./parts.ts";

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
