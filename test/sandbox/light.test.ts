import {
  chmodSync,
  cpSync,
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
import { spawnSync } from "node:child_process";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ADAPTERS } from "../../lib/agents/adapters.ts";
import { verify } from "../../lib/checks/verify.ts";
import { sandboxedHost } from "../../lib/sandbox/create_sandbox.ts";
import type { Host } from "../../lib/host/types.ts";
import { createHost } from "../../lib/host/create_host.ts";
import type { AgentNeeds } from "../../lib/host/confinement.ts";
import type { DeepPartial } from "../../lib/recipe/create_ralph.ts";
import type { Config } from "../../lib/config/load.ts";
import { type TestContext, testContext } from "../../lib/testing/test_context.ts";
import { commandAgent } from "../../lib/agents/command_agent.ts";
import { ARTEFACT } from "../e2e/cli.ts";
import { needs } from "../needs.ts";
import { makeRepository } from "../repository.ts";

const NEEDS = needs("Linux", "bubblewrap", "user namespaces");
/** An ordinary user has no other place outside of the home folder, and a temporary folder may be written. */
const PARENT = process.getuid?.() === 0 ? "/var/lib" : tmpdir();
const lab = realpathSync(mkdtempSync(join(PARENT, "ralph-light-")));
const [home, out] = [join(lab, "home"), join(lab, "out")];
const isRoot = process.getuid?.() === 0;
const AS_ROOT = needs("root", "Linux", "bubblewrap", "user namespaces");
const NOBODY = 65534;
let socket: Server;

beforeAll(() => {
  for (const path of [".ssh", ".aws", ".npm", ".claude", ".codex"]) mkdirSync(join(home, path), { recursive: true });
  mkdirSync(out);
  writeFileSync(join(home, ".ssh/id"), "SECRET\n");
  writeFileSync(join(home, ".aws/credentials"), "SECRET\n");
  for (const name of [".git-credentials", ".npmrc"]) writeFileSync(join(home, name), "SECRET\n");
  writeFileSync(join(home, ".ssh/known_hosts"), "a host\n");
  writeFileSync(join(home, ".bashrc"), "keep me\n");
  socket = createServer((connection) => connection.end("hello")).listen(join(out, "daemon.sock"));
});
afterAll(() => {
  socket.close();
  rmSync(lab, { recursive: true, force: true });
});

/** The machine of a person who lives in the lab. */
function labHost(variables: Record<string, string> = {}): Host {
  const bare = createHost();
  const own = { ...bare.environment.variables, HOME: home, XDG_CACHE_HOME: undefined, ...variables };
  return { ...bare, environment: { ...bare.environment, home, variables: own } };
}

async function project(config: DeepPartial<Config> = {}, variables: Record<string, string> = {}): Promise<TestContext> {
  const light = { ...config, sandbox: { mode: "light", ...config.sandbox } } as const;
  return await testContext({ host: labHost(variables), config: light, files: { "a.txt": "a\n" } });
}

/** The same project in a later run. */
function later({ events, ...ralph }: TestContext): TestContext {
  const onOutside = (message: string): void => events.emit({ type: "note", level: "warn", message });
  const host = sandboxedHost({ ...ralph, host: labHost(), onState() {}, onRefused() {}, onOutside });
  return { ...ralph, events, host };
}

/** Runs a command as a turn. @returns what it printed */
async function turn(ralph: TestContext, command: string, needed?: AgentNeeds, item = ""): Promise<string> {
  const sandbox = { role: "turn", cwd: ralph.root, ...(needed === undefined ? {} : { needs: needed }) } as const;
  const { tail } = await ralph.host.processes.run({
    file: "/bin/sh",
    arguments: ["-c", command],
    cwd: ralph.root,
    environment: { HOME: home, RALPH_ITEM: item },
    sandbox,
  });
  return tail.trim();
}

