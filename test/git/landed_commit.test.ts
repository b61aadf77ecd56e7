/** Hooks, or a person while they run, move HEAD beside a commit of Ralph's. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryRepository } from "./temporary_repository.ts";

const PERSON = "unset GIT_INDEX_FILE; echo o >> other.txt; git -c core.hooksPath=/dev/null commit -qam theirs";

test.each([
  ["", { without: undefined, with: undefined }],
  ["git add -A", { without: undefined, with: ["person.txt"] }],
])("a person's commit on top of it while its hooks run stays as it is (a hook runs `%s`)", async (stages, others) => {
  await using project = await temporaryRepository({ "a.txt": "a\n", "person.txt": "p\n", "other.txt": "o\n" });
  const hooks = { "pre-commit": stages, "post-commit": `${PERSON}; git rev-parse HEAD > ../theirs` };
  for (const [name, script] of Object.entries(hooks)) {
    writeFileSync(join(project.path, ".git/hooks", name), `#!/bin/sh\n${script.replace("..", ".git")}\n`, {
      mode: 0o755,
    });
  }
  project.write({ "a.txt": "A\n", "person.txt": "mine\n" });

  const result = await project.repository.commit({ paths: ["a.txt"], subject: "work", hooks: true });

  expect(result).toEqual({ status: "committed", commit: project.git("rev-parse", "HEAD~1").trim(), ...others });
  expect(project.git("rev-parse", "HEAD")).toBe(readFileSync(join(project.path, ".git/theirs"), "utf8"));
  expect(project.git("show", "HEAD:person.txt")).toBe("mine\n");
});

test.each([
  ["switch -qc away", "refs/heads/away"],
  ["symbolic-ref HEAD refs/heads/main", "refs/heads/main"],
  ["update-ref --no-deref HEAD HEAD", "HEAD"],
])("a hook that leaves the branch with `git %s` does not take the commit along", async (command, strayedTo) => {
  await using project = await temporaryRepository({ "a.txt": "a\n" });
  project.git("switch", "-qc", "work");
  const first = project.git("rev-parse", "main");
  writeFileSync(join(project.path, ".git/hooks/pre-commit"), `#!/bin/sh\ngit ${command}\n`, { mode: 0o755 });
  project.write({ "a.txt": "A\n" });

  const result = await project.repository.commit({ paths: ["a.txt"], subject: "work", hooks: true });

  expect(result).toEqual({ status: "committed", commit: project.git("rev-parse", "work").trim(), strayedTo });
  expect(project.git("branch", "--show-current")).toBe("work\n");
  expect(project.git("rev-parse", "main")).toBe(first);
  if (strayedTo !== "HEAD") expect(project.git("rev-parse", strayedTo)).toBe(first);
  expect(project.git("log", "-1", "--format=%s %p")).toBe(`work ${first.slice(0, 7)}\n`);
  expect(project.git("status", "--porcelain")).toBe("");
});

test("commits of turns that were to be folded go back to their own branch alone", async () => {
  await using project = await temporaryRepository({ "a.txt": "a\n" });
  const onto = project.git("rev-parse", "main").trim();
  project.git("switch", "-qc", "work");
  project.write({ "b.txt": "b\n" });
  project.git("add", "b.txt");
  project.git("commit", "-qm", "turn");
  const head = project.git("rev-parse", "work").trim();
  const leave = "git symbolic-ref HEAD refs/heads/main; exit 1";
  writeFileSync(join(project.path, ".git/hooks/pre-commit"), `#!/bin/sh\n${leave}\n`, { mode: 0o755 });
  const fold = { head, onto, own: { subjects: [], trailers: [] } };

  const result = await project.repository.commit({ paths: [], subject: "work", hooks: true, fold });

  expect(result.status).toBe("refused");
  expect(project.git("rev-parse", "main", "work")).toBe(`${onto}\n${head}\n`);
});
