import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { ARTEFACT } from "../e2e/cli.ts";
import { needs } from "../needs.ts";
import { makeRepository } from "../repository.ts";

interface Step {
  readonly name: string;
  readonly run: string;
}

const { runs: { steps } } = parse(readFileSync("action.yml", "utf8")) as {
  readonly runs: { readonly steps: readonly Step[] };
};

/** Runs a step of the action as a runner does. */
function step(
  name: string,
  environment: Readonly<Record<string, string>>,
): { readonly code: number | null; readonly text: string } {
  const { run = "" } = steps.find((one) => one.name === name) ?? {};
  const folder = mkdtempSync(join(tmpdir(), "ralph-action-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [root, bin] = [join(folder, "project"), join(folder, "bin")];
  for (const path of [root, bin]) mkdirSync(path);
  makeRepository(root, { files: { "a.txt": "a\n" } });
  execFileSync("git", ["switch", "-qc", "work"], { cwd: root });
  writeFileSync(join(root, "b.txt"), "b\n");
  execFileSync("git", ["add", "-A"], { cwd: root });
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.invalid", "commit", "-qm", "b"], { cwd: root });
  writeFileSync(join(bin, "ralph"), `#!/bin/sh\nexec ${ARTEFACT.join(" ")} "$@"\n`);
  chmodSync(join(bin, "ralph"), 0o755);
  const env = {
    ...process.env,
    PATH: `${bin}${delimiter}${process.env["PATH"]}`,
    RUNNER_TEMP: folder,
    GITHUB_STEP_SUMMARY: join(folder, "summary"),
    GITHUB_PATH: join(folder, "path"),
    ...environment,
  };
  const { status, stdout, stderr } = spawnSync("bash", ["-eo", "pipefail", "-c", run], {
    cwd: root,
    env,
    encoding: "utf8",
  });
  return { code: status, text: `${stdout}${stderr}` };
}

test.each([["test -f b.txt", 0, "**passed** since"], ["test -f c.txt", 1, "**failed** since"]])(
  "the action judges the branch against its merge base: %s",
  needs("bash"),
  (verify, code, said) => {
    const judged = step("Judge", { BASE: "main", VERIFY: verify });

    expect(judged.code, judged.text).toBe(code);
    expect(judged.text).toContain(said);
  },
);

test("the action refuses an event whose secrets the branch's code would see", needs("bash"), () => {
  expect(step("Refuse secrets", { GITHUB_EVENT_NAME: "pull_request_target" }).code).toBe(2);
  expect(step("Refuse secrets", { GITHUB_EVENT_NAME: "pull_request" }).code).toBe(0);
});

test("the action unpacks a release, and none whose sum is another", needs("bash", "curl", "xz"), () => {
  const folder = mkdtempSync(join(tmpdir(), "ralph-action-release-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "ralph-9.9.9-linux-x64"));
  writeFileSync(join(folder, "ralph-9.9.9-linux-x64/ralph"), "#!/bin/sh\necho 9.9.9\n", { mode: 0o755 });
  execFileSync("tar", ["-cJf", "release.tar.xz", "ralph-9.9.9-linux-x64"], { cwd: folder });
  const sum = createHash("sha256").update(readFileSync(join(folder, "release.tar.xz"))).digest("hex");
  const install = (SHA256: string): ReturnType<typeof step> =>
    step("Install", { ARCHIVE: `file://${folder}/release.tar.xz`, SHA256, ACTION: "", RUNNER_TEMP: folder });

  expect(install(sum.replace(/^./, "z")).code).not.toBe(0);
  expect(existsSync(join(folder, "ralph/bin/ralph"))).toBe(false);
  expect(install(sum).code).toBe(0);
  expect(execFileSync(join(folder, "ralph/bin/ralph"), { encoding: "utf8" })).toBe("9.9.9\n");
});