describe("with `light`, a turn", NEEDS, () => {
  it("puts no program where others would start it", async () => {
    const [bin, real] = [join(home, ".local/bin"), join(home, ".claude/bin")];
    for (const path of [bin, real]) mkdirSync(path, { recursive: true });
    await using ralph = await project({}, { PATH: `${bin}:${real}:${process.env["PATH"]}` });
    const claude: AgentNeeds = { folders: [{ path: "~/.claude", copy: [], keep: [] }], hosts: [], keys: [] };
    const said = await turn(
      ralph,
      `for at in ${bin} ${real}; do echo '#!/bin/sh' > $at/git; done; ls ${bin} ${real}`,
      claude,
    );
    expect(said).toContain("git");
    expect(said).toContain("Read-only file system");
    expect([bin, real].map((path) => existsSync(join(path, "git")))).toEqual([false, false]);
  });

  it("puts none into a folder of PATH whose name leads there by a link either", async () => {
    const [real, link] = [join(home, ".local/bin"), `${home}-link`];
    mkdirSync(real, { recursive: true });
    symlinkSync(home, link);
    const bare = labHost({ PATH: `${real}:${process.env["PATH"]}`, HOME: link });
    const host = { ...bare, environment: { ...bare.environment, home: link } };
    await using ralph = await testContext({ host, config: { sandbox: { mode: "light" } }, files: { "a.txt": "a\n" } });
    await turn(ralph, `echo '#!/bin/sh' > ${link}/.local/bin/git; echo '#!/bin/sh' > ${real}/hg`);
    expect(["git", "hg"].map((name) => existsSync(join(real, name)))).toEqual([false, false]);
    rmSync(link);
  });

  it("reaches a socket in the home folder on which a program listens", async () => {
    const path = join(home, "agent.sock");
    const listening = createServer((connection) => connection.end("hello")).listen(path);
    await using ralph = await project();
    const script = `require("net").connect(${JSON.stringify(path)}).on("data", (d) => console.log(String(d)))`;
    expect(await turn(ralph, `node -e '${script}'`)).toBe("hello");
    listening.close();
  });

  it("leaves what it wrote, whatever a check has written beside it or before it", async () => {
    const work = async (): Promise<void> => {
      await using ralph = await project();
      const makes = `mkdir -p ${home}/tool && echo check > ${home}/tool/db`;
      expect(await verify(ralph, [makes])).toMatchObject({ status: "passed" });
      await turn(ralph, "echo turn >> ~/tool/db");
      const [note] = ralph.recorded.filter(({ type }) => type === "note") as { readonly message: string }[];
      const place = /^a turn wrote .*\/tool\/db, .* set aside in (.*)\/home$/.exec(note?.message ?? "")?.[1] ?? "";
      expect(readFileSync(join(place, "home/tool/db"), "utf8")).toBe("check\nturn\n");
      const left = join(lab, "left");
      await ralph.host.sandbox?.[Symbol.asyncDispose]();
      cpSync(place, left, { recursive: true });
    };
    await work();
    expect(readdirSync(join(lab, "left"))).toEqual(["home"]);
    expect(readFileSync(join(lab, "left/home/tool/db"), "utf8")).toBe("check\nturn\n");
  });

  it("replaces a file of the agent itself, and names it only if somebody else wrote there meanwhile", async () => {
    await using ralph = await project();
    const needs: AgentNeeds = { folders: [{ path: "~", copy: [".agent.json"], keep: [] }], hosts: [], keys: [] };
    const write = (text: string): Promise<string> =>
      turn(ralph, `echo ${text} > ~/.agent.json.tmp && mv ~/.agent.json.tmp ~/.agent.json; cat ~/.agent.json`, needs);
    const path = join(home, ".agent.json");
    expect(await write("one")).toBe("one");
    expect(await write("two")).toBe("two");
    expect(readFileSync(path, "utf8")).toBe("two\n");
    expect(ralph.recorded.filter(({ type }) => type === "note")).toEqual([]);

    writeFileSync(path, "of a person\n");
    expect(await write("three")).toBe("three");
    expect(readFileSync(path, "utf8")).toBe("of a person\n");
    expect(ralph.recorded.filter(({ type }) => type === "note")).toMatchObject([
      { message: expect.stringContaining(`a turn wrote ${path}, outside of the tree`) },
    ]);
  });

  it("reads no secrets, and a configuration that names one opens it", async () => {
    await using ralph = await project();
    expect(await turn(ralph, "cat ~/.ssh/id ~/.aws/credentials ~/.git-credentials ~/.bashrc 2>/dev/null")).toBe(
      "keep me",
    );

    await using open = await project({ sandbox: { read: ["~/.git-credentials"] } });
    expect(await turn(open, "cat ~/.ssh/id ~/.git-credentials 2>/dev/null")).toBe("SECRET");
  });

  it("reads the login that a build fetches with, and the hosts that ssh knows", async () => {
    await using ralph = await project();
    expect(await turn(ralph, "cat ~/.npmrc ~/.ssh/known_hosts; echo more >> ~/.npmrc; cat ~/.ssh/id 2>/dev/null")).toBe(
      "SECRET\na host",
    );
    expect(readFileSync(join(home, ".npmrc"), "utf8")).toBe("SECRET\n");
  });

  it("borrows a login of the cloud where the agent is told so", async () => {
    await using ralph = await project({}, { CLAUDE_CODE_USE_BEDROCK: "1" });
    expect(await turn(ralph, "cat ~/.aws/credentials ~/.ssh/id 2>/dev/null")).toBe("SECRET");
  });

  it("writes the tree, temporary folders and caches; what else it writes at home is not there", async () => {
    await using ralph = await project();
    const shared = join(tmpdir(), `ralph-light-${ralph.host.ids.random(8)}`);

    const said = await turn(
      ralph,
      `echo b > b.txt; echo c > ${shared}; echo d > ~/.npm/d; echo lost > ~/.bashrc; mkdir ~/new && cat ~/.bashrc
      (echo x > ${out}/x) 2>&1`,
    );

    expect(said).toContain("lost");
    if (isRoot) expect(said).toContain("Read-only file system");
    expect([join(ralph.root, "b.txt"), shared, join(home, ".npm/d")].map((path) => readFileSync(path, "utf8")))
      .toEqual(["b\n", "c\n", "d\n"]);
    expect(readFileSync(join(home, ".bashrc"), "utf8")).toBe("keep me\n");
    expect(existsSync(join(home, "new"))).toBe(false);
    if (isRoot) expect(existsSync(join(out, "x"))).toBe(false);
    rmSync(shared);
  });

  it("keeps off git's settings and Ralph's files, and commits", async () => {
    await using ralph = await project();
    mkdirSync(join(ralph.root, ".git/ralph"), { recursive: true });
    await turn(
      ralph,
      `echo evil > .git/hooks/pre-commit; git config core.fsmonitor evil; touch .git/ralph/x
      echo b > b.txt; git add -A; git commit -qm work`,
    );
    expect(existsSync(join(ralph.root, ".git/hooks/pre-commit"))).toBe(false);
    expect(existsSync(join(ralph.root, ".git/ralph/x"))).toBe(false);
    expect(readFileSync(join(ralph.root, ".git/config"), "utf8")).not.toContain("evil");
    expect(await ralph.tree.git("log", "-1", "--format=%s")).toContain("work");
  });

  it("finds what an earlier one wrote at home, and so do checks, also after somebody ended what holds it", async () => {
    await using ralph = await project();
    expect(await turn(ralph, "mkdir ~/tool && echo made > ~/tool/bin")).toBe("");
    expect(await verify(ralph, [`grep -q made ${home}/tool/bin`])).toMatchObject({ status: "passed" });

    spawnSync("sh", [
      "-c",
      `for id in $(grep -lF ralph-light /proc/[0-9]*/mountinfo | cut -d/ -f3); do
      grep -q '(stopped)' /proc/$id/status && kill -9 $id; done`,
    ]);
    await wait(300);

    expect(await turn(ralph, "cat ~/tool/bin && echo again >> ~/tool/bin; cat ~/tool/bin")).toBe("made\nmade\nagain");
    expect(existsSync(join(home, "tool"))).toBe(false);
    expect(ralph.recorded.filter(({ type }) => type === "note")).toMatchObject([
      { message: expect.stringContaining(`a turn wrote ${home}/tool/bin, outside of the tree`) },
    ]);
  });

  it("runs the project's hooks, and none that it wrote is run by others", async () => {
    await using ralph = await project();
    const hooks = join(ralph.root, ".git/hooks");
    mkdirSync(hooks, { recursive: true });
    writeFileSync(join(hooks, "pre-commit"), "#!/bin/sh\necho ran >> hooks.txt\n", { mode: 0o755 });
    await turn(
      ralph,
      `echo b > b.txt; git add b.txt; git commit -qm work
      echo evil > .git/hooks/pre-commit; echo evil > .git/hooks/post-commit`,
    );
    expect(readFileSync(join(ralph.root, "hooks.txt"), "utf8")).toBe("ran\n");
    expect(readFileSync(join(hooks, "pre-commit"), "utf8")).toContain("hooks.txt");
    expect(existsSync(join(hooks, "post-commit"))).toBe(false);
  });

  it("sets git's settings; those that name a program are put back after it", async () => {
    await using ralph = await project();
    await turn(ralph, "git config user.email turn@example.com && git config --local user.email > e.txt");
    await turn(ralph, "git config core.hooksPath .husky && git config core.hooksPath > h.txt; git remote add hub x:y");
    const settings = readFileSync(join(ralph.root, ".git/config"), "utf8");
    expect(settings).toContain("turn@example.com");
    expect(settings).toContain('[remote "hub"]\n\turl = x:y');
    expect(settings).not.toContain("husky");
    expect(readFileSync(join(ralph.root, "h.txt"), "utf8")).toBe(".husky\n");
    expect(ralph.recorded.filter(({ type }) => type === "note")).toMatchObject([
      { message: expect.stringContaining("set aside: .git/config (what may name a program is as before)") },
    ]);
  });

  it("reaches the services of the machine, by port and by socket, and leaves no process", async () => {
    await using ralph = await project();
    const path = JSON.stringify(join(out, "daemon.sock"));
    const mark = `4${Math.floor(Math.random() * 1e8)}`;
    const said = await turn(
      ralph,
      `sleep ${mark} & node -e 'require("net").connect(${path}).on("data", (d) => console.log(String(d)))'`,
    );
    expect(said).toBe("hello");
    const { stdout } = await ralph.host.processes.run({ file: "ps", arguments: ["-eo", "args"], cwd: "/" });
    expect(stdout).not.toContain(`sleep ${mark}`);
  });
});

