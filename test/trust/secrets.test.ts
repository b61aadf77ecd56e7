import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { createRedactor } from "../../lib/events/redact.ts";
import { secretValues } from "../../lib/events/secrets.ts";
import { verify } from "../../lib/checks/verify.ts";
import { testContext } from "../../lib/testing/mod.ts";
import { ralphCli } from "../e2e/cli.ts";

/** In two halves, so that this file itself holds nothing that looks like a key. */
const SHAPES: readonly (readonly [begins: string, continues: string])[] = [
  ["sk-", "ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789"],
  ["sk-", "proj-Zz11AbCdEfGhIjKlMnOpQrStUvWxYz0123"],
  ["sk_", "live_51HabcdefghijklmnopqrSTUV"],
  ["rk_", "live_51HabcdefghijklmnopqrSTUW"],
  ["whsec_", "abcdefghijklmnopqrstuvwxyz0123"],
  ["gh", "p_IIIIabcdefghijklmnopqrstuvwxyz012345"],
  ["gh", "o_IIIIabcdefghijklmnopqrstuvwxyz012346"],
  ["gh", "s_IIIIabcdefghijklmnopqrstuvwxyz012347"],
  ["github_", "pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz"],
  ["glp", "at-abcdefghij1234567890"],
  ["np", "m_abcdefghijklmnopqrstuvwxyz0123456789"],
  ["pypi", "-AgEIcHlwaS5vcmcCJDAwMDAwMDAw"],
  ["hf", "_abcdefghijklmnopqrstuvwxyzABCDEFGH"],
  ["AKI", "AIOSFODNN7EXAMPLE"],
  ["ASI", "AIOSFODNN7EXAMPLE"],
  ["AIz", "aSyA0123456789abcdefghijklmnopqrstu"],
  ["ya29", ".a0AfH6SMBabcdefghijklmnopqrstuvwx"],
  ["GOCS", "PX-abcdefghijklmnopqrstuvwxyz01"],
  ["xox", "b-123456789012-abcdefABCDEF"],
  ["xap", "p-1-A0123456789-0123456789-abcdef"],
  ["SG", ".abcdefghijklmnopqrstuv.ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789abcdefg"],
  ["shp", "at_0123456789abcdef0123456789abcdef"],
  ["dop", "_v1_0123456789abcdef0123456789abcdef0123456789abcdef"],
  ["dckr", "_pat_abcdefghijklmnopqrstuvwx"],
  ["hvs", ".CAESIabcdefghijklmnopqrstuvwxyz"],
  ["lin", "_api_abcdefghijklmnopqrstuvwxyz01"],
  ["ey", "JhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2lnbmF0dXJlLW9mLXRva2Vu"],
];

const VARIABLES = {
  DEPLOY_PAT: "plain-value-of-a-pat-1",
  DB_PASS: "p@ss/word with spaces+1",
  DATABASE_URL: "postgres://app:hunter2hunter2@db.example/app",
  SENTRY_DSN: "https://0123456789abcdef@sentry.example/1",
  SLACK_WEBHOOK_URL: "https://hooks.example/T000/B000/wwwwxxxxyyyy",
  SESSION_COOKIE: "session-cookie-value-42",
  WALLET_SEED: "abandon ability able about above absent",
  SIGNING_KEY: "first-line-of-the-key\nsecond-line-of-the-key",
};

const BODY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7";
const PEM = `-----BEGIN ${"PRIVATE"} KEY-----\n${BODY}\n${BODY}\n-----END ${"PRIVATE"} KEY-----`;

/** Lines as a process may print them, each with what must not be seen of it. */
function printed(): readonly (readonly [line: string, hidden: string])[] {
  const shaped = SHAPES.flatMap(([begins, continues]) => {
    const key = begins + continues;
    return [key, `token=${key};`, `  "key": "${key}",`, JSON.stringify({ text: `line\n${key}\nline` })]
      .map((line) => [line, key] as const);
  });
  const known = Object.values(VARIABLES).flatMap((value) =>
    value.split("\n").flatMap((secret) => [
      [`x ${secret} y`, secret] as const,
      [`x ${encodeURIComponent(secret)} y`, encodeURIComponent(secret)] as const,
      ...["", "a", "ab"].map((before) => {
        const encoded = Buffer.from(`${before}${secret}`).toString("base64");
        return [encoded, encoded.slice(4, -4)] as const;
      }),
    ])
  );
  return [
    ...shaped,
    ...known,
    ["Authorization: Bearer abcdef0123456789abcdef", "abcdef0123456789abcdef"],
    ["authorization: Basic dXNlcjpwYXNzd29yZDEyMw==", "dXNlcjpwYXNzd29yZDEyMw=="],
    ["git clone https://ada:s3cr3tpassword@example.com/a.git", "s3cr3tpassword"],
    [PEM, BODY],
    [JSON.stringify({ text: PEM }), BODY],
  ];
}

