/**
 * Runs of each workflow are attested, and another clone agrees. `RALPH_ATTESTATIONS=1000` makes so many over all of them,
 * and repeats `RALPH_REPEATS` of the verdicts.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type CrashProject, crashProject, LEAVING, type Workflow, WORKFLOWS } from "../fault/crash/projects.ts";
import { ralphProgram } from "../fault/program.ts";
import { officialVerifier } from "./official_verifier.ts";

const COUNT = Number(process.env["RALPH_ATTESTATIONS"] ?? WORKFLOWS.length);
const REPEATS = Number(process.env["RALPH_REPEATS"] ?? WORKFLOWS.length);
const EACH = Math.ceil(COUNT / WORKFLOWS.length);
const MOST_MS = 600_000 + COUNT * 20_000;

const { publicKey, privateKey } = generateKeyPairSync("ed25519", {
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
});

test.each(WORKFLOWS)("a run of %s is attested, and a second clone agrees", { timeout: MOST_MS }, (workflow) => {
  for (let number = 0; number < EACH; number += 1) {
    const project = signedProject(workflow, number);
    try {
      const { status, stdout, stderr } = run(project, project.root, project.command);
      expect(status, `${stdout}${stderr}`).toBe(0);
      agrees(project, number < REPEATS / WORKFLOWS.length);
    } finally {
      project.remove();
    }
  }
});

/** A project whose runs are signed: the key is outside of it, and so are its signers. */
function signedProject(workflow: Workflow, number: number): CrashProject {
  const project = crashProject(workflow, LEAVING[number % LEAVING.length]!);
  writeFileSync(join(project.folder, "key.pem"), privateKey);
  writeFileSync(join(project.folder, "signers.pem"), publicKey);
  const file = join(project.root, "ralph.config.json");
  const config = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) as object : {};
  writeFileSync(file, JSON.stringify({ ...config, attest: { key: join(project.folder, "key.pem") } }));
  project.git("add", "ralph.config.json");
  project.git("commit", "-qm", "configuration");
  return project;
}

/** The signature and the repeated verdict, by Ralph and by sigstore's verifier, on another clone. */
function agrees(project: CrashProject, repeats: boolean): void {
  const { folder, root, environment } = project;
  const clone = join(folder, "clone/project");
  mkdirSync(join(folder, "clone"));
  const git = (...words: string[]): string => execFileSync("git", words, { cwd: folder, env: environment }).toString();
  git("clone", "-q", root, clone);
  git("-C", clone, "fetch", "-q", "origin", "refs/notes/*:refs/notes/*");
  const words = ["attest", "verify", "--json", "--signer", join(folder, "signers.pem"), "--require", "passed"];

  const end = run(project, clone, [...ralphProgram(), ...words, ...repeats ? ["--repeat"] : []]);

  const head = project.git("rev-parse", "HEAD").trim();
  expect(end.status, `${end.stdout}${end.stderr}`).toBe(0);
  expect(JSON.parse(end.stdout)).toMatchObject({
    status: "passed",
    commit: head,
    signature: "valid",
    repeated: repeats ? { status: "passed", differences: [] } : null,
  });
  const verify = officialVerifier(publicKey);
  const note = git("-C", clone, "notes", "--ref=ralph-attestations", "show", head);
  for (const line of note.trim().split("\n")) verify(JSON.parse(line) as object);
}

function run(
  { environment: env }: CrashProject,
  cwd: string,
  [file = "", ...words]: readonly string[],
): { readonly status: number | null; readonly stdout: string; readonly stderr: string } {
  return spawnSync(file, words, { cwd, env, encoding: "utf8", timeout: 120_000 });
}
