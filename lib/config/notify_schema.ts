import { z } from "zod";
import type { NotifyConfig } from "./types.ts";

const command = z.string().trim().min(1, "must not be empty");

/** A key with its description, as editors, `ralph help config` and the reference show it. */
export function key<Schema extends z.ZodType>(schema: Schema, description: string): Schema {
  return schema.meta({ description });
}

/** Addresses that are secrets themselves. */
const SECRET_URL_REGEXP =
  /\/\/[^/]*@|\/\/hooks\.slack\.com\/services\/\w|\/api\/webhooks\/\d+\/\w|\/hooks\/[a-z0-9]{20}/i;
const VARIABLE_REGEXP = /\$\{\w+\}/g;

/** One entry of `notify`. */
export const NOTIFY_SCHEMA: z.ZodType<NotifyConfig> = z.strictObject({
  on: key(
    z.array(z.enum(["passed", "failed", "blocked", "limit", "question"])).min(1)
      .default(["passed", "failed", "blocked", "limit", "question"]),
    "What it is sent for. `limit`: a rate limit is waited for, or a limit of the run was reached.",
  ),
  url: key(
    command
      .refine((text) => isHttpUrl(text.replaceAll(VARIABLE_REGEXP, "https://a")) || text.startsWith("${"), {
        message: "must be an http or https URL",
      })
      .refine((text) => !SECRET_URL_REGEXP.test(text), {
        message: "holds a secret: put the URL into a variable of the environment and write `${NAME}`",
      })
      .optional(),
    "Address that gets the notification as JSON. `${NAME}` is a variable of the environment.",
  ),
  topic: key(command.optional(), "Topic of an ntfy server, whose address is `url`."),
  headers: key(
    z.record(z.string(), z.string()).refine(
      (headers) =>
        Object.entries(headers).every(([name, value]) => !/auth|token|key/i.test(name) || /\$\{\w+\}/.test(value)),
      "must name secrets as `${NAME}`, a variable of the environment",
    ).optional(),
    "Headers of the request. `${NAME}` is a variable of the environment.",
  ),
  command: key(command.optional(), "Shell command that gets the JSON on standard input."),
  desktop: key(z.literal(true).optional(), "Show it on the desktop, by the terminal or the system's program."),
  output: key(z.boolean().default(false), "Send what agents and checks said of it as well."),
}).refine(
  (one) => [one.url, one.command, one.desktop].filter((way) => way !== undefined).length === 1,
  "needs exactly one of url, command and desktop",
);

/** True for an address that can be asked. */
export function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