describe("a secret is masked wherever it is in a line", () => {
  const redactor = createRedactor(secretValues(VARIABLES));

  test.each(printed())("%j", (line, hidden) => {
    expect(redactor.text(line)).not.toContain(hidden);
    expect(redactor.text(line)).toContain("***");
  });
});

test("no secret that agent, check and hook print is stored or shown anywhere", () => {
  const cli = ralphCli()
    .files({
      "ralph.config.json": JSON.stringify({
        provider: { command: "worker" },
        hooks: [{ id: "print", command: "cat ../secrets.txt", isolated: false }],
      }),
      "scripts/ralph/prd.json": JSON.stringify({
        branchName: "main",
        userStories: [{
          id: "US-001",
          title: "Add a.txt",
          acceptanceCriteria: ["Verify: `cat ../secrets.txt; cat ../secrets.txt >&2; test -f a.txt`"],
          priority: 1,
          passes: false,
          notes: "",
        }],
      }),
    })
    .agent(
      "worker",
      "cat ../secrets.txt; cat ../secrets.txt >&2; if [ -f ../once ]; then touch a.txt; fi; touch ../once\n" +
        "echo '<promise>COMPLETE</promise>'",
    )
    .env(VARIABLES);
  const { command: [file = "", ...start], root, environment } = cli.prepare();
  const lines = printed();
  writeFileSync(join(dirname(root), "secrets.txt"), `${lines.map(([line]) => line).join("\n")}\n`);
  const ralph = (...args: string[]): string => {
    const done = spawnSync(file, [...start, ...args], { cwd: root, env: environment, encoding: "utf8" });
    return `${done.stdout}${done.stderr}`;
  };

  const shown = {
    run: ralph("run", "--json", "--max-iterations", "1"),
    again: ralph("run", "--verbose"),
    status: ralph("status"),
    report: ralph("report"),
    html: ralph("report", "--format", "html"),
    json: ralph("report", "--format", "json"),
    statusJson: ralph("status", "--json"),
    nextJson: ralph("next", "--json"),
    validateJson: ralph("validate", "--json"),
    verifyJson: ralph("verify", "--json"),
    verify: ralph("verify"),
    gate: ralph("gate", "--base", "HEAD~1", "--json"),
    gateHook: ralph("gate", "--base", "HEAD~1", "--hook"),
    doctor: ralph("doctor"),
    watch: ralph("watch", "--json"),
    history: spawnSync("git", ["log", "-p", "--all"], { cwd: root, encoding: "utf8" }).stdout,
    ...stored(root),
  };

  expect(shown.again).toContain("passed");
  expect(readFileSync(join(root, "scripts/ralph/prd.json"), "utf8")).toContain('"passes": true');
  const places = lines.flatMap(([line, hidden]) =>
    Object.entries(shown).filter(([, text]) => text.includes(hidden)).map(([place]) => `${place}: ${line.slice(0, 40)}`)
  );
  expect(places).toEqual([]);
  expect(Object.entries(shown).some(([path, text]) => path.includes("hook-iter1-print") && text.includes("***"))).toBe(
    true,
  );
  expect(Object.keys(shown).some((path) => path.endsWith("check-1.log"))).toBe(true);
  expect(Object.keys(shown).some((path) => path.includes("journal"))).toBe(true);
  expect(Object.values(shown).filter((text) => text.includes("***")).length).toBeGreaterThan(5);
});

test("no secret that a task's turns and checks print is in the plan, its queries and its log", () => {
  const task = { t: "task", id: "t-0001", spec: "a.md", name: "Add a.txt", s: "p", priority: "high" };
  const accept = "it is there. Verify: `cat ../secrets.txt; test -f a.txt`";
  const cli = ralphCli()
    .files({
      "ralph.config.json": JSON.stringify({ workflow: "spec", provider: { command: "worker" } }),
      "ralph/specs/a.md": "# A\n\na.txt is there.\n",
      "ralph/plan.jsonl": `${JSON.stringify({ t: "spec", spec: "a.md" })}\n${JSON.stringify({ ...task, accept })}\n`,
    })
    .agent(
      "worker",
      'cat ../secrets.txt; secret=$(sed -n 1p ../secrets.txt); case "$RALPH_STAGE" in ' +
        'BUILD) if [ -f ../once ]; then touch a.txt; fi; touch ../once; ralph issue add "found $secret"; ralph task done t-0001 ;; ' +
        'VERIFY) ralph task reject t-0001 "not with $secret" ;; *) : ;; esac',
    )
    .env(VARIABLES);
  const { command: [file = "", ...start], root, environment } = cli.prepare();
  const lines = printed();
  writeFileSync(join(dirname(root), "secrets.txt"), `${lines.map(([line]) => line).join("\n")}\n`);
  const ralph = (...args: string[]): string => {
    const done = spawnSync(file, [...start, ...args], { cwd: root, env: environment, encoding: "utf8" });
    return `${done.stdout}${done.stderr}`;
  };

  const shown = {
    run: ralph("build", "--non-interactive", "--json", "--max-iterations", "4"),
    log: ralph("log"),
    logJson: ralph("log", "--json"),
    query: ralph("query"),
    tasks: ralph("query", "tasks"),
    issues: ralph("query", "issues"),
    next: ralph("query", "next"),
    status: ralph("status", "--json"),
    report: ralph("report", "--format", "json"),
    history: spawnSync("git", ["log", "-p", "--all"], { cwd: root, encoding: "utf8" }).stdout,
    ...stored(root),
  };

  expect(shown.issues + shown.log + shown.query).toContain("***");
  const places = lines.flatMap(([line, hidden]) =>
    Object.entries(shown).filter(([, text]) => text.includes(hidden)).map(([place]) => `${place}: ${line.slice(0, 40)}`)
  );
  expect(places).toEqual([]);
}, 60_000);

