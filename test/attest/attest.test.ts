import { execFileSync } from "node:child_process";
import { createHash, generateKeyPairSync } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { attest } from "../../lib/attest/attest.ts";
import { ATTESTATIONS_REF, VERDICTS_REF } from "../../lib/attest/names.ts";
import { attestJsonSchema } from "../../lib/attest/schema.ts";
import { look, verifyAttestation } from "../../lib/attest/verify.ts";
import { carryVerdict } from "../../lib/loop/finish/note_verdict.ts";
import { temporaryDirectory } from "../../lib/host/files.ts";
import { loopWorld, type World } from "../loop/loop_world.ts";
import { needs } from "../needs.ts";
import { LONG } from "../sampled.ts";
import { seededRandom } from "../fault/random.ts";
import { officialVerifier } from "./official_verifier.ts";

const PEM = {
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
} as const;

interface Keys extends AsyncDisposable {
  readonly key: string;
  readonly signers: string;
}

async function keys(kind: "ed25519" | "ec" | "ssh"): Promise<Keys> {
  const folder = await temporaryDirectory("ralph-keys");
  const [key, signers] = [join(folder.path, "key"), join(folder.path, "signers")];
  if (kind === "ssh") {
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", key, "-C", ""]);
    writeFileSync(signers, `somebody@example.org ${readFileSync(`${key}.pub`, "utf8")}`);
  } else {
    const pair = kind === "ec"
      ? generateKeyPairSync("ec", { namedCurve: "prime256v1", ...PEM })
      : generateKeyPairSync("ed25519", PEM);
    writeFileSync(key, pair.privateKey);
    writeFileSync(signers, pair.publicKey);
  }
  return { key, signers, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

/** A commit that is attested. */
async function attested(key: string | null): Promise<World & { readonly commit: string }> {
  const world = await loopWorld(async () => {}, { config: { attest: { key } } });
  const commit = await world.git("rev-parse", "HEAD");
  const checks = [{ command: "npm test", exitCode: 0 }];
  await attest(world.ralph, { commit, base: commit, checks, findings: [], brief: null, ralph: "0.2.0", run: "r" });
  return Object.assign(world, { commit });
}

async function noteOf({ git, commit }: World & { readonly commit: string }): Promise<string> {
  return await git("notes", `--ref=${ATTESTATIONS_REF}`, "show", commit);
}

/** Another note in the place of the attestation. */
async function replace({ root, commit }: World & { readonly commit: string }, text: string): Promise<void> {
  execFileSync("git", ["notes", `--ref=${ATTESTATIONS_REF}`, "add", "-f", "-F", "-", commit], {
    cwd: root,
    input: text,
  });
}

describe("an attestation", () => {
  test("that is unsigned says so, and is refused where a signer is asked for", async () => {
    await using world = await attested(null);
    await using other = await keys("ed25519");

    expect(await verifyAttestation(world.ralph, world.commit, [])).toMatchObject({
      status: "passed",
      signature: { status: "unsigned", signer: null },
      verdict: { checks: [{ command: "npm test", exitCode: 0 }] },
    });
    const { status, reasons } = await verifyAttestation(world.ralph, world.commit, [other.signers]);
    expect({ status, reasons }).toEqual({ status: "refused", reasons: ["it is not signed"] });
  });

  test.each(["ed25519", "ec"] as const)(
    "that an %s key signed is that key's alone, as sigstore's verifier finds as well",
    async (kind) => {
      await using mine = await keys(kind);
      await using other = await keys(kind);
      await using world = await attested(mine.key);

      const { status, signature } = await verifyAttestation(world.ralph, world.commit, [other.signers, mine.signers]);
      expect({ status, signature: signature.status }).toEqual({ status: "passed", signature: "valid" });
      expect((await verifyAttestation(world.ralph, world.commit, [other.signers])).status).toBe("refused");
      // Deno's own `crypto.verify()` refuses what an ec key signed where the digest is not named, as sigstore leaves it
      if (kind === "ec" && process.env["RALPH_TEST_RUNTIME"] === "deno") return;
      const theirs = officialVerifier(readFileSync(other.signers, "utf8"));
      const verifier = officialVerifier(readFileSync(mine.signers, "utf8"));
      for (const line of (await noteOf(world)).split("\n")) {
        const envelope = JSON.parse(line) as { readonly payload: string };
        expect(() => verifier(envelope)).not.toThrow();
        expect(() => theirs(envelope)).toThrow("signature verification failed");
        const changed = envelope.payload.replace(/^./, (sign) => sign === "a" ? "b" : "a");
        expect(() => verifier({ ...envelope, payload: changed })).toThrow("signature verification failed");
      }
    },
  );

  test("that an ssh key signed is known by the name in the allowed signers", needs("ssh-keygen"), async () => {
    await using mine = await keys("ssh");
    await using other = await keys("ssh");
    await using world = await attested(mine.key);

    expect(await verifyAttestation(world.ralph, world.commit, [mine.signers])).toMatchObject({
      status: "passed",
      signature: { status: "valid", signer: "somebody@example.org" },
    });
    expect((await verifyAttestation(world.ralph, world.commit, [other.signers])).status).toBe("refused");
  });

  test("of another commit with the same tree is found whatever colours git is told to show", async () => {
    await using world = await attested(null);
    await world.git("config", "color.ui", "always");
    await world.git("config", "color.grep", "always");
    await world.git("commit", "-q", "--allow-empty", "-m", "squashed");
    const commit = await world.git("rev-parse", "HEAD");

    const { status, attested: from } = await verifyAttestation(world.ralph, commit, []);
    expect({ status, from }).toEqual({ status: "passed", from: world.commit });
  });

  test.each(["ed25519", "ec", "ssh"] as const)(
    "is signed anew for a later commit by an %s key only where that key has signed it before",
    needs("ssh-keygen"),
    async (kind) => {
      await using mine = await keys(kind);
      await using other = await keys(kind);
      await using world = await attested(mine.key);
      await world.git("commit", "-q", "--allow-empty", "-m", "without state");
      const later = await world.git("rev-parse", "HEAD");
      const verdict = await world.git("notes", `--ref=${VERDICTS_REF}`, "show", world.commit);
      const forged = verdict.replace("npm test", "npm run everything");
      await world.git("notes", `--ref=${VERDICTS_REF}`, "add", "-f", "-m", forged, world.commit);

      await carryVerdict(world.ralph, world.commit, later);
      const found = await verifyAttestation(world.ralph, later, [mine.signers]);
      expect(found).toMatchObject({
        status: "passed",
        attested: later,
        verdict: { checks: [{ command: "npm test" }] },
      });

      await world.git("notes", `--ref=${ATTESTATIONS_REF}`, "remove", later);
      await world.git("notes", `--ref=${VERDICTS_REF}`, "remove", later);
      const theirs = { ...world.ralph, config: { ...world.ralph.config, attest: { key: other.key } } };
      await carryVerdict(theirs, world.commit, later);
      expect((await verifyAttestation(world.ralph, later, [other.signers])).status).toBe("refused");
    },
  );

  test("with one byte changed is refused with the reason, or what is read of it is the same", async () => {
    await using mine = await keys("ed25519");
    await using world = await attested(mine.key);
    const note = await noteOf(world);
    const before = await verifyAttestation(world.ralph, world.commit, [mine.signers]);
    const tree = await world.git("rev-parse", "HEAD^{tree}");
    const seed = Date.now() % 100_000;
    const random = seededRandom(seed);
    const pick = (most: number): number => Math.floor(random() * most);

    for (let times = 0; times < (LONG ? 10_000 : 100); times += 1) {
      const bytes = Buffer.from(note);
      const at = pick(bytes.length);
      bytes[at] = (bytes[at]! + 1 + pick(126)) % 128;
      const text = bytes.toString("utf8");
      const found = await look(world.ralph, text, { attested: world.commit, tree, signers: [mine.signers] });
      const inside = within(note, at);
      const told = `seed ${seed}, byte ${at}: ${JSON.stringify(found)}`;
      if (inside !== null) expect(found.status, `${inside}, ${told}`).toBe("refused");
      if (found.status === "refused") expect(found.reasons, told).not.toEqual([]);
      else expect({ ...found, commit: world.commit }, told).toEqual(before);
    }
  });

  test("of another commit counts where the tree is the same, and not where it differs", async () => {
    await using world = await attested(null);
    await world.git("commit", "-q", "--amend", "-m", "other");
    const same = await world.git("rev-parse", "HEAD");
    await world.write("README.md", "changed\n");
    await world.git("commit", "-qam", "more");

    expect(await verifyAttestation(world.ralph, same, [])).toMatchObject({ status: "passed", attested: world.commit });
    expect((await verifyAttestation(world.ralph, await world.git("rev-parse", "HEAD"), [])).status).toBe("none");
  });

  test("that was moved to another commit is refused", async () => {
    await using world = await attested(null);
    const note = await noteOf(world);
    await world.write("README.md", "changed\n");
    await world.git("commit", "-qam", "more");
    const commit = await world.git("rev-parse", "HEAD");
    await replace({ ...world, commit }, note);

    expect(await verifyAttestation(world.ralph, commit, [])).toMatchObject({
      status: "refused",
      reasons: [`it speaks of another commit: ${world.commit}`],
    });
  });

  test("is named by its digest in the verdict's line, and replaces an older one", async () => {
    await using world = await attested(null);
    const { commit } = world;
    await attest(world.ralph, {
      commit,
      base: null,
      checks: [],
      findings: [],
      brief: null,
      ralph: "0.2.0",
      run: "second",
    });

    const line = JSON.parse(await world.git("notes", `--ref=${VERDICTS_REF}`, "show", commit)) as Record<
      string,
      string
    >;
    expect(line["run"]).toBe("second");
    const note = execFileSync("git", ["notes", `--ref=${ATTESTATIONS_REF}`, "show", commit], { cwd: world.root });
    expect(line["attestation"]).toBe(`sha256:${createHash("sha256").update(note).digest("hex")}`);
    expect((await verifyAttestation(world.ralph, commit, [])).verdict?.run).toBe("second");
  });
});

test("`ralph schema attest` describes what `ralph attest --json` prints", () => {
  expect(attestJsonSchema()).toMatchObject({ title: "ralph attest", properties: { status: {}, verdict: {} } });
});

/** The part of the envelope in which a byte stands: its payload, its type or a signature; `null`: between them. */
function within(note: string, at: number): string | null {
  for (const part of note.matchAll(/"(payload|payloadType|sig)":"([^"]*)"/g)) {
    const from = part.index + part[0].length - 1 - part[2]!.length;
    if (at >= from && at < from + part[2]!.length) return part[1]!;
  }
  return null;
}

/** Ended at its second day. */
const EXPIRED = `-----BEGIN CERTIFICATE-----
MIHSMIGFAhRFGvvkthp0+6ICQblm2/71XI/PXjAFBgMrZXAwDDEKMAgGA1UEAwwB
eDAeFw0yNjExMjcwMDM2MzJaFw0yNjExMjYwMDM2MzJaMAwxCjAIBgNVBAMMAXgw
KjAFBgMrZXADIQAlLTVv9K1tKJwTdmcEMhCcFsOD1t+/D4K+MSE0cvEeXjAFBgMr
ZXADQQDcpiAXfFmV3kcf622YouBUdyhQiT9f9fHhI9kJnryvOHJV+FolLgZ/K5og
hAJ3sGuhUgCIJQBng1tGS4R5/ywL
-----END CERTIFICATE-----
`;

test.each([
  ["nothing", ""],
  ["no key", "hello\n# somebody@example.org ssh-ed25519 AAAA\n"],
  ["a certificate, which may have run out", EXPIRED],
  ["a public key of ssh without a name", "ssh-ed25519 AAAA somebody@example.org\n"],
])("a file of signers with %s is refused as such", async (_, text) => {
  await using made = await keys("ed25519");
  await using world = await attested(made.key);
  writeFileSync(made.signers, text);
  await expect(verifyAttestation(world.ralph, world.commit, [made.signers])).rejects.toThrow("names no signer");
});
