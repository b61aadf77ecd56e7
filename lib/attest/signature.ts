/**
 * Signatures by a key file in PEM (Ed25519, ECDSA), or by an ssh key with `ssh-keygen`.
 *
 * @module
 */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { join } from "node:path";
import { RalphError } from "../errors/ralph_error.ts";
import { readText, temporaryDirectory, writeAtomic } from "../host/files.ts";
import { orElse } from "../host/looks.ts";
import type { Host } from "../host/types.ts";

/** The name under which `ssh-keygen` signs; a signature for another purpose is none. */
const NAMESPACE = "ralph-attestation";
/** No certificates: nobody looks whether one has run out. */
const PEM_REGEXP = /-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/g;
/** A line of allowed signers: names, options, type of the key; a public key by itself names nobody. */
const SIGNER_REGEXP = /^[^#\s].*\s(?:ssh|ecdsa|sk)-\S+\s/m;
const ARMOR_WIDTH = 70;

/** A signature, and the name of its key. */
export interface Signature {
  /** SHA-256 of the public part of a PEM key, in hex; the file's name of an ssh key. */
  readonly keyid: string;
  readonly bytes: Uint8Array;
}

/**
 * Signs with the key in a file: PEM, or an ssh key, whose public part is enough if an ssh agent holds the other.
 *
 * @throws {RalphError} attest-failed
 */
export async function signedWith(host: Host, file: string, bytes: Buffer): Promise<Signature> {
  const text = await readText(file);
  if (text === null) throw failed(`the key ${file} is not there`);
  if (/OPENSSH PRIVATE KEY|^(?:ssh|ecdsa|sk)-/.test(text)) return await signedBySsh(host, file, bytes);
  const key = orElse<KeyObject | null>(() => createPrivateKey(text), null);
  if (key === null) throw failed(`${file} holds no private key that can be read without a passphrase`);
  if (!["ed25519", "ec"].includes(key.asymmetricKeyType ?? "")) throw failed(`${file} is no Ed25519 or ECDSA key`);
  return { keyid: keyIdOf(createPublicKey(key)), bytes: sign(algorithmOf(key), bytes, key) };
}

/** The text of a file of signers that names the owner of a key, and nobody else. */
export async function signersOf(host: Host, file: string): Promise<string> {
  const text = await readText(file) ?? "";
  const key = orElse<KeyObject | null>(() => createPublicKey(text), null);
  if (key !== null) return String(key.export({ type: "spki", format: "pem" }));
  const known = /^(?:ssh|ecdsa|sk)-/.test(text) ? text : await readText(`${file}.pub`);
  return `own ${known ?? (await sshKeygen(host, ["-y", "-f", file], Buffer.alloc(0))).text}`;
}

/**
 * Looks whether one of the signers made the signature.
 *
 * @param file public keys in PEM, or an allowed signers file of ssh (`ssh-keygen(1)`)
 * @returns the signer's name; `null` where it was none of them
 * @throws {RalphError} attest-failed where the file names no signer
 */
export async function signerOf(host: Host, file: string, bytes: Buffer, signature: Buffer): Promise<string | null> {
  const text = await readText(file);
  if (text === null) throw failed(`the file of signers ${file} is not there`);
  const keys = [...text.matchAll(PEM_REGEXP)].map(([pem]) =>
    orElse<KeyObject | null>(() => createPublicKey(pem), null)
  );
  if (keys.length === 0) {
    if (!SIGNER_REGEXP.test(text)) throw failed(`${file} names no signer`);
    return await sshSignerOf(host, file, bytes, signature);
  }
  for (const key of keys) {
    if (key === null || key.asymmetricKeyType === "rsa") {
      throw failed(`${file} holds a key that is no Ed25519 or ECDSA key`);
    }
    if (isBy(key, bytes, signature)) return keyIdOf(key);
  }
  return null;
}

function isBy(key: KeyObject, bytes: Buffer, signature: Buffer): boolean {
  return orElse(() => verify(algorithmOf(key), bytes, key, signature), false); // a runtime throws for what is none
}

/** Ed25519 has its own. */
function algorithmOf({ asymmetricKeyType }: KeyObject): "sha256" | null {
  return asymmetricKeyType === "ec" ? "sha256" : null;
}

function keyIdOf(key: KeyObject): string {
  return createHash("sha256").update(key.export({ type: "spki", format: "der" })).digest("hex");
}

async function signedBySsh(host: Host, file: string, bytes: Buffer): Promise<Signature> {
  const end = await sshKeygen(host, ["-Y", "sign", "-q", "-n", NAMESPACE, "-f", file], bytes);
  if (!end.isDone) throw failed(`ssh-keygen could not sign with ${file}: ${end.text.trim()}`);
  const base64 = end.text.split("\n").filter((line) => line !== "" && !line.startsWith("-----")).join("");
  return { keyid: file.split("/").at(-1) ?? file, bytes: Buffer.from(base64, "base64") };
}

async function sshSignerOf(host: Host, file: string, bytes: Buffer, signature: Buffer): Promise<string | null> {
  await using folder = await temporaryDirectory("ralph-signature-");
  const armored = join(folder.path, "signature");
  const body = signature.toString("base64").match(new RegExp(`.{1,${ARMOR_WIDTH}}`, "g"))?.join("\n") ?? "";
  await writeAtomic(armored, `-----BEGIN SSH SIGNATURE-----\n${body}\n-----END SSH SIGNATURE-----\n`);
  const found = await sshKeygen(host, ["-Y", "find-principals", "-s", armored, "-f", file], bytes);
  for (const name of found.isDone ? found.text.split("\n").filter((line) => line !== "") : []) {
    const words = ["-Y", "verify", "-q", "-n", NAMESPACE, "-I", name, "-s", armored, "-f", file];
    if ((await sshKeygen(host, words, bytes)).isDone) return name;
  }
  return null;
}

async function sshKeygen(host: Host, words: readonly string[], input: Buffer) {
  const end = await host.processes.run({
    file: "ssh-keygen",
    arguments: words,
    cwd: host.environment.cwd,
    input,
    timeoutMs: 60_000,
    tailBytes: 1 << 16,
  });
  if (end.reason === "not-found") throw failed("ssh-keygen is not there", "install OpenSSH");
  return { isDone: end.exitCode === 0, text: end.exitCode === 0 ? end.stdout : end.tail };
}

function failed(problem: string, hint = "`attest.key` and `--signer` name a file: docs/guides/attest.md"): RalphError {
  return new RalphError("attest-failed", { details: { problem }, hint });
}