const ESCAPES = {
  "the root of another process": "cat /proc/[0-9]*/root$SECRET /proc/[0-9]*/cwd$SECRET",
  "unmounting what hides it": "umount -l $HOME/.ssh; cat $SECRET",
  "mounting what is below": "mount --bind / /tmp && cat /tmp$SECRET; mount -t proc p /tmp && cat /tmp/1/root$SECRET",
  "a namespace of its own": "unshare -Urm sh -c 'umount -l $HOME/.ssh; mount --bind / /tmp; cat $SECRET /tmp$SECRET'",
  "the namespace of another process": "for id in $(cd /proc; ls -d [0-9]*); do nsenter -t $id -m cat $SECRET; done",
  "the disk":
    "mknod /tmp/disk-$$ b $(stat -c '%Hd %Ld' $SECRET_FOLDER) && head -c 1 /tmp/disk-$$ >/dev/null && echo SECRET",
};

it.each(Object.entries(ESCAPES))("with `light`, no secret is seen by %s", NEEDS, async (_name, command) => {
  await using ralph = await project();
  const said = await turn(ralph, `SECRET=${home}/.ssh/id; SECRET_FOLDER=${home}; export SECRET; { ${command}; } 2>&1`);
  expect(said).not.toMatch(/^SECRET/m);
});

