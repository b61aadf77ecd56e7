import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { needs } from "../needs.ts";
import { type Cli, CONSENT, ralphCli } from "./cli.ts";

const AGENT = "touch ran.txt; cat $HOME/.ssh/id > seen.txt; false";
const STORY = { id: "US-001", title: "A", acceptanceCriteria: ["A"], priority: 1, passes: false, notes: "" };
const RUN = ["run", "--max-iterations", "1", "--ui", "plain"];

function config(more: object = {}): string {
  return JSON.stringify({ provider: { command: AGENT }, verify: { default: ["test -f b.txt"] }, ...more }, null, 2);
}

/** A clone whose configuration is committed, and a person with a key. */
function clone(text: string | null, existing?: string): Cli {
  const cli = ralphCli(existing).args(...RUN);
  if (existing !== undefined) return cli;
  return cli.files({
    "scripts/ralph/prd.json": JSON.stringify({ branchName: "main", userStories: [STORY] }),
    ...text === null ? {} : { "ralph.config.json": text },
  }).before("mkdir -p $HOME/.ssh && echo SECRET > $HOME/.ssh/id");
}

describe("a configuration that came with the repository", () => {
  test("is asked about in a terminal, and nothing of it runs after a no", async () => {
    const hooks = [{ id: "h", command: "touch hook.txt", when: "before", parallel: false }];
    const { stdout, read } = await clone(config({ hooks, sandbox: { mode: "off", write: ["/srv"] } }))
      .terminal([CONSENT, "n\r"]).expectExit(3);
    for (const key of ["provider.command", "verify.default", "hooks", "sandbox"]) {
      expect(stdout).toContain(`${key}: `);
    }
    expect(stdout).toContain("came with the repository, and you did not agree to it");
    expect([read("ran.txt"), read("hook.txt")]).toEqual([null, null]);
  });

  test("is asked about once for each content", async () => {
    const { root, read, stdout } = await clone(config()).terminal([CONSENT, "y\r"]).expectExit(1);
    expect(read("ran.txt")).toBe("");
    const again = await clone(null, root).terminal().expectExit(1);
    expect(again.stdout).not.toContain(CONSENT);
    expect(stdout).toContain("provider.command");

    writeFileSync(join(root, "ralph.config.json"), config({ hooks: [{ id: "h", command: "touch hook.txt" }] }));
    again.git("commit", "-qam", "another");
    const changed = await clone(null, root).terminal([CONSENT, "n\r"]).expectExit(3);
    expect(changed.stdout).toContain("hooks: ");
    expect(changed.stdout).not.toContain("provider.command: ");
  });

  test("is not asked about where it is the person's own edit, also once that is committed", async () => {
    const { root, git, stdout } = await clone(null).dirty({ "ralph.config.json": config() }).terminal().expectExit(1);
    expect(stdout).not.toContain(CONSENT);
    git("add", "--all");
    git("commit", "-qm", "mine");
    expect((await clone(null, root).terminal().expectExit(1)).stdout).not.toContain(CONSENT);
  });

  test("is not asked about where Ralph wrote it", async () => {
    const made = await clone(null).args("init", "--agent-cmd", AGENT, "--verify", "test -f b.txt").expectExit(0);
    made.git("add", "--all");
    made.git("commit", "-qm", "set up");
    expect((await clone(null, made.root).terminal().expectExit(1)).stdout).not.toContain(CONSENT);
  });

  test("does not become one's own by what git makes of it on the way out", async () => {
    const text = config({ provider: { command: "touch ran.txt # $Id$" } });
    const { read } = await clone(text).files({ ".gitattributes": "ralph.config.json ident\n" })
      .before("rm ralph.config.json && git checkout ralph.config.json").terminal([CONSENT, "n\r"]).expectExit(3);
    expect(read("ralph.config.json")).toMatch(/\$Id: [0-9a-f]/);
  });
});

describe("where nobody can be asked", needs("Linux", "bubblewrap", "user namespaces"), () => {
  const open = config({ sandbox: { mode: "off" } });

  test("its commands run, and it does not open the sandbox", async () => {
    const { stderr, read } = await clone(open).expectExit(1);
    expect(read("seen.txt")).toBe("");
    expect(stderr).toContain("`sandbox` of ralph.config.json came with the repository and is not obeyed");
  });

  test.each([
    ["`--no-sandbox`", clone, {}, [...RUN, "--no-sandbox"]],
    ["`CI`", clone, { CI: "true" }, RUN],
  ])("%s opens it", async (_name, make, variables, args) => {
    const { stderr, read } = await make(open).env(variables).args(...args).expectExit(1);
    expect(read("seen.txt")).toBe("SECRET\n");
    expect(stderr).not.toContain("is not obeyed");
  });

  test("what was agreed to is obeyed", async () => {
    const { root } = await clone(open).terminal([CONSENT, "y\r"]).expectExit(1);
    mkdirSync(join(dirname(root), "home/.ssh"), { recursive: true });
    const { read } = await clone(null, root).expectExit(1);
    expect(read("seen.txt")).toBe("SECRET\n");
  });
});
