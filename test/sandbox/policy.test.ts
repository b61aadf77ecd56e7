import { describe, expect, it } from "vitest";
import { ADAPTERS, findAdapter } from "../../lib/agents/adapters.ts";
import { CONFIG_SCHEMA } from "../../lib/config/schema.ts";
import { defaultConfig } from "../../lib/config/defaults.ts";
import { strictConfig } from "../../lib/config/strict.ts";
import type { SandboxConfig } from "../../lib/config/load.ts";
import { bubblewrapArguments, mountsOf, type PathLook } from "../../lib/host/bubblewrap.ts";
import type { SandboxRequest } from "../../lib/host/confinement.ts";
import { policyOf, type SandboxPlace } from "../../lib/sandbox/policy.ts";

const PLACE: SandboxPlace = {
  home: "/home/ada",
  variables: { PATH: "/usr/bin", EDITOR: "vi" },
  programs: ["/usr/bin"],
  tree: "/home/ada/tree",
  git: { directory: "/home/ada/tree/.git", common: "/home/ada/tree/.git", otherWorktrees: [] },
  hooks: null,
  protected: ["/home/ada/tree/ralph.config.json"],
  ralph: ["/usr/local/bin/ralph"],
  caches: "/home/ada/.cache/ralph-sandbox/1",
  checkouts: "/home/ada/.cache/checkouts",
  homes: [],
  logins: "",
  overlay: "/home/ada/.cache/ralph-sandbox/overlay",
  services: [],
};
const TURN: SandboxRequest = { role: "turn", cwd: PLACE.tree };
const CHECK: SandboxRequest = { role: "check", cwd: PLACE.tree };

function policy(asked: SandboxRequest, config: Partial<SandboxConfig> = {}, place: Partial<SandboxPlace> = {}) {
  return policyOf({ ...PLACE, ...place }, asked, { ...defaultConfig().sandbox, ...config });
}

/** Every path of these exists, as a folder unless its name has a dot in it that is not the first letter. */
const ALL: PathLook = { real: (path) => path, isFolder: (path) => !/[^/]\.[a-z]+$/.test(path) };

/** The access to a path: as bubblewrap's mounts decide, the deepest one that holds it. */
function access(confinement: ReturnType<typeof policy>, path: string): string {
  const holder = mountsOf(confinement, ALL).filter(({ at }) => at === path || path.startsWith(`${at}/`)).at(-1);
  return holder?.access ?? "read";
}

