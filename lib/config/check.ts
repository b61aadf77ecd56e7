import type { z } from "zod";
import { type Config, CONFIG_SCHEMA } from "./schema.ts";
import { RalphError } from "../errors/ralph_error.ts";

/** What checking a parsed configuration found; all problems at once. */
export interface CheckedConfig {
  readonly config: Config | null;
  /** `verify.timeout: expected number, received string` */
  readonly problems: readonly string[];
  /** Keys that nothing reads. */
  readonly warnings: readonly string[];
}

/** Checks data against the schema. Unknown keys are warnings, so that a newer file still works. Pure. */
export function checkConfig(raw: unknown): CheckedConfig {
  const { data, warnings: renamed } = withNewNames(raw);
  const checked = checkNamed(data);
  return { ...checked, warnings: [...renamed, ...checked.warnings] };
}

function checkNamed(data: unknown): CheckedConfig {
  const parsed = CONFIG_SCHEMA.safeParse(data);
  if (parsed.success) return { config: parsed.data, problems: [], warnings: [] };
  const unknown = parsed.error.issues.flatMap((issue) =>
    issue.code === "unrecognized_keys" ? issue.keys.map((key) => [...issue.path, key]) : []
  );
  const warnings = unknown.map((path) => `unknown key ${path.join(".")}`);
  const others = parsed.error.issues.filter(({ code }) => code !== "unrecognized_keys");
  if (others.length > 0) return { config: null, problems: others.map(describeIssue), warnings };
  return { config: CONFIG_SCHEMA.parse(without(data, unknown)), problems: [], warnings };
}

/** Keys of version 0.1 with the names that they have now: section, old key, new key. */
const RENAMED: readonly (readonly [string, string, string])[] = [["limits", "noProgress", "idle"]];

/** Old keys are read as the new ones; where both are given, the new one counts. */
function withNewNames(raw: unknown): { readonly data: unknown; readonly warnings: readonly string[] } {
  const warnings: string[] = [];
  let data = raw;
  for (const [section, old, now] of RENAMED) {
    if (!isRecord(data) || !isRecord(data[section]) || !(old in data[section])) continue;
    const { [old]: value, ...rest } = data[section];
    data = { ...data, [section]: { [now]: value, ...rest } };
    warnings.push(`${section}.${old} is called ${section}.${now} now`);
  }
  return { data, warnings };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function describeIssue({ path, message }: z.core.$ZodIssue): string {
  const place = path.length === 0 ? "the file" : placeOf(path);
  if (/^Invalid input: .*received undefined$/.test(message)) return `${place} is required`;
  return `${place}: ${message.replace(/^Invalid input: /, "")}`;
}

/** `services[0].ready` */
function placeOf(path: readonly PropertyKey[]): string {
  return path.map((part, index) => typeof part === "number" ? `[${part}]` : `${index === 0 ? "" : "."}${String(part)}`)
    .join("");
}

/** A copy of plain data without the keys at these paths. */
function without(data: unknown, paths: readonly (readonly PropertyKey[])[]): unknown {
  if (typeof data !== "object" || data === null || Array.isArray(data)) return data;
  const here = new Set(paths.filter((path) => path.length === 1).map(([key]) => key));
  return Object.fromEntries(
    Object.entries(data).filter(([key]) => !here.has(key)).map(([key, value]) => [
      key,
      without(value, paths.filter((path) => path.length > 1 && path[0] === key).map((path) => path.slice(1))),
    ]),
  );
}

/**
 * The configuration as `trust: "strict"` wants it: tests that change fail the attempt, everything is checked as a
 * commit, no claim settles an item, and a sandbox is required unless it is declined (`--no-sandbox`).
 *
 * @throws {RalphError} config-invalid where the configuration asks for the opposite
 */
export function strictConfig(config: Config): Config {
  if (config.trust !== "strict") return config;
  const problems = [
    ...(config.verify.allowUnverified ? ["verify.allowUnverified (--allow-unverified) settles items by a claim"] : []),
    ...(config.verify.final === "clean" ? [] : [`verify.final is "${config.verify.final}"`]),
  ];
  if (problems.length > 0) {
    throw new RalphError("config-invalid", {
      details: { path: 'trust: "strict"', problem: problems.join("; ") },
      hint: "leave one of the two out",
    });
  }
  const { sandbox } = config;
  return {
    ...config,
    tests: { ...config.tests, integrity: "block" },
    sandbox: sandbox.mode === "auto" ? { ...sandbox, mode: "required" } : sandbox,
  };
}