it("with `light`, root changes owners, becomes others and starts a sandbox", AS_ROOT, async () => {
  await using ralph = await project();
  const said = await turn(
    ralph,
    `touch o && chown nobody o && stat -c %U o && su nobody -s /bin/sh -c 'id -un' && bwrap --ro-bind / / echo inside
    test -d /proc/${process.pid} && echo the same numbers`,
  );
  expect(said).toBe("nobody\nnobody\ninside\nthe same numbers");
});

describe("with `light`, a login that the agent renews is kept", NEEDS, () => {
  const rows = ADAPTERS.flatMap(({ name, needs }) =>
    needs.folders.flatMap((folder) => folder.keep.map((file) => ({ name, needs, file: `${folder.path}/${file}` })))
  );
  it.each(rows)("$name: $file", async ({ needs: needed, file }) => {
    const path = file.replace("~", home);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, "old");
    await using ralph = await project();

    expect(await turn(ralph, `cat ${file} && printf new > ${file}.tmp && mv ${file}.tmp ${file}`, needed)).toBe("old");

    expect(readFileSync(path, "utf8")).toBe("new");
  });

  it("also where a script starts the agent", async () => {
    const path = join(home, ".claude/.credentials.json");
    writeFileSync(path, "old");
    await using ralph = await project();
    const script = join(ralph.root, "agent.sh");
    writeFileSync(script, `printf new > ${path}\n`);
    const agent = commandAgent({ command: `sh ${script}`, host: ralph.host });
    await agent.runTurn({
      prompt: "",
      cwd: ralph.root,
      timeoutMs: 20_000,
      signal: ralph.signal,
      transcript: join(ralph.root, "t.log"),
      environment: {},
    } as never);
    expect(readFileSync(path, "utf8")).toBe("new");
  });
});