describe("policyOf: what a turn may touch", () => {
  it.each([
    ["the tree", "/home/ada/tree/src/a.ts", "write"],
    ["git's objects", "/home/ada/tree/.git/objects/ab", "write"],
    ["git's hooks", "/home/ada/tree/.git/hooks/pre-commit", "never"],
    ["git's configuration", "/home/ada/tree/.git/config", "never"],
    ["git's attributes", "/home/ada/tree/.git/info/attributes", "never"],
    ["Ralph's journal", "/home/ada/tree/.git/ralph/journal.jsonl", "never"],
    ["submodules' git directories", "/home/ada/tree/.git/modules/x/config", "never"],
    ["the configuration", "/home/ada/tree/ralph.config.json", "never"],
    ["the home folder", "/home/ada/notes.txt", "hidden"],
    ["another's home folder", "/home/bob/notes.txt", "hidden"],
    ["keys", "/home/ada/.ssh/id_ed25519", "hidden"],
    ["tokens of npm", "/home/ada/.npmrc", "hidden"],
    ["tokens of cargo, beside its programs", "/home/ada/.cargo/credentials.toml", "hidden"],
    ["programs of cargo", "/home/ada/.cargo/bin/rustc", "read"],
    ["git's settings", "/home/ada/.gitconfig", "read"],
    ["a cache", "/home/ada/.npm/_cacache/x", "cache"],
    ["sockets of services", "/run/docker.sock", "hidden"],
    ["temporary files", "/tmp/x", "hidden"],
    ["the system", "/usr/bin/git", "read"],
    ["passwords", "/etc/shadow", "hidden"],
  ])("%s", (_name, path, expected) => {
    expect(access(policy(TURN), path)).toBe(expected);
  });

  it("what it is asked for besides: claims, a folder of its own, and the runs that it must not write", () => {
    const asked = { ...TURN, write: ["/tmp/ralph-claims-1"], never: ["/home/ada/tree/.ralph/runs"] };
    expect(access(policy(asked), "/tmp/ralph-claims-1/x")).toBe("write");
    expect(access(policy(asked), "/home/ada/tree/.ralph/runs/1/events.ndjson")).toBe("never");
  });

  it("a worktree's turn writes that worktree and not the others, nor the main tree", () => {
    const git = {
      directory: "/home/ada/tree/.git/worktrees/a",
      common: "/home/ada/tree/.git",
      otherWorktrees: ["/home/ada/tree/.git/worktrees/b"],
    };
    const found = policy({ ...TURN, cwd: "/home/ada/tree-a" }, {}, { tree: "/home/ada/tree-a", git });
    expect(access(found, "/home/ada/tree-a/x.ts")).toBe("write");
    expect(access(found, "/home/ada/tree/x.ts")).toBe("hidden");
    expect(access(found, "/home/ada/tree/.git/worktrees/a/HEAD")).toBe("write");
    expect(access(found, "/home/ada/tree/.git/worktrees/b/HEAD")).toBe("never");
    expect(access(found, "/home/ada/tree/.git/hooks/x")).toBe("never");
  });

  it("a checkout is shown at the tree's path, and nothing of the repository can be written", () => {
    const found = policy({ ...CHECK, shown: [{ from: "/home/ada/.cache/checkouts/1/tree", at: PLACE.tree }] });
    expect(mountsOf(found, ALL).find(({ at }) => at === PLACE.tree)).toEqual({
      at: PLACE.tree,
      from: "/home/ada/.cache/checkouts/1/tree",
      access: "shown",
    });
    expect(found.write).toEqual([]);
  });

  it("what PATH names is read, and what its links lead to; in the tree it stays writable", () => {
    const programs = ["/home/ada/.npm-global/bin", "/home/ada/tree/node_modules/.bin", "/home/ada/bin"];
    const found = policy(TURN, {}, { programs });
    expect(access(found, "/home/ada/.npm-global/lib/node_modules/x/cli.js")).toBe("read");
    expect(access(found, "/home/ada/tree/node_modules/x/index.js")).toBe("write");
    expect(access(found, "/home/ada/bin/tool")).toBe("read");
    expect(access(found, "/home/ada/notes.txt")).toBe("hidden");
  });

  it("a folder with programs beside secrets does not show the secrets", () => {
    expect(access(policy(TURN, {}, { programs: ["/home/ada/.docker/bin"] }), "/home/ada/.docker/config.json"))
      .toBe("hidden");
  });

  it("the configuration opens more, at its own word even a secret", () => {
    const found = policy(TURN, { read: ["~/.npmrc"], write: ["~/.m2"] });
    expect(access(found, "/home/ada/.npmrc")).toBe("read");
    expect(access(found, "/home/ada/.m2/settings.xml")).toBe("write");
  });

  it("a project in /dev/shm: what is read there is bound, since the devices are a process's own", () => {
    const found = policy({ ...TURN, read: ["/dev/shm/agent.sh"] }, {}, { tree: "/dev/shm/tree" });
    expect(access(found, "/dev/shm/agent.sh")).toBe("read");
    expect(mountsOf(found, ALL).map(({ at }) => at)).toContain("/dev/shm/agent.sh");
    expect(access(found, "/dev/shm/tree/a.ts")).toBe("write");
  });

  it("folders above what must not be written cannot be renamed away", () => {
    const found = policy(TURN, {}, { protected: ["/home/ada/tree/a/b/rules.txt"] });
    expect(mountsOf(found, ALL).filter(({ at }) => at.startsWith("/home/ada/tree/a")).map(({ at }) => at)).toEqual([
      "/home/ada/tree/a",
      "/home/ada/tree/a/b",
      "/home/ada/tree/a/b/rules.txt",
    ]);
  });

  it("a cache that is not there is made in a folder of its own, and not in one that is shown", () => {
    const look: PathLook = {
      ...ALL,
      real: (path) => path.includes("/.cargo/git") && !path.includes("/caches/") ? null : path,
    };
    const caches = "/caches/1";
    expect(access(policyOf({ ...PLACE, caches }, TURN, defaultConfig().sandbox), "/home/ada/.cargo/git/x")).toBe(
      "cache",
    );
    const shown = policy(TURN, {}, { caches, programs: ["/home/ada/.cargo/bin"] });
    expect(mountsOf(shown, look).filter(({ at }) => at === "/home/ada/.cargo/git")).toEqual([]);
    expect(mountsOf(policy(TURN, {}, { caches }), look).filter(({ at }) => at === "/home/ada/.cargo/git")).toHaveLength(
      1,
    );
  });

  it("what is not there costs no mount", () => {
    const none: PathLook = { real: () => null, isFolder: () => false };
    expect(mountsOf(policy(TURN), none)).toEqual([]);
  });
});

describe("policyOf: what a process may reach", () => {
  const agent = { ...TURN, needs: findAdapter("claude")!.needs };
  it.each(
    [
      ["an agent its own hosts and those that are allowed", agent, { allow: ["a.example"] }, "api.anthropic.com", true],
      ["a check not the agent's hosts", CHECK, { allow: ["a.example"] }, "api.anthropic.com", false],
      ["a check those that are allowed", CHECK, { allow: ["a.example"] }, "a.example", true],
    ] as const,
  )("%s", (_name, asked, config, host, reached) => {
    expect(policy(asked, config).network.includes(host)).toBe(reached);
  });

  it("a check reaches the services, a turn does not, and a service listens on the machine", () => {
    expect(policy(CHECK, {}, { services: [3000] }).network).toEqual(["localhost:3000"]);
    expect(policy({ ...TURN }, {}, { services: [3000] }).network).toEqual([]);
    expect(policy({ ...TURN, role: "service" }).network).toBe("all");
  });

  it("`none` and `all` are what they say", () => {
    expect(policy(agent, { network: "none", allow: ["a.example"] }).network).toBe("none");
    expect(policy(agent, { network: "all" }).network).toBe("all");
  });
});

