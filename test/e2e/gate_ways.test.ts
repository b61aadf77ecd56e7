/** Each way to ask the gate judges a branch by its base: action, GitLab include, pre-push hook, Stop hook, MCP tool. */
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { needs } from "../needs.ts";
import { skipWithout } from "../skip_without.ts";
import { gitIn, makeRepository, writeFiles } from "../repository.ts";
import { ARTEFACT } from "./cli.ts";

const FIXED = "export const add = (a, b) => a + b;\n";
const TEST = `import test from "node:test"; import assert from "node:assert"; import { add } from "../add.mjs";
test("add", () => assert.equal(add(2, 3), 5));
`;
const FILES = {
  "add.mjs": "export const add = (a, b) => a - b;\n",
  "test/add.test.mjs": TEST,
  "ralph.config.json": JSON.stringify({ verify: { default: ["node test/add.test.mjs"] } }),
};
/** Broken work on a branch whose own configuration would let it pass. */
const WEAKENED = { "ralph.config.json": JSON.stringify({ verify: { default: ["test -f add.mjs"] } }) };

interface Place {
  /** A clone of the remote, at the branch. */
  readonly root: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** A bare remote, and a clone with a branch off its `main`, which has moved on since. */
function branch(files: Readonly<Record<string, string>>): Place {
  const folder = mkdtempSync(join(tmpdir(), "ralph-ways-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const [remote, first, root, bin, home] = ["remote.git", "first", "project", "bin", "home"].map((name) =>
    join(folder, name)
  ) as [string, string, string, string, string];
  for (const path of [first, bin, home]) mkdirSync(path);
  writeFileSync(join(bin, "ralph"), `#!/bin/sh\nexec ${ARTEFACT.join(" ")} "$@"\n`);
  chmodSync(join(bin, "ralph"), 0o755);
  const git = makeRepository(first, { files: FILES });
  git("clone", "-q", "--bare", first, remote);
  git("clone", "-q", remote, root);
  writeFiles(first, { "other.txt": "other\n" });
  git("add", "-A");
  git("commit", "-qm", "other");
  git("push", "-q", remote, "main");
  const work = gitIn(root);
  work("switch", "-qc", "work");
  writeFiles(root, files);
  work("add", "-A");
  work("-c", "user.name=a", "-c", "user.email=a@b.invalid", "commit", "-qm", "work");
  const kept = Object.entries(process.env).flatMap(([key, value]) =>
    value === undefined || /^(RALPH_|GIT_|CI$)/.test(key) ? [] : [[key, value] as const]
  );
  const environment = { ...Object.fromEntries(kept), PATH: `${bin}${delimiter}${process.env["PATH"]}`, HOME: home };
  return { root, environment };
}

interface Said {
  readonly passes: boolean;
  readonly text: string;
}

function shell({ root, environment }: Place, script: string, more: { input?: string; env?: object } = {}): Said {
  skipWithout("bash");
  const { status, stdout, stderr } = spawnSync("bash", ["-eo", "pipefail", "-c", script], {
    cwd: root,
    env: { ...environment, ...more.env },
    encoding: "utf8",
    ...(more.input === undefined ? {} : { input: more.input }),
  });
  return { passes: status === 0, text: `${stdout}${stderr}` };
}

function byAction(place: Place): Said {
  const action = parse(readFileSync("action.yml", "utf8")) as {
    readonly runs: { readonly steps: readonly { readonly name: string; readonly run: string }[] };
  };
  const { run = "" } = action.runs.steps.find(({ name }) => name === "Judge") ?? {};
  const env = { BASE: "", VERIFY: "", GITHUB_BASE_REF: "main", GITHUB_STEP_SUMMARY: join(place.root, "../summary") };
  return shell(place, run, { env });
}

function byInclude(place: Place): Said {
  const { gate } = parse(readFileSync("tools/gate.gitlab-ci.yml", "utf8")) as {
    readonly gate: { readonly variables: Readonly<Record<string, string>>; readonly script: readonly string[] };
  };
  const env = { ...gate.variables, CI_MERGE_REQUEST_TARGET_BRANCH_NAME: "main" };
  const said = shell(place, gate.script.join("\n"), { env });
  return { ...said, text: `${said.text}${readFileSync(join(place.root, "ralph.xml"), "utf8")}` };
}

function byPush(place: Place): Said {
  const [, hook = ""] = /```sh ignore\n(#!\/bin\/sh\n# \.git\/hooks\/pre-push[^`]+)```/.exec(
    readFileSync("docs/guides/gate.md", "utf8"),
  ) ?? [];
  writeFileSync(join(place.root, ".git/hooks/pre-push"), hook, { mode: 0o755 });
  // The branch is judged, not what happens to be in the working tree.
  return shell(place, "git stash -q 2> /dev/null || true; git checkout -q main; git push origin work");
}

function byHook(agent: "claude" | "codex"): (place: Place) => Said {
  return (place) => {
    const [file = ""] = { claude: [".claude/settings.json"], codex: [".codex/hooks.json"] }[agent];
    shell(place, `ralph skill install --gate ${agent}`);
    const { hooks } = JSON.parse(readFileSync(join(place.root, file), "utf8")) as {
      readonly hooks: Readonly<Record<string, readonly [{ readonly hooks: readonly [{ readonly command: string }] }]>>;
    };
    const said = shell(place, hooks["Stop"]?.[0].hooks[0].command ?? "false", { input: '{"session_id":"a"}' });
    return { passes: said.passes && !said.text.includes('"decision":"block"'), text: said.text };
  };
}

async function byTool({ root, environment }: Place): Promise<Said> {
  const [command, ...args] = [...ARTEFACT, "mcp"];
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(new StdioClientTransport({ command, args, cwd: root, env: environment, stderr: "inherit" }));
  try {
    const call = async (name: string): Promise<string> => {
      const { content } = await client.callTool({ name, arguments: {} });
      return (content as readonly { readonly text?: string }[]).map(({ text = "" }) => text).join("\n");
    };
    let text = await call("gate");
    if (text.startsWith("started")) {
      await expect.poll(async () => text = await call("status"), { interval: 200, timeout: 60_000 })
        .toMatch(/`ralph gate`, started here, has ended:/);
    }
    return { passes: text.includes("**passed** since"), text };
  } finally {
    await client.close();
  }
}

describe.each<readonly [string, (place: Place) => Said | Promise<Said>]>([
  ["the action", byAction],
  ["the GitLab include", byInclude],
  ["the hook before a push", byPush],
  ["the Stop hook of claude", byHook("claude")],
  ["the Stop hook of codex", byHook("codex")],
  ["the MCP tool", byTool],
])("%s", (_, judge) => {
  test("passes honest work on a branch whose base has moved on", needs("bash"), async () => {
    const { passes, text } = await judge(branch({ "add.mjs": FIXED }));
    expect(passes, text).toBe(true);
  });

  test("judges by the configuration of the base, not by the branch's own", needs("bash"), async () => {
    const { passes, text } = await judge(branch(WEAKENED));
    expect(passes, text).toBe(false);
    expect(text).toContain("node test/add.test.mjs");
  });
});

test.each(["text", "json", "junit", "sarif", "markdown"])("%s shows no secret that a check's command has", (format) => {
  const place = branch({ "add.mjs": FIXED });
  const asked = format === "text" ? "" : `--format ${format}`;
  const check = "--verify \"test '$SERVICE_TOKEN' = other\"";

  const { passes, text } = shell(place, `ralph gate ${asked} ${check}`, { env: { SERVICE_TOKEN: "value&with<odd" } });

  expect(passes).toBe(false);
  expect(text).toContain("test '***' = other");
  expect(text).not.toContain("with<odd");
  expect(text).not.toContain("with&lt;odd");
});