it("with `light`, a turn finds programs and files in /dev/shm", NEEDS, async () => {
  const shared = mkdtempSync("/dev/shm/ralph-light-");
  writeFileSync(join(shared, "of-the-person"), "#!/bin/sh\necho found\n", { mode: 0o755 });
  await using ralph = await project();
  expect(await turn(ralph, `${shared}/of-the-person && touch ${shared}/of-the-turn`)).toBe("found");
  expect(existsSync(join(shared, "of-the-turn"))).toBe(true);
  rmSync(shared, { recursive: true });
});

describe("with `light`, a check", NEEDS, () => {
  it("runs inside while it passes there", async () => {
    await using ralph = await project();
    const checks = [`! cat ${home}/.ssh/id`];
    expect(await verify(ralph, checks)).toMatchObject({ status: "passed" });
    const isolated = { ...ralph, config: { ...ralph.config, verify: { ...ralph.config.verify, isolated: true } } };
    expect(await verify(isolated, checks)).toMatchObject({ status: "passed" });
    expect(ralph.recorded.filter(({ type }) => type === "note")).toEqual([]);
  });

  it("that needs a login of the person runs outside, also where it names no path", async () => {
    await using ralph = await project();
    const installs = `grep -q SECRET ${home}/.git-cred* 2>&- || { echo 'npm error code E401'; exit 1; }`;
    expect(await verify(ralph, [installs])).toMatchObject({ status: "passed" });
    expect(ralph.recorded.filter(({ type }) => type === "note")).toMatchObject([{
      message: expect.stringContaining("fails inside of the sandbox and runs outside"),
    }]);
  });

  it("that passes outside alone runs there from then on, and a warning says why", async () => {
    await using ralph = await project();
    const secret = `cat ${home}/.ssh/id && echo again >> ${ralph.root}/../count-${ralph.run.id}`;
    expect(await verify(ralph, [secret])).toMatchObject({ status: "passed" });
    expect(await verify(ralph, [secret])).toMatchObject({ status: "passed" });
    const notes = ralph.recorded.filter(({ type }) => type === "note");
    expect(notes).toMatchObject([{
      level: "warn",
      message: expect.stringContaining(`add "${home}/.ssh" to \`sandbox.read\``),
    }]);
    rmSync(`${ralph.root}/../count-${ralph.run.id}`);
  });

  it("is told the path that it wanted, and the setting that allows it", AS_ROOT, async () => {
    await using ralph = await project();
    const writes = `echo x > ${out}/of-check`;
    expect(await verify(ralph, [writes])).toMatchObject({ status: "passed" });
    const [note] = ralph.recorded.filter(({ type }) => type === "note");
    expect(note).toMatchObject({ message: expect.stringContaining(`add "${out}" to \`sandbox.write\``) });

    await using open = await project({ sandbox: { write: [out] } });
    expect(await verify(open, [writes])).toMatchObject({ status: "passed" });
    expect(open.recorded.filter(({ type }) => type === "note")).toEqual([]);
  });

  it("whose command fails is run once more outside, a single time, and stays failed", async () => {
    await using ralph = await project();
    expect(await verify(ralph, ["echo no >> ran.txt; false"])).toMatchObject({ status: "failed" });
    expect(readFileSync(join(ralph.root, "ran.txt"), "utf8")).toBe("no\nno\n");
    expect(await verify(ralph, ["echo no >> ran.txt; false"])).toMatchObject({ status: "failed" });
    expect(readFileSync(join(ralph.root, "ran.txt"), "utf8")).toBe("no\nno\nno\n");
  });

  it("is not let out by what a turn wrote, nor in a later run on the branch", async () => {
    await using ralph = await project();
    const [suite, late] = ["sh ./a.txt", "sh ./a.txt again"];
    writeFileSync(join(ralph.root, "a.txt"), "exit 1\n");
    expect(await verify(ralph, [suite])).toMatchObject({ status: "failed" });
    const theft = `cat ${home}/.ssh/id >> stolen.txt || { echo Permission denied; exit 1; }`;
    await turn(ralph, `echo '${theft}' > a.txt`, undefined, "US-001");
    expect(await verify(ralph, [suite])).toMatchObject({ status: "failed" });
    expect(await verify(later(ralph), [late])).toMatchObject({ status: "failed" });
    expect(readFileSync(join(ralph.root, "stolen.txt"), "utf8")).toBe("");
    expect(ralph.recorded.filter(({ type }) => type === "note")).toMatchObject([
      { message: expect.stringMatching(/^the check `sh .\/a.txt` fails inside of the sandbox: cat: .*\.ssh/) },
      { message: expect.stringContaining("a.txt again` fails inside") },
    ]);
  });

  it("that is unsteady stays inside", async () => {
    await using ralph = await project();
    const once = "test -f steady || { touch steady; exit 1; }";
    expect(await verify(ralph, [once])).toMatchObject({ status: "passed" });
    expect(ralph.recorded.filter(({ type }) => type === "note")).toEqual([]);
  });

  it("that expects an output is confined as well", async () => {
    await using ralph = await project();
    const check = { name: "key", command: `cat ${home}/.ssh/id; echo done`, expect: { output: "done" } };
    await verify(ralph, [check]);
    expect((await verify(ralph, [{ ...check, expect: { output: "SECRET" } }])).status).toBe("failed");
  });
});

