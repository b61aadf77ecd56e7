import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import { createHost } from "../../lib/host/create_host.ts";
import { readPlace } from "../../lib/sandbox/read_place.ts";
import { testContext } from "../../lib/testing/test_context.ts";
import { ARTEFACT } from "../e2e/cli.ts";
import { needs } from "../needs.ts";
import { makeRepository } from "../repository.ts";

const NEEDS = needs("Linux", "bubblewrap", "user namespaces");
const NOBODY = 65534;
const isRoot = process.getuid?.() === 0;
const labs: string[] = [];
afterAll(() => {
  for (const lab of labs) {
    spawnSync("chmod", ["-R", "u+rwx", lab]); // a check has closed a folder, where it was tried outside
    rmSync(lab, { recursive: true, force: true });
  }
});

/** A person's home folder, and a project in it. */
function person(as: "root" | "another") {
  const lab = realpathSync(mkdtempSync(join(tmpdir(), "ralph-home-test-")));
  labs.push(lab);
  const [home, root] = [join(lab, "home"), join(lab, "home/a, project")];
  mkdirSync(root, { recursive: true });
  writeFileSync(join(home, ".bashrc"), "keep me\n");
  const story = { id: "US-001", title: "A", acceptanceCriteria: ["A"], priority: 1, passes: false, notes: "" };
  const prd = JSON.stringify({ branchName: "main", userStories: [story] });
  const config = JSON.stringify({ sandbox: { mode: "light" } });
  const files = { ".gitignore": ".env\n", "ralph.config.json": config, "scripts/ralph/prd.json": prd };
  makeRepository(root, { files });
  writeFileSync(join(root, ".env"), "KEY=1\n");
  const uid = as === "root" ? process.getuid!() : NOBODY;
  if (as === "another") { for (const path of [lab, tmpdir()]) chmodSync(path, path === lab ? 0o755 : 0o1777); }
  if (as === "another") spawnSync("chown", ["-R", `${NOBODY}:${NOBODY}`, lab]);
  const environment = { PATH: process.env["PATH"], HOME: home, GIT_CONFIG_NOSYSTEM: "1", TMPDIR: tmpdir(), CI: "1" };
  const words = (agent: string, check = "false"): string[] => [
    ...ARTEFACT,
    "run",
    "--agent-cmd",
    agent,
    "--verify",
    check,
    "--max-iterations",
    "1",
    "--ui",
    "plain",
  ];
  const options = (env = {}) => ({ cwd: root, uid, env: { ...environment, ...env }, encoding: "utf8" as const });
  return {
    home,
    root,
    uid,
    words,
    options,
    run(agent: string, check?: string, env?: Record<string, string>): string {
      const [file = "", ...rest] = words(agent, check);
      return spawnSync(file, rest, options(env)).stderr;
    },
    /** The folders that are set aside. */
    aside: () => existsSync(join(root, ".git/ralph/aside")) ? readdirSync(join(root, ".git/ralph/aside")) : [],
  };
}

describe.each(isRoot ? ["root", "another"] as const : ["root"] as const)("with `light`, of %s", NEEDS, (as) => {
  it("files that a turn puts into the home folder are set aside and named; those of a check are gone", () => {
    const { home, root, run, aside } = person(as);
    const agent =
      "mkdir ~/backup; mv .env ~/backup/; for n in 1 2 3; do echo $n > ~/z$n; done; rm ~/.bashrc; chmod 0 ~/backup";

    const said = run(agent, "mkdir ~/closed; echo x > ~/closed/x; chmod 555 ~/closed; false");

    expect(said).toContain(`a turn wrote ${home}/backup/.env, ${home}/z1, ${home}/z2 and 1 more, outside of the tree`);
    const [name, ...others] = aside();
    expect(others).toEqual([]);
    const kept = join(root, ".git/ralph/aside", name ?? "");
    expect(said).toContain(`set aside in ${kept}/home`);
    expect(readdirSync(kept)).toEqual(["home"]);
    expect(readFileSync(join(kept, "home/backup/.env"), "utf8")).toBe("KEY=1\n");
    expect(readFileSync(join(home, ".bashrc"), "utf8")).toBe("keep me\n");
    expect(existsSync(join(home, "backup"))).toBe(false);
  });

  it("a turn that writes nothing there leaves nothing", () => {
    const { run, aside } = person(as);
    expect(run("echo x > a.txt; mkdir ~/empty; rm ~/.bashrc")).not.toContain("set aside");
    expect(aside()).toEqual([]);
  });

  it("files of a run that was killed are named by the next one", async () => {
    const { root, run, words, options, aside } = person(as);
    const [file = "", ...rest] = words("mv .env ~/; touch started; sleep 30");
    const { env, cwd, uid } = options();
    const killed = spawn(file, rest, { env, cwd, uid, stdio: "ignore" });
    for (let tries = 0; tries < 300 && !existsSync(join(root, "started")); tries += 1) await wait(100);
    killed.kill("SIGKILL");
    await wait(500);

    expect(run("true")).toContain("/home/.env, outside of the tree: set aside in");
    expect(aside()).toHaveLength(1);
    expect(readdirSync(join(root, ".git/ralph/aside", aside()[0] ?? ""))).toEqual(["home"]);
  });

  it("a file system that is mounted in the home folder is seen, or `light` is off and says so", needs("root"), () => {
    const { home, uid, words, options } = person(as);
    mkdirSync(join(home, "data"));
    chmodSync(join(home, "data"), 0o777);
    const script = `mount -t tmpfs none "$HOME/data" && echo there > "$HOME/data/a" && chmod 777 "$HOME/data"
      exec setpriv --reuid ${uid} --regid ${uid} --clear-groups -- "$@"`;
    const { env, cwd } = options();
    const there = (command: readonly string[]): string => {
      const arguments_ = ["-m", "sh", "-c", script, "sh", ...command];
      return spawnSync("unshare", arguments_, { env, cwd, encoding: "utf8" }).stdout;
    };
    there(words("cat ~/data/a > seen.txt; echo lost > ~/data/b || echo refused >> seen.txt"));
    const doctor = there([...ARTEFACT, "doctor"]);
    expect(readFileSync(join(cwd, "seen.txt"), "utf8")).toBe(as === "root" ? "there\nrefused\n" : "there\n");
    expect(doctor).toContain(
      as === "root" ? "bubblewrap (light)" : `a file system is mounted at ${home}/data in the home folder`,
    );
  });

  it("a home folder behind a link is one, for the clean checkout too", () => {
    const { home, root, run } = person(as);
    symlinkSync(home, `${home}-link`);
    const said = run("echo x > a.txt; echo y > ~/y; echo '<promise>COMPLETE</promise>'", "test -e a.txt", {
      HOME: `${home}-link`,
    });
    expect(said).toContain("bubblewrap (light)");
    expect(said).toContain("set aside in");
    expect(said).toContain("1 verified");
    expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("x\n");
  });
});

const SYSTEM = "with HOME=%s the secrets are those of the home folder that the system has";
it.each(["/", "/nonexistent"])(SYSTEM, NEEDS, async (home) => {
  const bare = createHost();
  await using ralph = await testContext({ host: { ...bare, environment: { ...bare.environment, home } } });
  const known = spawnSync("getent", ["passwd", `${process.getuid?.()}`], { encoding: "utf8" }).stdout.split(":")[5];
  expect((await readPlace(ralph, ralph.root)).home).toBe(known);
});
