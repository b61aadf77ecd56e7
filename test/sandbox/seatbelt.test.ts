/** The policy as a profile of macOS. No Mac has read these texts: here they are read by the rules of their form. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { defaultConfig } from "../../lib/config/defaults.ts";
import type { PathLook } from "../../lib/host/bubblewrap.ts";
import { confiner } from "../../lib/host/confine.ts";
import type { Confinement } from "../../lib/host/confinement.ts";
import { createHost } from "../../lib/host/create_host.ts";
import { seatbelt, seatbeltProfile } from "../../lib/host/seatbelt.ts";
import { policyOf } from "../../lib/sandbox/policy.ts";

const HOME = "/Users/ada";
const TREE = `${HOME}/tree`;
const PLACE = {
  home: HOME,
  variables: {},
  programs: ["/usr/bin"],
  tree: TREE,
  git: { directory: `${TREE}/.git`, common: `${TREE}/.git`, otherWorktrees: [] },
  hooks: null,
  protected: [`${TREE}/ralph.config.json`],
  ralph: ["/usr/local/bin/ralph"],
  caches: `${HOME}/.cache/ralph-sandbox/1`,
  services: [],
  checkouts: "/nowhere",
  overlay: null,
  homes: [],
  logins: "",
};
const TURN = policyOf(PLACE, { role: "turn", cwd: TREE }, defaultConfig().sandbox);
const ALL: PathLook = { real: (path) => path, isFolder: () => true };

type Form = string | readonly Form[];

/** The forms of a text: lists, words, and strings without their quotation marks. @throws where it is not balanced */
function parse(text: string): readonly Form[] {
  const tokens = text.matchAll(/\s+|([()])|#?"((?:[^"\\]|\\[^])*)"|([^\s()"]+)/gy);
  const open: Form[][] = [[]];
  let end = 0;
  for (const { 0: { length }, 1: paren, 2: quoted, 3: word, index } of tokens) {
    end = index + length;
    if (paren === "(") open.push([]);
    else if (paren === ")") {
      const done = open.pop() ?? [];
      if (open.length === 0) throw new Error(`closed too often at ${end}`);
      open.at(-1)?.push(done);
    } else if (quoted !== undefined) open.at(-1)?.push(quoted.replaceAll(/\\([^])/g, "$1"));
    else if (word !== undefined) open.at(-1)?.push(word);
  }
  if (open.length > 1 || end < text.length) throw new Error(`not whole: ${text.slice(end, end + 60)}`);
  return open[0] ?? [];
}

/** The profile decides by the last rule that fits. */
function allows(profile: string, operation: string, path: string): boolean {
  let decision = false;
  for (const [verdict, ...rest] of parse(profile).filter((form) => typeof form !== "string")) {
    if (verdict !== "allow" && verdict !== "deny") continue;
    const names = rest.filter((form) => typeof form === "string");
    const filters = rest.filter((form) => typeof form !== "string");
    const named = names.some((name) =>
      name === operation || (name.endsWith("*") && operation.startsWith(name.slice(0, -1)))
    );
    if (named && (filters.length === 0 || filters.some((filter) => fits(filter, path)))) decision = verdict === "allow";
  }
  return decision;
}

function fits([kind, value]: readonly Form[], path: string): boolean {
  if (typeof value !== "string") return false;
  if (kind === "subpath") return `${path}/`.startsWith(`${value}/`);
  return kind === "literal" ? path === value : kind === "regex" && new RegExp(value).test(path);
}

describe("seatbeltProfile", () => {
  it.each([
    ["the tree", `${TREE}/src/a.ts`, "read, write"],
    ["git's objects", `${TREE}/.git/objects/ab`, "read, write"],
    ["git's hooks", `${TREE}/.git/hooks/pre-commit`, "read"],
    ["git's configuration", `${TREE}/.git/config`, "read"],
    ["the configuration", `${TREE}/ralph.config.json`, "read"],
    ["the home folder", `${HOME}/notes.txt`, ""],
    ["another's home folder", "/Users/bob/notes.txt", ""],
    ["keys", `${HOME}/.ssh/id_ed25519`, ""],
    ["tokens of cargo, beside its programs", `${HOME}/.cargo/credentials.toml`, ""],
    ["programs of cargo", `${HOME}/.cargo/bin/rustc`, "read"],
    ["the person's cache", `${HOME}/.npm/_cacache/x`, ""],
    ["the project's own cache", `${PLACE.caches}/turn/.npm/_cacache/x`, "read, write"],
    ["the sockets of services", "/private/var/run/docker.sock", ""],
    ["others' temporary files", "/private/tmp/x", ""],
    ["the system", "/usr/bin/git", "read"],
    ["a device", "/dev/null", "read, write"],
    ["a terminal", "/dev/ttys004", "read, write"],
    ["a disk", "/dev/disk0", "read"],
  ])("%s", (_name, path, expected) => {
    const profile = seatbeltProfile(TURN, [], ALL);
    const may = { read: allows(profile, "file-read-data", path), write: allows(profile, "file-write-create", path) };
    expect(Object.entries(may).flatMap(([name, yes]) => yes ? [name] : []).join(", ")).toBe(expected);
  });

  it("what must not be written cannot be renamed away with the folder that it is in", () => {
    const profile = seatbeltProfile(
      policyOf(
        { ...PLACE, protected: [`${TREE}/a/b/rules.txt`] },
        { role: "turn", cwd: TREE },
        defaultConfig().sandbox,
      ),
      [],
      ALL,
    );
    for (const folder of [TREE, `${TREE}/a`, `${TREE}/a/b`]) {
      expect(parse(profile)).toContainEqual(["deny", "file-write-unlink", ["literal", folder]]);
    }
    expect(allows(profile, "file-write-unlink", `${TREE}/a/b/other.txt`)).toBe(true);
  });

  it.each([
    `${TREE}/say "hi"`,
    `${TREE}/back\\slash`,
    `${TREE}/a) (allow default`,
    `${TREE}/two\nlines`,
    `${TREE}/ä #"x`,
  ])(
    "the name %j stays one string",
    (path) => {
      const profile = seatbeltProfile({ ...TURN, write: [path], never: [] }, [], ALL);
      expect(parse(profile)).toContainEqual(["allow", "file-read*", "file-write*", ["subpath", path]]);
      expect(parse(profile)).toHaveLength(
        parse(seatbeltProfile({ ...TURN, write: [TREE], never: [] }, [], ALL)).length,
      );
    },
  );

  it("the network: all of it, or ports of this machine", () => {
    expect(allows(seatbeltProfile(TURN, "all", ALL), "network-outbound", "")).toBe(true);
    const ports = parse(seatbeltProfile(TURN, [4711, 3000], ALL)).filter((form) => form[1] === "network-outbound");
    expect(ports).toEqual(
      [4711, 3000].map((port) => ["allow", "network-outbound", ["remote", "ip", `localhost:${port}`]]),
    );
  });

  it("the whole text, for a small policy", () => {
    const small: Confinement = {
      ...TURN,
      hidden: ["/Users"],
      read: ["/Users/ada/bin"],
      write: ["/Users/ada/tree"],
      never: ["/Users/ada/tree/.git/hooks"],
      caches: [],
    };
    expect(seatbeltProfile(small, [4711], ALL)).toMatchSnapshot();
  });
});

/** Stands for `sandbox-exec`: keeps the profile, and starts what comes behind it. */
const PROGRAM = '#!/bin/sh\n[ "$1" = -p ] || exit 9\nprintf %s "$2" > "$(dirname "$0")/profile"\nshift 2\nexec "$@"\n';

describe("seatbelt", () => {
  it("a process has a home folder of its own, with links to what it is shown; a login that it renews is kept", async () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "ralph-seatbelt-")));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const home = join(folder, "home");
    const at = (path: string): string => join(folder, path);
    for (const path of ["home/.agent", "home/.local/bin", "tree", "cache"]) mkdirSync(at(path), { recursive: true });
    writeFileSync(at("home/.agent/login"), "old");
    writeFileSync(at("home/.gitconfig"), "[user]\n");
    writeFileSync(at("sandbox-exec"), PROGRAM);
    chmodSync(at("sandbox-exec"), 0o755);
    const found = createHost();
    const variables = { ...found.environment.variables, AGENT_HOME: at("home/.agent") };
    const host = { ...found, environment: { ...found.environment, home, variables } };
    await using inside = confiner(host, seatbelt(host.environment, at("sandbox-exec")), () => {}, () => {});
    const policy: Confinement = {
      ...TURN,
      tree: at("tree"),
      write: [at("tree")],
      never: [],
      read: [at("home/.gitconfig"), at("home/.local"), at("home/.local/bin")],
      hidden: [home],
      folders: [{ at: at("home/.agent"), copy: ["login"], keep: ["login"] }],
      caches: [{ from: at("cache"), at: at("home/.cache") }],
      network: "none",
    };
    const script =
      `cat ~/.gitconfig; cat "$AGENT_HOME/login"; cmp ~/.agent/login "$AGENT_HOME/login"; echo new > ~/.agent/login
      echo kept > ~/.cache/x; echo gone > ~/notes.txt; echo gone > "$TMPDIR/x"; printf '\n%s\n' "$HOME"`;

    const end = await inside.run(policy, { file: "/bin/sh", arguments: ["-c", script], cwd: at("tree") });

    expect(end.exitCode, end.tail).toBe(0);
    const own = end.tail.trim().split("\n").at(-1) ?? "";
    expect(end.tail).toBe(`[user]\nold\n${own}\n`);
    expect([own === home, existsSync(own)]).toEqual([false, false]);
    expect(readFileSync(at("home/.agent/login"), "utf8")).toBe("new\n");
    expect(readFileSync(at("cache/x"), "utf8")).toBe("kept\n");
    expect([existsSync(at("home/notes.txt")), existsSync(at("home/.local/bin/bin"))]).toEqual([false, false]);
    const profile = readFileSync(at("profile"), "utf8");
    expect(allows(profile, "file-write-create", join(own, "notes.txt"))).toBe(true);
    expect(allows(profile, "file-read-data", at("home/notes.txt"))).toBe(false);
  });
});
