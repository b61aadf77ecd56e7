import { MOST_WORKERS } from "../config/defaults.ts";
import { optionInvalid } from "../errors/ralph_error.ts";
import type { Config } from "../config/load.ts";
import type { DeepPartial } from "../recipe/create_ralph.ts";
import { didYouMean, type Flags, usage } from "./command.ts";

/** Reads `90s`, `30m`, `2h` or seconds. @returns seconds @throws {RalphError} option-invalid */
export function parseDuration(option: string, text: string): number {
  const [, amount, unit = "s"] = /^(\d+(?:\.\d+)?)([smh])?$/.exec(text.trim()) ?? [];
  const seconds = Number(amount) * { s: 1, m: 60, h: 3600 }[unit as "s" | "m" | "h"];
  if (amount === undefined || !(seconds > 0)) {
    throw optionInvalid(option, "a time above zero", text, "write `90s`, `30m`, `2h` or seconds");
  }
  return seconds;
}

/** Reads a whole number from `least` on. @throws {RalphError} option-invalid */
export function parseCount(option: string, text: string, least = 0): number {
  if (/^\d+$/.test(text) && Number.isSafeInteger(Number(text)) && Number(text) >= least) return Number(text);
  throw optionInvalid(option, `a whole number of at least ${least}`, text, "leave it out for the default");
}

/** Reads `auto` or a whole number from 0 on. @throws {RalphError} option-invalid */
export function parseCap(option: string, text: string | undefined): number | "auto" {
  if (text === undefined || text === "auto") return "auto";
  if (/^\d+$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text);
  throw optionInvalid(option, "`auto` or a whole number of at least 0", text, "leave it out for auto");
}

/** Reads how many items are worked on at once. @throws {RalphError} option-invalid */
export function parseWorkers(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const workers = parseCount("--parallel", text, 1);
  if (workers <= MOST_WORKERS) return workers;
  const expected = `a whole number from 1 to ${MOST_WORKERS}`;
  throw optionInvalid("--parallel", expected, text, "landings are made one after another");
}

/** Reads an amount of money. @throws {RalphError} option-invalid */
function parseCost(option: string, text: string): number {
  const amount = Number(text.replace(/^\$/, ""));
  if (text.trim() !== "" && Number.isFinite(amount) && amount > 0) return amount;
  throw optionInvalid(option, "an amount in US dollars above zero", text, "write `--max-cost 2.50`");
}

/**
 * Reads the flags that override fields of the configuration.
 *
 * @param timed what `--timeout` limits: an agent's turn, or a check of a command that starts no agent
 * @throws {RalphError} option-invalid
 */
export function configOverlay(flags: Flags, timed: "check" | "turn" = "turn"): DeepPartial<Config> {
  function read<Value>(name: string, parse: (option: string, text: string) => Value): Value | undefined {
    const given = flags.text(name);
    return given === undefined ? undefined : parse(`--${name}`, given);
  }
  const timeout = optional("timeout", read("timeout", parseDuration));
  const checks = flags.all("verify");
  const confined = flags.has("no-sandbox") ? "off" : flags.has("sandbox") ? "required" : undefined;
  return {
    ...optional("trust", flags.has("strict") ? "strict" : undefined),
    ...optional("notify", flags.has("notify") ? [notifyTarget(flags.text("notify") ?? "")] : undefined),
    sandbox: optional("mode", confined),
    provider: {
      ...optional("model", flags.text("model")),
      ...optional("reasoning", flags.text("reasoning")),
      ...optional("endpoint", flags.text("endpoint")),
      ...(timed === "turn" ? timeout : {}),
    },
    verify: {
      ...(timed === "check" ? timeout : {}),
      ...optional("default", checks.length === 0 ? undefined : checks),
      ...optional("allowUnverified", flags.has("allow-unverified") ? true : undefined),
      ...optional("challenge", read("challenge", parseCount)),
    },
    limits: {
      ...optional("iterations", read("max-iterations", (option, text) => parseCount(option, text, 1))),
      ...optional("maxWait", flags.has("no-wait") ? 0 : undefined),
      ...optional("costUsd", read("max-cost", parseCost)),
    },
  };
}

/** Reads `--notify`, `--notify=URL`, `--notify='${NAME}'`, `--notify=COMMAND`; what is wrong with a URL the schema says. */
function notifyTarget(text: string): Config["notify"][number] {
  const on = ["passed", "failed", "blocked", "limit", "question"] as const;
  const way = text === "" || text === "desktop"
    ? { desktop: true } as const
    : /^(?:https?:|\$\{)/.test(text)
    ? { url: text }
    : { command: text };
  return { on, output: false, ...way };
}

/** The gates of the built-in recipes. */
export const GATES: readonly string[] = ["prd", "understand", "run"];

/**
 * Reads `--approve prd,run`.
 *
 * @param known the gates there are, or `null` where a recipe may have gates of its own
 * @throws {RalphError} option-invalid, usage
 */
export function parseApprovals(values: readonly string[], known: readonly string[] | null): readonly string[] {
  const names = values.flatMap((value) => value.split(",")).map((name) => name.trim());
  for (const name of names) {
    if (name === "") {
      const hint = "write `--approve prd,understand,run` or `--approve all`";
      throw optionInvalid("--approve", "names of gates with commas between", values.join(","), hint);
    }
    if (known === null || name === "all" || known.includes(name)) continue;
    const gates = [...known, "all"];
    const hint = didYouMean(name, gates, `gates: ${gates.join(", ")}`, (near) => `--approve ${near}`);
    throw usage(`there is no gate named ${name}`, hint);
  }
  return names;
}

/** An object with the key, or without it when there is no value. */
export function optional<Key extends string, Value>(
  key: Key,
  value: Value | undefined,
): { readonly [K in Key]?: Value } {
  return (value === undefined ? {} : { [key]: value }) as { readonly [K in Key]?: Value };
}
