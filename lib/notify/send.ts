/**
 * How a notification leaves: a request, a command, or the desktop. Each says why it failed, in words without a secret.
 *
 * @module
 */
import type { NotifyConfig } from "../config/load.ts";
import { post } from "../host/http.ts";
import { findExecutable, shellInvocation } from "../host/shell.ts";
import type { RalphContext } from "../context/context.ts";
import type { Host } from "../host/types.ts";
import { oneLine, plainText } from "../ui/text.ts";
import { bodyOf, type Notification } from "./message.ts";

/** All tries together, waits included. */
export const LONGEST_MS = 10_000;
const TRY_MS = 4000;
const WAITS_MS: readonly number[] = [500, 1500];

export type SendOptions = Pick<RalphContext, "host" | "root">;

/** Sends one notification to one target, within 10 seconds. @returns why it failed; `null`: it did not */
export async function send(
  target: NotifyConfig,
  notification: Notification,
  options: SendOptions,
): Promise<string | null> {
  const { host } = options;
  const limit = AbortSignal.timeout(LONGEST_MS);
  try {
    if (target.url !== undefined) return await request(target, notification, { host, limit });
    if (target.command !== undefined) return await runCommand(target, notification, options);
    return await showOnDesktop(notification, options);
  } catch (error) {
    return error instanceof Error ? `${error.name}: it could not be sent` : "it could not be sent";
  }
}

/** The target's name in a message that it failed: never its path, which may be a secret. Pure. */
export function nameOf({ url, command }: NotifyConfig, variables: Host["environment"]["variables"]): string {
  if (url !== undefined) {
    const { text } = expanded(url, variables);
    return text !== null && URL.canParse(text) ? new URL(text).host : url;
  }
  return command === undefined ? "desktop" : `\`${oneLine(command).slice(0, 40)}\``;
}

/** The text with `${NAME}` replaced by variables of the environment. */
function expanded(text: string, variables: Host["environment"]["variables"]) {
  let missing = "";
  const filled = text.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => {
    if (!variables[name]) missing = name;
    return variables[name] ?? "";
  });
  return { text: missing === "" ? filled : null, missing };
}

async function request(
  { url = "", topic, headers = {}, output }: NotifyConfig,
  notification: Notification,
  { host, limit }: { readonly host: Host; readonly limit: AbortSignal },
): Promise<string | null> {
  const { variables } = host.environment;
  const address = expanded(url, variables);
  const sent: Record<string, string> = { "content-type": "application/json", "user-agent": "ralph" };
  for (const [name, value] of Object.entries({ ...headers })) {
    const header = expanded(value, variables);
    if (header.text === null) return `the variable ${header.missing} is not set`;
    sent[name.toLowerCase()] = header.text;
  }
  if (address.text === null) return `the variable ${address.missing} is not set`;
  if (!/^https?:/.test(address.text) || !URL.canParse(address.text)) return "it is no http or https address";
  const body = JSON.stringify(bodyOf(notification, topic, output));
  let failure = "";
  for (let number = 0; !limit.aborted; number += 1) {
    const result = await post(address.text, { headers: sent, body, timeoutMs: TRY_MS, signal: limit });
    if (result.status !== null && result.status >= 200 && result.status < 300) return null;
    failure = result.status === null ? result.reason : `HTTP ${result.status}`;
    const isFinal = result.status !== null && result.status < 500 && result.status !== 429;
    const wait = WAITS_MS[number];
    if (isFinal || wait === undefined) break;
    await host.clock.sleep(wait, limit);
  }
  return failure;
}

async function runCommand(
  { command = "", output }: NotifyConfig,
  notification: Notification,
  { host, root }: SendOptions,
): Promise<string | null> {
  const end = await host.processes.run({
    ...await shellInvocation(command, host.environment),
    cwd: root,
    environment: { RALPH_NOTIFY: notification.event, RALPH_NOTIFY_TEXT: notification.text },
    input: `${JSON.stringify(bodyOf(notification, undefined, output))}\n`,
    timeoutMs: LONGEST_MS - 1000,
    graceMs: 500,
  });
  if (end.reason === "timed-out") return "it did not end in time";
  return end.exitCode === 0 ? null : `exit ${end.exitCode ?? end.signal ?? end.reason}`;
}

/** By the terminal's own sequence where it is known to have one, else by the system's program. */
async function showOnDesktop({ title, text }: Notification, { host, root }: SendOptions): Promise<string | null> {
  const { terminal, environment } = host;
  const sequence = terminal.isTerminal("stderr") ? desktopSequence(title, text, environment.variables) : null;
  if (sequence !== null) {
    terminal.stderr.write(sequence); // it moves no cursor
    return null;
  }
  const program = await desktopProgram(title, text, { host, root });
  if (program === null) return "neither the terminal nor a program of this system shows notifications";
  const end = await host.processes.run({ ...program, cwd: root, timeoutMs: 5000, graceMs: 500 });
  return end.exitCode === 0 ? null : `${program.file}: exit ${end.exitCode ?? end.reason}`;
}

/**
 * The control sequence that shows a notification in this terminal; `null` where none is known. OSC 9 has one text, OSC 777
 * a title and a body. Through tmux, which lets it pass with `allow-passthrough`. Pure.
 */
export function desktopSequence(
  title: string,
  text: string,
  variables: Readonly<Record<string, string | undefined>>,
): string | null {
  const program = `${variables["TERM_PROGRAM"] ?? ""} ${variables["LC_TERMINAL"] ?? ""} ${variables["TERM"] ?? ""}`;
  const safe = (words: string): string => oneLine(plainText(words)).replaceAll(";", ",").slice(0, 300);
  const known = /iTerm|WezTerm|ghostty|WarpTerminal|vscode/i.test(program) || variables["WT_SESSION"] !== undefined
    ? `\u001b]9;${safe(text)}\u0007`
    : /rxvt|foot|kitty/i.test(program)
    ? `\u001b]777;notify;${safe(title)};${safe(text)}\u0007`
    : null;
  if (known === null || variables["TMUX"] === undefined) return known;
  return `\u001bPtmux;${known.replaceAll("\u001b", "\u001b\u001b")}\u001b\\`;
}

async function desktopProgram(title: string, text: string, { host, root }: SendOptions) {
  const [safeTitle, safeText] = [plainText(title), plainText(text)];
  if (host.environment.platform === "darwin") {
    const script = "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run";
    return { file: "osascript", arguments: ["-e", script, safeTitle, safeText] };
  }
  const file = await findExecutable("notify-send", host.environment, root);
  return file === null ? null : { file, arguments: ["--app-name=ralph", "--", safeTitle, safeText] };
}