test.skipIf(process.platform === "win32")("what a run keeps is for its owner alone", async () => {
  const { root } = await ralphCli()
    .files({ "ralph.config.json": JSON.stringify({ provider: { command: "worker" } }) })
    .files({ "scripts/ralph/prd.json": JSON.stringify({ branchName: "main", userStories: [STORY] }) })
    .agent("worker", "touch a.txt; echo '<promise>COMPLETE</promise>'")
    .args("run").expectExit(0);

  const runs = join(root, "scripts/ralph/runs");
  const [run = ""] = readdirSync(runs).filter((name) => /^\d/.test(name));
  const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8);
  const files = readdirSync(join(runs, run), { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  const journal = readdirSync(join(root, ".git/ralph")).find((name) => name.startsWith("journal")) ?? "";
  expect([mode(join(runs, run)), mode(join(root, ".git/ralph")), mode(join(root, ".git/ralph", journal))])
    .toEqual(["700", "700", "600"]);
  expect(files.length).toBeGreaterThan(2);
  expect([...new Set(files.map((one) => mode(join(one.parentPath, one.name))))]).toEqual(["600"]);
});

const STORY = {
  id: "US-001",
  title: `Use ${"gh"}p_IIIIabcdefghijklmnopqrstuvwxyz012345`,
  acceptanceCriteria: ["Verify: `test -f a.txt`"],
  priority: 1,
  passes: false,
  notes: "",
};

test("an event that a file's text came into is masked as well", async () => {
  const { root, stdout } = await ralphCli()
    .files({ "ralph.config.json": JSON.stringify({ provider: { command: "worker" } }) })
    .files({ "scripts/ralph/prd.json": JSON.stringify({ branchName: "main", userStories: [STORY] }) })
    .agent("worker", "touch a.txt; echo '<promise>COMPLETE</promise>'")
    .args("run", "--json").expectExit(0);

  const events = Object.entries(stored(root)).filter(([path]) => path.endsWith("events.ndjson"));
  expect(events).toHaveLength(1);
  for (const text of [stdout, ...events.map(([, found]) => found)]) {
    expect(text).toContain("Use ***");
    expect(text).not.toContain("p_IIIIabc");
  }
});

/** Every file of a project, what is in its git directory included, but git's own objects. */
function stored(root: string): Readonly<Record<string, string>> {
  const found = readdirSync(root, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  const paths = found.map((one) => join(one.parentPath, one.name)).filter((path) => !path.includes("/objects/"));
  return Object.fromEntries(paths.map((path) => [path.slice(root.length + 1), readFileSync(path, "utf8")]));
}

test("checks that are functions and dax commands are masked like the others", async () => {
  await using ralph = await testContext({ agent: { turns: [] } });
  const key = `${"gh"}p_IIIIabcdefghijklmnopqrstuvwxyz012345`;
  const logs = join(ralph.root, "logs");

  const { results } = await verify(ralph, [
    ralph.$`echo ${key}`,
    async ($: typeof ralph.$) => await $`echo ${key}`,
    { name: "finding", run: () => Promise.resolve({ ok: false, exitCode: null, tail: key }) },
    { name: "thrown", run: () => Promise.reject(new Error(key)) },
    { name: "expected", command: `echo ${key}`, expect: { output: key } },
  ], { logs });

  expect(results.map(({ ok }) => ok)).toEqual([true, true, false, false, true]);
  for (const { tail } of results) expect(tail).toContain("***");
  for (const { tail } of results) expect(tail).not.toContain(key);
  for (const name of readdirSync(logs)) expect(readFileSync(join(logs, name), "utf8")).not.toContain(key);
});
