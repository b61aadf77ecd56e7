/**
 * What a secret looks like: values of environment variables that are named like keys, and the shapes of well-known keys.
 *
 * @module
 */

/** Variables shorter than this are words, not secrets. */
const SHORTEST_VALUE = 8;
const LONGEST_VALUE = 8192;

const NAME_REGEXP = /(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL)S?(?:_|\d|$)/i;
const HARMLESS_NAME_REGEXP = /(?:_PATH|_FILE|_DIR|_NAME|_LENGTH|_TYPE)$/i;

/** A well-known kind of key: what it begins with, and how long it is at least. */
export interface KeyShape {
  readonly prefix: string;
  /** Length with the prefix. */
  readonly minimum: number;
}

/** All end where a character is neither a letter nor a digit nor one of `_-.`. */
export const KEY_SHAPES: readonly KeyShape[] = [
  { prefix: "sk-", minimum: 20 },
  { prefix: "sk_live_", minimum: 20 },
  { prefix: "rk_live_", minimum: 20 },
  { prefix: "ghp_", minimum: 24 },
  { prefix: "gho_", minimum: 24 },
  { prefix: "ghu_", minimum: 24 },
  { prefix: "ghs_", minimum: 24 },
  { prefix: "ghr_", minimum: 24 },
  { prefix: "github_pat_", minimum: 30 },
  { prefix: "glpat-", minimum: 20 },
  { prefix: "npm_", minimum: 30 },
  { prefix: "hf_", minimum: 30 },
  { prefix: "AKIA", minimum: 20 },
  { prefix: "ASIA", minimum: 20 },
  { prefix: "AIza", minimum: 30 },
  { prefix: "xoxa-", minimum: 15 },
  { prefix: "xoxb-", minimum: 15 },
  { prefix: "xoxe-", minimum: 15 },
  { prefix: "xoxp-", minimum: 15 },
  { prefix: "xoxr-", minimum: 15 },
  { prefix: "xoxs-", minimum: 15 },
  { prefix: "eyJ", minimum: 30 },
];

/**
 * Values to mask: those of variables whose names look like keys. Sorted, each once; also as JSON writes them.
 *
 * @example
 * ```ts
 * import { secretValues } from "ralph/host";
 *
 * console.log(secretValues({ SERVICE_TOKEN: "abcdef123456", EDITOR: "vi" })); // ["abcdef123456"]
 * ```
 */
export function secretValues(variables: Readonly<Record<string, string | undefined>>): string[] {
  const values = new Set<string>();
  for (const [name, value] of Object.entries(variables)) {
    if (value === undefined || !NAME_REGEXP.test(name) || HARMLESS_NAME_REGEXP.test(name)) continue;
    const secret = value.trim();
    if (secret.length < SHORTEST_VALUE || secret.length > LONGEST_VALUE) continue;
    values.add(secret);
    values.add(JSON.stringify(secret).slice(1, -1));
  }
  return [...values].sort();
}