describe("policyOf: what is in the environment", () => {
  const variables = {
    AWS_SECRET_ACCESS_KEY: "x",
    ANTHROPIC_API_KEY: "x",
    SSH_AUTH_SOCK: "/x",
    EDITOR: "vi",
    DB_URL: "x",
  };
  it("secrets are dropped, but the agent's own keys and what the configuration names", () => {
    const found =
      policy({ ...TURN, needs: findAdapter("claude")!.needs }, { environment: ["DB_URL"] }, { variables }).environment;
    expect(found).toHaveProperty("AWS_SECRET_ACCESS_KEY", undefined);
    expect(found).toHaveProperty("SSH_AUTH_SOCK", undefined);
    expect(Object.keys(found).sort()).toEqual(["AWS_SECRET_ACCESS_KEY", "SSH_AUTH_SOCK"]);
  });

  it("a check has no key of the agent's", () => {
    expect(policy(CHECK, {}, { variables }).environment).toHaveProperty("ANTHROPIC_API_KEY", undefined);
  });
});

describe.each(ADAPTERS)("what $name needs", ({ name, needs }) => {
  it("names hosts, keys and folders in the forms that a policy takes", () => {
    const allow = [...needs.hosts];
    expect(CONFIG_SCHEMA.safeParse({ sandbox: { allow } }).success, `hosts of ${name}`).toBe(true);
    if (name !== "builtin") expect(needs.hosts.length).toBeGreaterThan(0); // its host is the endpoint's
    expect(needs.keys.every((key) => /^[A-Z_]+$/.test(key))).toBe(true);
    for (const { path, copy, keep } of needs.folders) {
      expect(path).toMatch(/^~(?:\/|$)/);
      expect([...copy, ...keep].filter((file) => file.startsWith("/") || file.split("/").includes(".."))).toEqual([]);
      expect(keep.filter((file) => !copy.includes(file))).toEqual([]);
    }
  });

  it("shows its settings as copies: nothing of the person's is written", () => {
    const found = policy({ ...TURN, needs });
    for (const { at } of found.folders) expect(access(found, `${at}/settings.json`)).not.toBe("write");
  });
});

describe("bubblewrap's arguments", () => {
  const program = { program: "/usr/bin/bwrap", ownProc: true, closed: true };
  const start = {
    cwd: "/w",
    terminal: false,
    network: "none",
    socket: null,
  } as const;
  it("end the process with Ralph, give it no capability, no network and no further namespaces", () => {
    const words = bubblewrapArguments(program, [], start, ALL);
    for (const word of ["--die-with-parent", "--new-session", "--unshare-net", "--unshare-pid", "--disable-userns"]) {
      expect(words).toContain(word);
    }
    expect(words.join(" ")).toContain("--cap-drop ALL --ro-bind / /");
  });

  it("keep the terminal's session where the terminal is handed over", () => {
    expect(bubblewrapArguments(program, [], { ...start, terminal: true }, ALL)).not.toContain("--new-session");
  });
});

describe("the configuration", () => {
  const parsed = (sandbox: object) => CONFIG_SCHEMA.safeParse({ sandbox });
  it.each([
    ["https://example.com", false],
    ["example.com/path", false],
    ["*", false],
    ["*.com", false],
    ["example.com", true],
    ["*.example.com", true],
    ["localhost:11434", true],
    ["10.0.0.1:80", true],
    ["[::1]:80", true],
  ])("takes %s as a host: %s", (host, fine) => {
    expect(parsed({ allow: [host] }).success).toBe(fine);
  });

  it("takes paths that are absolute or of the home folder", () => {
    expect(parsed({ write: ["~/x", "/data"], read: ["~"] }).success).toBe(true);
    expect(parsed({ write: ["data"] }).success).toBe(false);
  });

  it("with `trust: strict` a sandbox is required, unless it is declined", () => {
    const strict = { ...defaultConfig(), trust: "strict" as const };
    expect(strictConfig(strict).sandbox.mode).toBe("required");
    expect(strictConfig({ ...strict, sandbox: { ...strict.sandbox, mode: "light" } }).sandbox.mode).toBe("required");
    expect(strictConfig({ ...strict, sandbox: { ...strict.sandbox, mode: "off" } }).sandbox.mode).toBe("off");
    expect(strictConfig(defaultConfig()).sandbox.mode).toBe("auto");
  });
});