it("an ordinary user stays who it is, and sees no secret by another process", AS_ROOT, () => {
  const [folder, own] = [join(lab, "user/project"), join(lab, "user/home")];
  mkdirSync(join(own, ".ssh"), { recursive: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(own, ".ssh/id"), "SECRET\n");
  const story = { id: "US-001", title: "A", acceptanceCriteria: ["A"], priority: 1, passes: false, notes: "" };
  makeRepository(folder, {
    files: {
      "ralph.config.json": JSON.stringify({ sandbox: { mode: "light" } }),
      "scripts/ralph/prd.json": JSON.stringify({ branchName: "main", userStories: [story] }),
    },
  });
  for (const path of [lab, join(lab, "user")]) chmodSync(path, 0o755);
  spawnSync("chown", ["-R", `${NOBODY}:${NOBODY}`, join(lab, "user")]);
  const agent = "id -u > uid.txt; cat /proc/[0-9]*/root$HOME/.ssh/id $HOME/.ssh/id > seen.txt; echo x > $HOME/new";
  const { stderr } = spawnSync(
    ARTEFACT[0]!,
    [...ARTEFACT.slice(1), "run", "--agent-cmd", agent, "--verify", "false", "--max-iterations", "1", "--ui", "plain"],
    {
      cwd: folder,
      uid: NOBODY,
      gid: NOBODY,
      encoding: "utf8",
      env: { PATH: process.env["PATH"], HOME: own, GIT_CONFIG_NOSYSTEM: "1", CI: "1" },
    },
  );
  expect(stderr).toContain("sandbox: bubblewrap (light)");
  expect(readFileSync(join(folder, "uid.txt"), "utf8")).toBe(`${NOBODY}\n`);
  expect(readFileSync(join(folder, "seen.txt"), "utf8")).toBe("");
  expect(existsSync(join(own, "new"))).toBe(false);
});

it(
  "by default an ordinary user's turns are confined, can open all in the tree, and root's are not",
  AS_ROOT,
  () => {
    for (const uid of [0, NOBODY]) {
      const [folder, own] = [join(lab, `default-${uid}/project`), join(lab, `default-${uid}/home`)];
      mkdirSync(join(own, ".ssh"), { recursive: true });
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(own, ".ssh/id"), "SECRET\n");
      const story = { id: "US-001", title: "A", acceptanceCriteria: ["A"], priority: 1, passes: false, notes: "" };
      const prd = JSON.stringify({ branchName: "main", userStories: [story] });
      makeRepository(folder, { files: { "scripts/ralph/prd.json": prd } });
      for (const path of [lab, join(lab, `default-${uid}`)]) chmodSync(path, 0o755);
      spawnSync("chown", ["-R", `${uid}:${uid}`, join(lab, `default-${uid}`)]);
      const agent =
        "cat $HOME/.ssh/id > seen.txt; find . $HOME > found.txt 2>&1; grep -rl SECRET . $HOME >> found.txt; git config core.fsmonitor evil";
      const words = ["run", "--agent-cmd", agent, "--verify", "test -d .", "--max-iterations", "1", "--ui", "plain"];
      const env = { PATH: process.env["PATH"], HOME: own, GIT_CONFIG_NOSYSTEM: "1", CI: "1" };
      const options = { cwd: folder, uid, gid: uid, encoding: "utf8", env } as const;
      const { stderr } = spawnSync(ARTEFACT[0]!, [...ARTEFACT.slice(1), ...words], options);
      expect(readFileSync(join(folder, "seen.txt"), "utf8")).toBe(uid === 0 ? "SECRET\n" : "");
      expect(stderr.includes("sandbox: bubblewrap (auto)")).toBe(uid !== 0);
      expect(readFileSync(join(folder, "found.txt"), "utf8")).not.toMatch(uid === 0 ? /denied/ : /denied|\.ssh\/id/);
      expect(stderr.includes("set aside: .git/config")).toBe(uid !== 0);
    }
  },
);

it("`off` confines nothing", NEEDS, async () => {
  await using ralph = await project({ sandbox: { mode: "off" } });
  expect(await turn(ralph, "cat ~/.ssh/id")).toBe("SECRET");
});
