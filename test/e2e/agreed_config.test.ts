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

describe("a configuration that Ralph did not write", () => {
  test("is asked about in a terminal, and nothing of it runs after a no", async () => {
    const hooks = [{ id: "h", command: "touch hook.txt", when: "before", parallel: false }];
    const { stdout, read } = await clone(config({ hooks, sandbox: { mode: "off", write: ["/srv"] } }))
      .terminal([CONSENT, "n\r"]).expectExit(3);
    for (const key of ["provider.command", "verify.default", "hooks", "sandbox"]) {
      expect(stdout).toContain(`${key}: `);
    }
    expect(stdout).toContain("you did not agree to the settings of ralph.config.json");
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

  test("is shown in full, what opens the sandbox last, and nothing in it is hidden", async () => {
    const hooks = Array.from({ length: 12 }, (_, index) => ({ id: `h${index}`, command: `true ${"x".repeat(400)}` }));
    const text = config({
      hooks: [...hooks, { id: "last", command: "true \u202e; a\u2028\u{e0041}b  c" }],
      verify: { default: Array.from({ length: 12 }, (_, index) => `test -f ${index}.txt`) },
      attest: { key: "~/.ssh/id" },
      parallel: { directory: "../elsewhere" },
      browser: { screenshotDir: "/srv/pictures" },
      protect: ["../outside"],
      tracker: { remote: "https://example.com/x.git" },
      sandbox: { mode: "off" },
    });
    const { stdout } = await clone(text).terminal([CONSENT, "n\r"]).expectExit(3);
    for (const { id, command } of hooks) expect(stdout).toContain(`{"id":"${id}","command":"${command}"`);
    expect(stdout).toContain(String.raw`"true \u202e; a\u2028\udb40\udc41b  c"`);
    expect(stdout).toContain('"test -f 11.txt"]');
    for (const key of ["attest.key", "parallel.directory", "browser.screenshotDir", "protect", "tracker.remote"]) {
      expect(stdout).toContain(`\n${key}: `);
    }
    expect(stdout).toMatch(/\nsandbox: \{"mode":"off".*\}\nWork with this configuration\?/);
  });

  test("is asked about wherever it is from: git knows nothing of who wrote it", async () => {
    const { root, git } = await clone(null).dirty({ "ralph.config.json": config() })
      .terminal([CONSENT, "y\r"]).expectExit(1);
    git("add", "--all");
    git("commit", "-qm", "mine");
    expect((await clone(null, root).terminal().expectExit(1)).stdout).not.toContain(CONSENT);

    writeFileSync(join(root, "ralph.config.json"), config({ sandbox: { mode: "off" } })); // as a turn may
    await clone(null, root).args("doctor").expectExit(0);
    await clone(null, root).terminal().args("run", "--dry-run").expectExit(0);
    const asked = await clone(null, root).terminal([CONSENT, "n\r"]).expectExit(3);
    expect(asked.stdout).toContain("sandbox: ");
  });

  test("is not asked about again at each change of branches", async () => {
    const other = config({ verify: { default: ["test -f c.txt"] } });
    const { root } = await clone(config()).terminal([CONSENT, "y\r"]).expectExit(1);
    writeFileSync(join(root, "ralph.config.json"), other);
    await clone(null, root).terminal([CONSENT, "y\r"]).expectExit(1);
    for (const text of [config(), other]) {
      writeFileSync(join(root, "ralph.config.json"), text);
      expect((await clone(null, root).terminal().expectExit(1)).stdout).not.toContain(CONSENT);
    }
  });

  test("is not asked about where Ralph wrote it", async () => {
    const made = await clone(null).args("init", "--agent-cmd", AGENT, "--verify", "test -f b.txt").expectExit(0);
    made.git("add", "--all");
    made.git("commit", "-qm", "set up");
    expect((await clone(null, made.root).terminal().expectExit(1)).stdout).not.toContain(CONSENT);
  });

  test("does not become Ralph's where `init` adds to it", async () => {
    const text = config({ verify: { default: ["touch ran.txt"] }, sandbox: { mode: "off" } });
    const { root } = await clone(text).args("init", "--verify", "test -f c.txt", "--sandbox").expectExit(0);
    const { stdout, read } = await clone(null, root).terminal([CONSENT, "n\r"]).expectExit(3);
    for (const key of ["provider.command", "verify.default", "sandbox"]) expect(stdout).toContain(`\n${key}: `);
    expect(read("ran.txt")).toBeNull();
  });
});

describe("where nobody can be asked", needs("Linux", "bubblewrap", "user namespaces"), () => {
  const open = config({ sandbox: { mode: "light", read: ["~/.ssh"] } });

  test.each([
    ["without `CI`", {}],
    ["with an empty `CI`", { CI: "" }],
    ["with `CI=0`", { CI: "0" }],
  ])("%s its commands run, and it does not open the sandbox", async (_name, variables) => {
    const { stderr, read } = await clone(open).env(variables).expectExit(1);
    expect(read("seen.txt")).toBe("");
    expect(stderr).toContain("nobody has agreed to `sandbox` of ralph.config.json here: it is not obeyed");
  });

  test.each([
    ["`--no-sandbox`", clone, {}, [...RUN, "--no-sandbox"]],
    ["`CI`", clone, { CI: "true" }, RUN],
  ])("%s opens it", async (_name, make, variables, args) => {
    const { stderr, read } = await make(open).env(variables).args(...args).expectExit(1);
    expect(read("seen.txt")).toBe("SECRET\n");
    expect(stderr).not.toContain("is not obeyed");
  });

  test("what was agreed to at `ralph verify` in a terminal is obeyed", async () => {
    const { root } = await clone(open).args("verify").terminal([CONSENT, "y\r"]).expectExit(1);
    mkdirSync(join(dirname(root), "home/.ssh"), { recursive: true });
    const { read } = await clone(null, root).expectExit(1);
    expect(read("seen.txt")).toBe("SECRET\n");
  });
});
