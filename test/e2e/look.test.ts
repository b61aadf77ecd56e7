import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { skipWithout } from "../skip_without.ts";
import { ARTEFACT, ralphCli } from "./cli.ts";

const PRD = JSON.stringify({
  branchName: "main",
  userStories: [
    {
      id: "US-001",
      title: "Add a.txt",
      acceptanceCriteria: ["Verify: `test -f a.txt`"],
      priority: 2,
      passes: true,
      notes: "",
    },
    {
      id: "US-002",
      title: "Add b.txt",
      acceptanceCriteria: ["it is there", "Verify: `test -f b.txt`"],
      priority: 1,
      passes: false,
      notes: "",
    },
  ],
});
const FILES = { "scripts/ralph/prd.json": PRD };

describe("commands that look", () => {
  test("bare `ralph` shows short help, then the status", async () => {
    const { stdout, stderr } = await ralphCli().args().expectExit(0);

    expect(stdout).toBe(
      'exec (the default) · [ROOT] · main\nagent: none configured, and none on PATH: `ralph init` looks for a model server, `ralph help agents` has programs\nnext: `ralph exec "<goal>"`\n',
    );
    expect(stderr).toMatch(/^Take a goal .*\n  start  exec "<goal>" .*\n\n$/s);
  });

  test("`ralph status` finds the root from a folder below it", async () => {
    const { stdout } = await ralphCli().files({ ...FILES, "src/deep/x.txt": "" }).in("src/deep").args("status")
      .expectExit(0);

    expect(stdout).toBe(
      "exec (scripts/ralph exists) · [ROOT] · main\nagent: none configured, and none on PATH: `ralph init` looks for a model server, `ralph help agents` has programs\nstories: 1/2 pass, 1 open\n" +
        "  ✓ US-001  Add a.txt\n  ○ US-002  Add b.txt\nnext: `ralph run`\n",
    );
  });

  test("`ralph status --json` is one object", async () => {
    const { stdout } = await ralphCli().files(FILES).args("status", "--json").expectExit(0);

    expect(JSON.parse(stdout)).toMatchObject({
      workflow: "exec",
      counts: { total: 2, passed: 1, open: 1 },
      running: null,
    });
  });

  test("`ralph next` shows the item with the lowest priority and its checks", async () => {
    const { stdout } = await ralphCli().files(FILES).args("next").expectExit(0);

    expect(stdout).toBe("US-002  Add b.txt\n  · it is there\n  · Verify: `test -f b.txt`\nchecks: `test -f b.txt`\n");
  });

  test("`ralph validate` gathers every problem and changes nothing", async () => {
    const config = JSON.stringify({ verify: { default: ["echo ok", "true"] }, limits: { noProgress: 1 } });
    const prd = PRD.replace("test -f b.txt", "exit 0");

    const { stdout, git } = await ralphCli().files({
      "ralph.config.json": config,
      "scripts/ralph/prd.json": prd,
      "scripts/ralph/plan_state.json": "{",
    })
      .args("validate").expectExit(2);

    expect(stdout).toBe(`✗ ralph.config.json
    verify: \`echo ok\` checks nothing: name a command that can fail
    verify: \`true\` checks nothing: name a command that can fail
    warning: limits.noProgress is called limits.idle now
✗ scripts/ralph/prd.json
    US-002: \`exit 0\` checks nothing: name a command that can fail
✗ scripts/ralph/plan_state.json
    not valid JSON: line 1, column 2: expected a key in double quotes
`);
    expect(git("status", "--porcelain")).toBe("");
  });

  test("`ralph validate` shows all problems of a workflow's files with line and column", async () => {
    const prd = {
      branchName: "ralph/x",
      userStories: [{ id: 1, title: "One", acceptanceCriteria: "no list", priority: 1, passes: false, extra: 1 }, 5],
      colour: 1,
    };
    const { stdout } = await ralphCli().files({
      "ralph.config.json": JSON.stringify({ limits: { costUSD: 1 }, provider: { preset: "claud" } }),
      "other.json": JSON.stringify({ provider: { preset: "claud" } }, null, 2),
      "scripts/ralph/prd.json": JSON.stringify(prd, null, 2),
    }).args("validate").expectExit(2);

    expect(stdout).toBe(`✗ ralph.config.json
    line 1, column 12: limits.costUSD is not a key of the configuration; did you mean \`limits.costUsd\`?
    line 1, column 37: provider.preset: there is no agent named claud; did you mean "claude"?
✗ scripts/ralph/prd.json
    Unexpected keys: colour
    line 4, column 5: userStories[0]: missing keys: notes
    line 4, column 5: userStories[0]: unexpected keys: extra
    line 5, column 7: userStories[0].id: must be a string
    line 7, column 7: userStories[0].acceptanceCriteria: must be an array
    line 12, column 5: userStories[1]: must be an object
    scripts/ralph/prd.json is a plan of snarktank/ralph: \`ralph import scripts/ralph/prd.json\` makes a PRD of it
○ scripts/ralph/plan_state.json (not there)
`);
  });

  test("`ralph validate` names an agent that there is not", async () => {
    const { stdout } = await ralphCli().files({
      "other.json": JSON.stringify({ provider: { preset: "claud" } }, null, 2),
    })
      .args("validate", "--config", "other.json").expectExit(2);

    expect(stdout).toContain(
      'line 3, column 5: provider.preset: there is no agent named claud; did you mean "claude"?',
    );
  });

  test("`ralph validate` names checks and agents that are wrong beside keys that are", async () => {
    const { stdout } = await ralphCli().files({
      "ralph.config.json": '{"provider":{"preset":"claud"},"verify":{"default":["true"],"timeot":4}}',
    }).args("validate").expectExit(2);

    for (const problem of ["there is no agent named claud", "`true` checks nothing", "verify.timeot is not a key"]) {
      expect(stdout).toContain(problem);
    }
  });

  test("`ralph verify` runs every check, names all failures, and ends with 1", async () => {
    const { stderr } = await ralphCli().files({
      ...FILES,
      "ralph.config.json": JSON.stringify({ verify: { default: ["echo no >&2; false"] } }),
    })
      .args("verify").expectExit(1);

    expect(stderr).toContain(
      "3 of 3 checks failed\n  echo no >&2; false (US-002,US-001)\n  test -f b.txt (US-002)\n  test -f a.txt (US-001)\n",
    );
    expect(stderr).toContain("    no\n");
  });

  test("`ralph verify` puts back what a check takes away of uncommitted work, and leaves no ref behind it", async () => {
    const spoil = "git checkout -q HEAD -- a.txt; git clean -fdq -e ralph.config.json; test -f a.txt";
    const { root, stderr } = await ralphCli()
      .files({ "a.txt": "first\n", "ralph.config.json": JSON.stringify({ verify: { default: [spoil] } }) })
      .before("echo mine >> a.txt; echo mine > new.txt")
      .args("verify").expectExit(0);

    expect(stderr).toMatch(
      /warning: the check `.+` changed or removed uncommitted work, which was restored: a.txt, new.txt/,
    );
    expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("first\nmine\n");
    expect(readFileSync(join(root, "new.txt"), "utf8")).toBe("mine\n");
    const refs = execFileSync("git", ["for-each-ref", "refs/ralph"], { cwd: root, encoding: "utf8" });
    expect(refs).toBe("");
  });

  test("`ralph verify --json` is one object, without a check unverified", async () => {
    const { stdout } = await ralphCli().files({ "scripts/ralph/prd.json": '{"branchName":"main","userStories":[]}' })
      .args("verify", "--json").expectExit(1);

    expect(JSON.parse(stdout)).toEqual({ status: "unverified", results: [] });
  });

  test("`--help --all` shows every flag, `help --all` every command", async () => {
    const { stdout: few } = await ralphCli().args("exec", "--help").expectExit(0);
    const { stdout: all } = await ralphCli().args("exec", "--help", "--all").expectExit(0);
    const { stdout: commands } = await ralphCli().args("--help", "--all").expectExit(0);

    expect(few).not.toContain("--strict");
    expect(all).toContain("--strict");
    expect(commands).toContain("The workflow spec:");
    await ralphCli().args("run", "--all").expectExit(2);
  });

  test("`ralph help exit-codes` shows the table", async () => {
    const { stdout } = await ralphCli().args("help", "exit-codes").expectExit(0);

    expect(stdout.split("\n").map((line) => line.trim().split(" ")[0])).toEqual([
      "Exit",
      "0",
      "1",
      "2",
      "3",
      "4",
      "70",
      "130",
      "",
    ]);
  });

  test("`ralph log` without a plan says so beside its JSON", async () => {
    const { stderr, stdout } = await ralphCli().args("log").expectExit(0);

    expect([stderr, JSON.parse(stdout)]).toEqual([
      "no task in the history of ralph/plan.jsonl\n",
      { tasks: [] },
    ]);
  });

  test("a model for a command of one's own is said to change nothing", async () => {
    const { stderr } = await ralphCli().args("run", "--agent-cmd", "true", "--model", "big", "--reasoning", "high")
      .expectExit(2);

    expect(stderr).toContain("warning: the agent is a command of your own: --model and --reasoning changed nothing");
  });

  test("`ralph doctor` ends with 1 and says how to get what is missing", async () => {
    const { stdout } = await ralphCli().without("repository").agent("claude", "echo 2.1.0").args("doctor").expectExit(
      1,
    );

    expect(stdout).toMatch(/claude {6}2\.1\.0 \(\[FOLDER\]\/bin\/claude\), tested with 2\.1\.330[:\n]/);
    expect(stdout).toContain("hint: run `git init` there first");
  });

  test("`ralph doctor` signs a commit aside where git is to sign, and says what unlocks the key", async () => {
    const signed = (program: string): ReturnType<typeof ralphCli> =>
      ralphCli().agent("signer", program).agent("claude", "echo 2.1.0").before(
        "git config commit.gpgSign true; git config gpg.format ssh; git config gpg.ssh.program signer; " +
          "git config user.signingKey 'key::ssh-ed25519 AAAA'",
      ).args("doctor");
    const refused = await signed("echo 'agent refused operation' >&2; exit 1").expectExit(1);
    const fine = await signed('for last; do :; done; echo sig > "$last.sig"').expectExit(0);

    expect(refused.stdout).toMatch(/✗ signing +git cannot sign a commit: .*agent refused operation/);
    expect(refused.stdout).toContain("hint: `ssh-add` unlocks the key");
    expect(fine.stdout).toMatch(/✓ signing +git signs commits with an ssh key/);
  });

  test("`ralph doctor` does not tick a version that is not known to work with its adapter", async () => {
    const found = async (version: string): Promise<string> =>
      (await ralphCli().agent("amp", `echo '${version} (released 2026-11-01)'`).args("doctor").expectExit(0)).stdout;

    expect(await found("0.0.1775390627-g406649")).toMatch(/✓ amp +0\.0\.1775390627/);
    const newer = await found("0.0.1790142911-g7618fb");
    expect(newer).toMatch(/▲ amp +0\.0\.1790142911.* were never seen to end a turn\n/);
    expect(newer).toContain("hint: `ralph doctor --probe amp` tries it\n");
  });

  test("`ralph doctor` says when another program is what `ralph` starts, and nothing of itself", async () => {
    const cli = (): ReturnType<typeof ralphCli> => ralphCli().agent("claude", "echo 2.1.0").args("doctor");
    const other = await cli().agent("ralph", "echo looped > looped.txt").expectExit(0);
    const own = await cli().before(`ln -s ${ARTEFACT.at(-1)} "$(dirname "$(command -v claude)")/ralph"`).expectExit(0);

    expect(other.stdout).toMatch(/▲ PATH +`ralph` on PATH is \[FOLDER\]\/bin\/ralph: another program/);
    expect(other.read("looped.txt")).toBeNull(); // a loop of that name may begin to work at once
    expect(own.stdout).not.toContain("PATH");
  });

  test.each(["doctor", "validate", "status"])("`ralph %s` breaks no word in a narrow terminal", (name) => {
    skipWithout("script");
    const files = { "ralph.config.json": '{ "provider": { "preset": "no-such-agent-of-a-rather-long-name" } }' };
    const { command, cwd, environment } = ralphCli().files(files).agent("amp", "echo 0.0.1790142911").args(name)
      .prepare();
    const line = `stty cols 50 rows 40; exec ${command.join(" ")}`;

    const { stdout } = spawnSync("script", ["-qefc", line, "/dev/null"], { cwd, env: environment, encoding: "utf8" });

    const lines = stdout.replaceAll(/\u001b\[[\d;?]*[A-Za-z]/g, "").split(/\r?\n/);
    expect(lines.filter((one) => one.length > 30).length).toBeGreaterThan(0);
    // only a single word, a path or a command for one, may be wider
    const wordsOf = (one: string): string => one.replace(/^\S? *[\w.-]+ {2,}/, "").replaceAll(/`[^`]*`/g, "command");
    expect(lines.filter((one) => one.length > 50 && /\S\s\S/.test(wordsOf(one)))).toEqual([]);
  });

  test.each([
    [
      "an older one",
      { ".claude/commands/gsd/plan-phase.md": "", ".claude/commands/gsd/create-roadmap.md": "" },
      "✓ gsd         init –, roadmap /gsd:create-roadmap, discover /gsd:plan-phase --research-phase, plan /gsd:plan-phase\n",
    ],
    [
      "a newer one",
      { ".claude/skills/gsd-plan-phase/SKILL.md": "", ".claude/skills/gsd-new-project/SKILL.md": "" },
      "✓ gsd         init /gsd-new-project, roadmap –, discover /gsd-plan-phase --research-phase, plan /gsd-plan-phase\n",
    ],
    [
      "none",
      {},
      "▲ gsd         GSD is not installed: no command of it was found for the agent; plans that are there can be run\n",
    ],
    ["one without a command that is configured", {
      ".claude/skills/gsd-plan-phase/SKILL.md": "",
      "ralph.config.json": '{"gsd":{"commands":{"discover":"/gsd:look"}}}',
    }, "▲ gsd         gsd.commands.discover is /gsd:look, which is not installed; plans that are there can be run\n"],
  ])("`ralph doctor` looks for GSD where its workflow is in use: %s", async (_, files, line) => {
    const cli = () => ralphCli().files(files).agent("codex", "echo 1.0");
    const asked = await cli().args("doctor", "--workflow", "gsd").expectExit(0);
    const used = await cli().files({ ".planning/PROJECT.md": "x" }).args("doctor").expectExit(0);
    const other = await cli().args("doctor").expectExit(0);

    expect(asked.stdout).toContain(line);
    expect(used.stdout).toContain(line);
    expect(other.stdout).not.toMatch(/^. gsd /m);
  });

  test("`ralph doctor --probe` sends a prompt through an adapter and says what came back", async () => {
    const answer = (text: string): string =>
      [
        'cat > /dev/null; case "$*" in *--version*) echo 1.0;; *)',
        `echo '${JSON.stringify({ type: "thread.started", thread_id: "t" })}'`,
        `echo '${JSON.stringify({ type: "item.completed", item: { id: "1", type: "agent_message", text } })}'`,
        `echo '${JSON.stringify({ type: "turn.completed", usage: { input_tokens: 10, output_tokens: 2 } })}';; esac`,
      ].join("\n");
    const chosen = await ralphCli().agent("codex", "exit 9").args("doctor", "--probe").expectExit(2);
    expect(chosen.stderr).toContain("no agent is configured"); // none is paid for that nobody chose
    const good = await ralphCli().agent("codex", answer("Fine.\\n<ralph>DONE</ralph>")).args(
      "doctor",
      "--probe",
      "codex,",
    )
      .expectExit(0);
    const bad = await ralphCli().agent("codex", answer("Fine.")).args("doctor", "--probe=codex").expectExit(1);
    const gone = await ralphCli().args("doctor", "--probe=codecs").expectExit(2);

    expect(good.stdout).toMatch(/probe codex {2}answered as expected in .+, 12 tokens\n/);
    expect(bad.stdout).toMatch(/probe codex {2}answered in .+, but the marker was not in its output\n/);
    expect(gone.stderr).toContain("did you mean `codex`?");
  });
});

describe("recipes", () => {
  test("`ralph eject` writes a recipe and a prompt once", async () => {
    const { root, read } = await ralphCli().args("eject", "exec").expectExit(0);
    await ralphCli(root).args("eject", "exec_run").expectExit(0);
    const again = await ralphCli(root).args("eject", "exec").expectExit(2);

    expect(read("ralph.recipe.ts")).toContain("defineRecipe");
    expect(read(".ralph/prompts/exec_run.md")).toContain("{{item}}");
    expect(again.stderr).toBe("error: ralph.recipe.ts exists and is not overwritten\nhint: move it aside first\n");
  });

  test("`ralph run-recipe` takes flags and help from the recipe's schema", async () => {
    const recipe = `import { defineRecipe, verify } from "ralph";
import { z } from "zod";
export default defineRecipe({
  name: "deploy",
  args: z.object({ stage: z.enum(["test", "live"]).describe("where to"), maxTries: z.number().int().default(2), dry: z.boolean().optional() }),
  async run(ralph, args) {
    ralph.events.emit({ type: "note", level: "info", message: JSON.stringify(args) });
    return await verify(ralph, ["true"]);
  },
});`;
    const cli = ralphCli().files({ "deploy.ts": recipe });
    const ran = await cli.args("run-recipe", "deploy.ts", "live", "--max-tries", "5", "--dry").expectExit(0);
    const help = await ralphCli(ran.root).args("run-recipe", "deploy.ts", "--help").expectExit(0);
    const wrong = await ralphCli(ran.root).args("run-recipe", "deploy.ts").expectExit(2);

    expect(ran.stderr).toContain('{"stage":"live","maxTries":5,"dry":true}');
    expect(help.stdout).toContain("Usage: ralph run-recipe deploy.ts <stage> [max-tries]\n");
    expect(wrong.stderr).toMatch(
      /error: arguments of the recipe deploy: --stage: .+\nhint: it takes --stage, --max-tries, --dry\n/,
    );
  });

  test("`ralph exec` says that it runs the project's own recipe, and without a terminal only one that was named", async () => {
    const recipe =
      'import { defineRecipe } from "ralph";\nexport default defineRecipe({ name: "own", run: (_, { goal }) => Promise.resolve({ status: goal === "g" ? "passed" : "failed" }) });';

    const found = await ralphCli().files({ "ralph.recipe.ts": recipe }).args("exec", "g", "--non-interactive")
      .expectExit(3);
    const named = await ralphCli(found.root).args("exec", "g", "--non-interactive", "--recipe", "ralph.recipe.ts")
      .expectExit(0);

    expect(found.stderr).toContain("hint: `--recipe ralph.recipe.ts` agrees to run it\n");
    expect(named.stderr).toContain("recipe [ROOT]/ralph.recipe.ts\n");
  });

  test("in a terminal it asks once before it runs one", async () => {
    const recipe =
      'import { defineRecipe } from "ralph";\nexport default defineRecipe({ name: "own", run: () => Promise.resolve({ status: "passed" }) });';
    const first = ralphCli().files({ "ralph.recipe.ts": recipe }).args("exec", "g", "--agent-cmd", "true").terminal([
      "Run this recipe?",
      "y",
    ]).start();
    expect((await first.ended()).stdout).toContain("passed");

    const second = ralphCli(first.root).args("exec", "g", "--agent-cmd", "true").terminal().start();

    expect((await second.ended()).stdout).not.toContain("Run this recipe?");
  });
});

test("`ralph status` tells of a prd.json that cannot be read, and continues", async () => {
  const { stdout } = await ralphCli().files({ "scripts/ralph/prd.json": "{" }).args("status").expectExit(0);

  expect(stdout).toContain(
    "✗ scripts/ralph/prd.json: not valid JSON: line 1, column 2: expected a key in double quotes\nnext: `ralph validate`\n",
  );
});
