/**
 * A run of each workflow is attested, and so are commits after it; another clone agrees on each. `RALPH_ATTESTATIONS=1000`
 * makes so many over all workflows, and `RALPH_REPEATS=100` of the verdicts are repeated.
 */
import { spawnSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { attest } from "../../lib/attest/attest.ts";
import { verifyAttestation } from "../../lib/attest/verify.ts";
import { createRalph } from "../../lib/recipe/create_ralph.ts";
import { type CrashProject, crashProject, type Workflow, WORKFLOWS } from "../fault/crash/projects.ts";
import { ralphProgram } from "../fault/program.ts";
import { officialVerifier } from "./official_verifier.ts";

const COUNT = Number(process.env["RALPH_ATTESTATIONS"] ?? WORKFLOWS.length);
const REPEATS = Number(process.env["RALPH_REPEATS"] ?? WORKFLOWS.length);
const EACH = Math.ceil(COUNT / WORKFLOWS.length);
const MOST_MS = 600_000 + COUNT * 2000 + REPEATS * 20_000;

const { publicKey, privateKey } = generateKeyPairSync("ed25519", {
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
});

test.each(WORKFLOWS)("a run of %s is attested, and a second clone agrees", { timeout: MOST_MS }, async (workflow) => {
  const project = signedProject(workflow);
  try {
    const { status, stdout, stderr } = run(project, project.root, project.command);
    expect(status, `${stdout}${stderr}`).toBe(0);
    const commits = await attestMore(project);
    const clone = join(project.folder, "clone/project");
    mkdirSync(join(project.folder, "clone"));
    project.git("clone", "-q", project.root, clone);
    project.git("-C", clone, "fetch", "-q", "origin", "refs/notes/*:refs/notes/*");

    await agrees(project, clone, commits);
    for (const commit of commits.slice(0, Math.ceil(REPEATS / WORKFLOWS.length))) repeats(project, clone, commit);
  } finally {
    project.remove();
  }
});

/** A project whose runs are signed: the key is outside of it, and so are its signers. */
function signedProject(workflow: Workflow): CrashProject {
  const project = crashProject(workflow, "tree");
  writeFileSync(join(project.folder, "key.pem"), privateKey);
  writeFileSync(join(project.folder, "signers.pem"), publicKey);
  const file = join(project.root, "ralph.config.json");
  const config = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) as object : {};
  writeFileSync(file, JSON.stringify({ ...config, attest: { key: join(project.folder, "key.pem") } }));
  project.git("add", "ralph.config.json");
  project.git("commit", "-qm", "configuration");
  return project;
}

/** The commit of the run, and others after it with the same verdict. */
async function attestMore({ root, git }: CrashProject): Promise<readonly string[]> {
  await using ralph = await createRalph({ root });
  const first = git("rev-parse", "HEAD").trim();
  const { verdict } = await verifyAttestation(ralph, first, []);
  const { version: _, status: _status, tree: _tree, time: _time, ...known } = verdict!;
  const commits = [first];
  while (commits.length < EACH) {
    writeFileSync(join(root, "more.txt"), `${commits.length}\n`);
    git("add", "more.txt");
    git("commit", "-qm", `more ${commits.length}`, "--", "more.txt");
    const commit = git("rev-parse", "HEAD").trim();
    await attest(ralph, { ...known, commit });
    commits.push(commit);
  }
  return commits;
}

/** Ralph and sigstore's verifier on the clone: signature and subject. */
async function agrees({ folder, git }: CrashProject, clone: string, commits: readonly string[]): Promise<void> {
  await using ralph = await createRalph({ root: clone });
  const verify = officialVerifier(publicKey);
  for (const commit of commits) {
    const { status, attested, signature } = await verifyAttestation(ralph, commit, [join(folder, "signers.pem")]);
    expect({ status, attested, signature: signature.status })
      .toEqual({ status: "passed", attested: commit, signature: "valid" });
    const note = git("-C", clone, "notes", "--ref=ralph-attestations", "show", commit);
    for (const line of note.trim().split("\n")) verify(JSON.parse(line) as object);
  }
}

/** Checks and experiments run again on the clone, and the verdict is the same. */
function repeats(project: CrashProject, clone: string, commit: string): void {
  const words = ["attest", "verify", commit, "--json", "--signer", join(project.folder, "signers.pem"), "--repeat"];

  const { status, stdout, stderr } = run(project, clone, [...ralphProgram(), ...words, "--require", "passed"]);

  expect(status, `${stdout}${stderr}`).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ status: "passed", repeated: { status: "passed", differences: [] } });
}

function run(
  { environment: env }: CrashProject,
  cwd: string,
  [file = "", ...words]: readonly string[],
): { readonly status: number | null; readonly stdout: string; readonly stderr: string } {
  return spawnSync(file, words, { cwd, env, encoding: "utf8", timeout: 600_000 });
}
