/**
 * Which values are secret: those of environment variables that are named like keys, in every form that output has.
 *
 * @module
 */

/** Shorter values are words, not secrets. */
export const SHORTEST_VALUE = 8;
const LONGEST_VALUE = 8192;
/** `base64` breaks its lines after 76 characters, `openssl base64` and PEM after 64. */
const LINE_LENGTHS = [64, 76];

/** The first group also at the end of a word (`APIKEY`), the second only as words between underscores. */
const NAME_REGEXP = new RegExp(
  "(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|COOKIE|WEBHOOK|MNEMONIC|CONNECTION_STRING)S?(?:_|\\d|$)|" +
    "(?:^|_)(?:PAT|PASS|PWD|DSN|AUTH|SEED|(?:DATABASE|DB|REDIS|MONGO(?:DB)?|POSTGRES(?:QL)?|PG|MYSQL|AMQP)_UR[IL])" +
    "S?(?:_|\\d|$)",
  "i",
);
const HARMLESS_NAME_REGEXP = /(?:_PATH|_FILE|_DIR|_NAME|_LENGTH|_TYPE|_SOCK)$|^(?:OLD)?PWD$/i;

/** Text by which an agent's claims are known: a variable with such a value must not hide one. */
const SIGNALS = "DONE COMPLETE VERIFIED BLOCKED FAILED LEARNING RESET APPROVE REJECT REJECTED APPROVED " +
  "<ralph> </ralph> <promise>COMPLETE</promise> <review> </review> RALPH_COMPLETE ###PLAN_COMPLETE### [RALPH] " +
  "PLAN_FAILED TASK_FAILED";

/**
 * Values to mask: those of variables whose names look like keys, a value of several lines line by line. Sorted, each
 * once; beside the plain form also those that JSON, URLs and base64 give it, and the password in a URL alone.
 *
 * @example
 * ```ts
 * import { secretValues } from "ralph/host";
 *
 * console.log(secretValues({ SERVICE_TOKEN: "abcdef123456", EDITOR: "vi" }).includes("abcdef123456")); // true
 * ```
 */
export function secretValues(variables: Readonly<Record<string, string | undefined>>): string[] {
  const values = new Set<string>();
  for (const [name, value] of Object.entries(variables)) {
    if (value === undefined || value.length > LONGEST_VALUE) continue;
    if (!isSecretName(name)) continue;
    for (const secret of value.split(/[\r\n]+/).flatMap((line) => [line.trim(), ...passwordIn(line.trim())])) {
      if (secret.length < SHORTEST_VALUE || SIGNALS.includes(secret)) continue;
      for (const form of formsOf(secret)) if (form.length >= SHORTEST_VALUE) values.add(form);
    }
  }
  return [...values].sort();
}

/** True for the name of a variable that looks like a key. Pure. */
export function isSecretName(name: string): boolean {
  return NAME_REGEXP.test(name) && !HARMLESS_NAME_REGEXP.test(name);
}

/** The password in a URL, as it is there and as a program gets it: it is a secret without the rest as well. */
function passwordIn(text: string): readonly string[] {
  const password = URL.canParse(text) ? new URL(text).password : "";
  return password === "" ? [] : [password, Buffer.from(decoded(password)).toString()];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a sign that is no escape stands for itself
  }
}

function formsOf(secret: string): readonly string[] {
  const inJson = JSON.stringify(secret).slice(1, -1);
  // by way of bytes: half a surrogate pair would throw
  const inUrl = encodeURIComponent(Buffer.from(secret).toString());
  const lowerCase = inUrl.replaceAll(/%../g, (byte) => byte.toLowerCase());
  const encoded = [0, 1, 2].map((shift) => inBase64(secret, shift));
  const urlSafe = encoded.map((text) => text.replaceAll("+", "-").replaceAll("/", "_"));
  const wrapped = LINE_LENGTHS.flatMap((length) => linesOf(encoded[0]!, length));
  return [secret, inJson, inJson.replaceAll("/", "\\/"), inUrl, lowerCase, ...encoded, ...urlSafe, ...wrapped];
}

/** The whole lines of a text that is printed with line breaks; none where it fits in one. */
function linesOf(text: string, length: number): readonly string[] {
  return text.length <= length ? [] : text.match(new RegExp(`.{1,${length}}`, "g")) ?? [];
}

/** The characters that the base64 of a text with the secret in it always has, where `shift` bytes (of 3) come first. */
function inBase64(secret: string, shift: number): string {
  const bytes = Buffer.concat([Buffer.alloc(shift), Buffer.from(secret)]);
  const whole = Math.floor((bytes.length * 8) / 6);
  return bytes.toString("base64").slice(shift === 0 ? 0 : shift + 1, whole);
}
