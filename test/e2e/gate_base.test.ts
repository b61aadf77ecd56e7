/** `ralph gate` finds where the work began, and takes checks and sandbox from there. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { needs } from "../needs.ts";
import { crashProject } from "../fault/crash/projects.ts";
import { runProgram } from "../fault/crash/run_program.ts";
import { ralphProgram } from "../fault/program.ts";
import { ralphCli } from "./cli.ts";

const FIXED = "export const add = (a, b) => a + b;\n";
const TEST = `import test from "node:test"; import assert from "node:assert"; import { add } from "../add.mjs";
test("add", () => assert.equal(add(2, 3), 5));
`;
const FILES = {
  "add.mjs": "export const add = (a, b) => a - b;\n",
  "test/add.test.mjs": TEST,
  "ralph.config.json": JSON.stringify({ verify: { default: ["node test/add.test.mjs"] } }),
};
const WEAKENED = "echo '{}' > ralph.config.json; echo 'export const add = 1' > add.mjs; git commit -qam weakened";

describe("ralph gate", () => {
  test("judges a branch against its merge base with the commit that is named", async () => {
    const moved = `git checkout -q -b work && printf '%s' '${FIXED}' > add.mjs && git commit -qam work &&
      git checkout -q main && mkdir new && echo 'throw new Error("of main")' > new/main.test.mjs && git add -A &&
      git commit -qm main && git checkout -q work`;
    const { stderr, git } = await ralphCli().files(FILES).before(moved).args("gate", "--base", "main").expectExit(0);

    expect(stderr).toContain(`passed since ${git("merge-base", "main", "work").slice(0, 12)}`);
  });

  test("--head judges a commit, whatever the working tree holds", async () => {
    const work = `git checkout -q -b work && printf '%s' '${FIXED}' > add.mjs && git commit -qam work`;
    const project = ralphCli().files(FILES).before(work).dirty({ "add.mjs": "broken" }).prepare().root;

    await ralphCli(project).dirty({ "add.mjs": "broken" }).args("gate", "--head", "work").expectExit(0);
    await ralphCli(project).args("gate").expectExit(1);
    await ralphCli(project).args("gate", "--head", "main", "--base", "main").expectExit(1);
    await ralphCli(project).args("gate", "--head", "nowhere").expectExit(2);
  });

  test("--require passed fails what is named beside the verdict", async () => {
    const changed = { "add.mjs": FIXED, "test/add.test.mjs": TEST.replace("2, 3), 5", "2, 3, 0), 5") };
    const gone = { "add.mjs": `${FIXED}process.exit(0);\n` };
    for (const [work, passes] of [[changed, true], [gone, false]] as const) {
      const { root } = ralphCli().files(FILES).dirty(work).prepare();
      await ralphCli(root).args("gate", "--base", "HEAD").expectExit(0);
      const gate = ralphCli(root).args("gate", "--base", "HEAD", "--require", "passed", "--json");

      const { stdout } = await gate.expectExit(passes ? 0 : 1);

      expect(JSON.parse(stdout)).toMatchObject(
        passes ? { status: "passed", reasons: [] } : {
          status: "failed",
          reasons: [expect.stringContaining("test/add.test.mjs: the checks pass whatever it expects")],
        },
      );
    }
  });

  test("on the default branch judges what the remote has not", async () => {
    const ahead = `git update-ref refs/remotes/origin/main HEAD; ${WEAKENED}`;

    const { stderr } = await ralphCli().files(FILES).before(ahead).args("gate").expectExit(1);

    expect(stderr).toContain("node test/add.test.mjs: exit 1");
  });

  test("as a Stop hook on the default branch judges what its session has committed", async () => {
    const project = ralphCli().files(FILES).prepare().root;
    const hook = async (event: string): Promise<string> => {
      const input = JSON.stringify({ hook_event_name: event, session_id: "a" });
      return (await ralphCli(project).args("gate", "--hook").stdin(input).expectExit(0)).stdout;
    };
    expect(await hook("SessionStart")).toBe("");
    execFileSync("sh", ["-c", WEAKENED], { cwd: project });
    expect(await hook("SessionStart")).toBe(""); // a session that is resumed began before

    const answers = [await hook("Stop"), await hook("Stop"), await hook("Stop"), await hook("Stop")];

    expect(answers.map((answer) => answer.includes("node test/add.test.mjs: exit 1"))).toEqual([
      true,
      true,
      false,
      true,
    ]);
  });

  test("takes the sandbox of the base: no branch opens its own", needs("bubblewrap"), async () => {
    const check = "if touch ../escaped; then exit 1; fi";
    const config = { verify: { default: [check] }, sandbox: { mode: "on" } };
    const opened = JSON.stringify({ ...config, sandbox: { mode: "off" } });
    const project = ralphCli().files({ "ralph.config.json": JSON.stringify(config) })
      .before(`git checkout -q -b work && echo '${opened.replaceAll("'", "")}' > ralph.config.json`);

    await project.args("gate").expectExit(0);
  });
});

test("`ralph skill install --gate` adds hooks to what is there, or says which, and changes nothing else", async () => {
  const project = crashProject("exec", "tree");
  const { root, environment } = project;
  const install = async (agent: string, ...words: string[]): ReturnType<typeof runProgram> =>
    await runProgram([...ralphProgram(), "skill", "install", "--gate", agent, ...words], { cwd: root, environment });
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const read = (path: string): string => readFileSync(join(root, path), "utf8");
  const hook = [{ hooks: [{ type: "command", command: "ralph gate --hook", timeout: 1800 }] }];
  const file = ".claude/settings.json";
  try {
    expect(await install("codex")).toMatchObject({ exitCode: 0 });
    expect(JSON.parse(read(".codex/hooks.json"))).toEqual({ hooks: { SessionStart: hook, Stop: hook } });

    const mine = { hooks: [{ type: "command", command: "mine \u00e9" }] };
    put(
      file,
      `{\n    "permissions": { "allow": ["Bash(a  b)"] },\n    "hooks": { "Stop": [${JSON.stringify(mine)}] }\n}`,
    );
    expect(await install("claude")).toMatchObject({ exitCode: 0 });
    const merged = read(file);
    expect(JSON.parse(merged)).toEqual({
      permissions: { allow: ["Bash(a  b)"] },
      hooks: { Stop: [mine, ...hook], SessionStart: hook },
    });
    expect(merged).toContain('\n    "hooks": {');
    expect((await install("claude")).output).toContain("has the gate already");
    expect(read(file)).toBe(merged);

    for (const kept of ['{ "a": 1, "a": 2 }', "{ // mine\n}", '{ "n": 12345678901234567890 }', '{ "hooks": [] }', ""]) {
      put(file, kept);
      const { exitCode, output } = await install("claude");
      expect(exitCode, kept).toBe(2);
      expect(output).toContain(`"Stop":${JSON.stringify(hook)}`);
      expect(read(file)).toBe(kept);
    }
    expect((await install("gemini")).output).toContain("known: claude, codex");
    expect(await install("claude", "--user")).toMatchObject({ exitCode: 0 });
    expect(readFileSync(join(environment["HOME"] ?? "", file), "utf8")).toContain("ralph gate --hook");
  } finally {
    project.remove();
  }
});

describe("`ralph gate --format sarif` names a place that is there", () => {
  test.each([
    ["is named like no other", "echo b > 'a b.txt'", [["a%20b.txt", 1]]],
    ["is changed further down", 'seq 5 > "ä\\"\t.txt"; echo 1 >> lines.txt', [["lines.txt", 4]]],
    ["is binary", "printf '\\0\\1' > b.bin", [["b.bin", 1]]],
    ["is gone, with another one changed", "git rm -q a.txt; echo 1 >> lines.txt", [["lines.txt", 4]]],
    ["is gone", "git rm -q a.txt", [["ralph.config.json", 1]]],
    ["is none", "true", [["ralph.config.json", 1]]],
  ])("where the changed file %s", async (_, change, places) => {
    const { stdout } = await ralphCli()
      .files({
        "a.txt": "a\n",
        "lines.txt": "1\n2\n3\n",
        "ralph.config.json": '{ "verify": { "default": ["exit 1"] } }',
      })
      .before(`git config diff.noprefix true; ${change}`)
      .args("gate", "--base", "HEAD", "--format", "sarif").expectExit(1);

    const { runs: [run] } = JSON.parse(stdout) as SarifLog;
    expect(run.results.map(({ locations: [place] }) => [
      place.physicalLocation.artifactLocation.uri,
      place.physicalLocation.region.startLine,
    ])).toEqual(places);
  });
});

interface SarifLog {
  readonly runs: readonly [{
    readonly results: readonly {
      readonly locations: readonly [{
        readonly physicalLocation: {
          readonly artifactLocation: { readonly uri: string };
          readonly region: { readonly startLine: number };
        };
      }];
    }[];
  }];
}
