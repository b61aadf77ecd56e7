/** Projects that somebody made to do harm to whoever only looks at them. */
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** A terminal acts upon these: a window title, a cleared screen, turned text, C1 codes. */
export const HOSTILE = "X\u001b]0;PWNED\u0007\u001b[2J\u001b[31m\u202e\u0085\u009b2J\u0000\u007f";

/** Makes a project in a folder that holds a new repository. */
export interface Malice {
  readonly name: string;
  readonly make: (root: string) => void;
}

const PRD = "scripts/ralph/prd.json";
const CONFIG = "ralph.config.json";
const PLAN = "ralph/plan.jsonl";
const STORY = {
  id: "US-001",
  title: "A",
  acceptanceCriteria: ["Verify: `true x`"],
  priority: 1,
  passes: false,
  notes: "",
};
const TASK = { t: "task", id: "t-0001", spec: "a.md", name: "A", s: "p", accept: "A" };
const PROGRESS = { "sprint-id": "s", mode: "ralph", status: "in-progress", goal: "G", "dynamic-steps": [] };
const BOMB = `a: &a [x, x]\n${
  Array.from({ length: 40 }, (_, index) => `${name(index + 1)}: &${name(index + 1)} [*${name(index)}, *${name(index)}]`)
    .join("\n")
}\n`;

function name(index: number): string {
  return index === 0 ? "a" : `a${index}`;
}

function files(name: string, texts: Readonly<Record<string, string | Uint8Array>>): Malice {
  return {
    name,
    make(root) {
      for (const [path, text] of Object.entries(texts)) {
        mkdirSync(dirname(join(root, path)), { recursive: true });
        writeFileSync(join(root, path), text);
      }
    },
  };
}

function prd(name: string, story: object, top: object = {}): Malice {
  return files(`prd: ${name}`, {
    [PRD]: JSON.stringify({ branchName: "main", userStories: [{ ...STORY, ...story }], ...top }),
  });
}

function config(name: string, content: object): Malice {
  return files(`config: ${name}`, { [CONFIG]: JSON.stringify(content) });
}

function plan(name: string, lines: readonly object[]): Malice {
  return files(`spec: ${name}`, {
    [PLAN]: [{ t: "spec", spec: "a.md" }, ...lines].map((line) => `${JSON.stringify(line)}\n`).join(""),
  });
}

function sprint(name: string, text: string, file = "PROGRESS.yaml"): Malice {
  return files(`sprint: ${name}`, {
    ".claude/sprints/one/SPRINT.yaml": "goal: G\nworkflow: ralph\n",
    ".claude/sprints/one/PROGRESS.yaml": JSON.stringify(PROGRESS),
    [CONFIG]: JSON.stringify({ workflow: "sprint" }),
    [`.claude/sprints/one/${file}`]: text,
  });
}

function planning(name: string, texts: Readonly<Record<string, string>>): Malice {
  const found = Object.entries(texts).map(([path, text]) => [`.planning/${path}`, text] as const);
  return files(`gsd: ${name}`, { ".planning/ROADMAP.md": "- [ ] **Phase 1: A**\n", ...Object.fromEntries(found) });
}

function journal(name: string, text: string): Malice {
  return {
    name: `journal: ${name}`,
    make(root) {
      prd("journal", {}).make(root);
      files("", { ".git/ralph/journal.jsonl": text }).make(root);
    },
  };
}

function special(path: string, kind: "zero" | "pipe" | "folder" | "circle" | "outside"): Malice {
  return {
    name: `${path} is a ${kind}`,
    make(root) {
      if (path !== PRD && path !== CONFIG) prd("", {}).make(root);
      const target = join(root, path);
      mkdirSync(dirname(target), { recursive: true });
      if (kind === "folder") mkdirSync(target);
      else if (kind === "pipe") execFileSync("mkfifo", [target]);
      else symlinkSync({ zero: "/dev/zero", circle: target, outside: "/etc/passwd" }[kind], target);
    },
  };
}

function many<Value>(count: number, make: (index: number) => Value): readonly Value[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

const FEATURE = ".ralph/2025-01-10-a";
const EVENT = { v: 1, at: "2026-01-01T00:00:00.000Z", run: "20260101-000000-aaaa" };
const RUN = "scripts/ralph/runs/20260101-000000-aaaa/events.ndjson";

/** One for each way in; those that come first are tried in every run of the tests. */
export const MALICE: readonly Malice[] = [
  prd("unknown key", { [`K${HOSTILE}`]: 1 }, { [`K${HOSTILE}`]: 1 }),
  prd("title, id and criterion", { id: `U${HOSTILE}`, title: HOSTILE, acceptanceCriteria: [HOSTILE] }),
  prd("back-ticks", { acceptanceCriteria: [`Verify: ${"`".repeat(1_000_000)}`] }),
  config("unknown keys", { [HOSTILE]: 1, provider: { preset: HOSTILE } }),
  files("feature: hostile PRD", { [`${FEATURE}/prd.json`]: JSON.stringify({ [HOSTILE]: HOSTILE }) }),
  plan("hostile names", [{ ...TASK, name: HOSTILE, spec: HOSTILE, accept: HOSTILE, deps: [HOSTILE] }]),
  sprint("an alias bomb", `${BOMB}mode: ralph\n`),
  planning("hostile phase", { "ROADMAP.md": `- [ ] **Phase 1: ${HOSTILE}**\n**Depends on**: ${HOSTILE}\n` }),
  journal("a line that is no record", '{"type":"begun"}\n'),
  special(PRD, "zero"),
  special(CONFIG, "pipe"),
  files("events: hostile", {
    [RUN]: `${JSON.stringify({ ...EVENT, type: "run-start", workflow: HOSTILE, root: HOSTILE, agent: HOSTILE })}\n`,
  }),
  // from here on in the long form only
  prd("branch", {}, { branchName: HOSTILE }),
  prd("notes", { notes: HOSTILE, description: HOSTILE }),
  prd("types", { priority: HOSTILE, passes: HOSTILE, acceptanceCriteria: HOSTILE }),
  prd("many openings", { acceptanceCriteria: ["Verify: `".repeat(100_000)] }),
  prd("many stories", {}, { userStories: many(60_000, (index) => ({ ...STORY, id: `US-${index % 7}` })) }),
  files("prd: no JSON", { [PRD]: `{ "${HOSTILE}": ${HOSTILE}` }),
  files("prd: a list", { [PRD]: "[]" }),
  files("prd: null", { [PRD]: "null" }),
  files("prd: empty", { [PRD]: "" }),
  files("prd: deep", { [PRD]: `${"[".repeat(100_000)}${"]".repeat(100_000)}` }),
  files("prd: prototype", { [PRD]: '{"__proto__":{"x":1},"userStories":[{"__proto__":1,"constructor":2}]}' }),
  files("prd: no UTF-8", { [PRD]: Buffer.from([0xff, 0xfe, 0x00, 0x1b, 0x9b]) }),
  files("prd: too large", { [PRD]: `"${"x".repeat(17 * 1024 * 1024)}"` }),
  config("workflow", { workflow: HOSTILE }),
  config("command", { provider: { command: HOSTILE }, verify: { default: [HOSTILE] } }),
  config("types", { provider: HOSTILE, verify: [], limits: { costUsd: HOSTILE }, hooks: [{ id: HOSTILE }] }),
  config("services", { services: many(3, () => ({ name: HOSTILE, ready: "http://[" })) }),
  files("config: no JSON", { [CONFIG]: `{${HOSTILE}` }),
  files("config: too large", { [CONFIG]: `{"x":"${"x".repeat(17 * 1024 * 1024)}"}` }),
  files("config: deep", { [CONFIG]: `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}` }),
  files("feature: hostile folder", { [`.ralph/2025-01-10-\u001b[31mX\u202e/prd.json`]: "{}" }),
  files("feature: no JSON", { ".ralph/2025-01-10-a/prd.json": HOSTILE, [CONFIG]: '{"workflow":"feature"}' }),
  files("feature: hostile story", {
    [CONFIG]: '{"workflow":"feature"}',
    ".ralph/2025-01-10-a/prd.json": JSON.stringify({
      branchName: HOSTILE,
      userStories: [{ ...STORY, title: HOSTILE }],
    }),
  }),
  plan("a circle", many(20_000, (index) => ({ ...TASK, id: `t-${index}`, deps: [`t-${(index + 1) % 20_000}`] }))),
  plan("hostile records", [{ t: HOSTILE }, { ...TASK, s: HOSTILE }, { t: "issue", id: HOSTILE, desc: HOSTILE }]),
  plan("hostile rejects", [TASK, { t: "reject", id: "t-0001", done_at: HOSTILE, reason: HOSTILE }]),
  files("spec: no JSON", { [PLAN]: `${HOSTILE}\n{"t":\n[]\n1\nnull\n` }),
  files("spec: one long line", { [PLAN]: `{"t":"task","name":"${"x".repeat(5_000_000)}"}\n` }),
  files("spec: hostile spec", { [PLAN]: `{"t":"spec","spec":"../../../etc/${"\\u001b"}[2J"}\n` }),
  sprint("an alias bomb in the definition", BOMB, "SPRINT.yaml"),
  sprint("hostile texts", JSON.stringify({ ...PROGRESS, goal: HOSTILE, status: HOSTILE, "sprint-id": HOSTILE })),
  sprint(
    "hostile steps",
    JSON.stringify({ ...PROGRESS, "dynamic-steps": [{ id: HOSTILE, prompt: HOSTILE, status: HOSTILE }] }),
  ),
  sprint("hostile mode", JSON.stringify({ ...PROGRESS, mode: HOSTILE })),
  sprint("a list", "- a\n- b\n"),
  sprint("no YAML", `a: [\n${HOSTILE}`),
  sprint("an alias of itself", "a: &a\n  b: *a\nmode: ralph\n"),
  sprint("types", "mode: ralph\nralph: 1\nstats: []\ndynamic-steps: {a: 1}\nhook-tasks: x\n"),
  planning("hostile state", { "STATE.md": `# State\nPhase: ${HOSTILE}\nCurrent focus: ${HOSTILE}\n` }),
  planning("hostile plan", {
    "phases/01-a/01-01-PLAN.md":
      `---\nphase: ${HOSTILE}\ndepends_on: [${HOSTILE}]\nautonomous: ${HOSTILE}\n---\n<task>${HOSTILE}`,
  }),
  planning("an alias bomb", { "phases/01-a/01-01-PLAN.md": `---\n${BOMB}---\n` }),
  planning("long lines", {
    "ROADMAP.md": `${"#".repeat(600_000)}\n${"- [ ] ".repeat(100_000)}\n${"*".repeat(600_000)}`,
  }),
  planning("open tags", { "phases/01-a/01-01-PLAN.md": "<task>".repeat(50_000) }),
  journal("another version", '{"v":2,"key":"[\\"prd\\",\\"\\"]","type":"begun"}\n'),
  journal("a number", "1\n"),
  journal("a key that is none", '{"v":1,"key":"x","type":"run-ended"}\n'),
  journal("a torn line", '{"v":1,"key":"[\\"p'),
  journal(
    "hostile",
    `{"v":1,"key":"[\\"exec\\",\\"\\"]","type":"parked","itemId":"US-001","reason":${JSON.stringify(HOSTILE)}}\n`,
  ),
  special(PRD, "pipe"),
  special(PRD, "folder"),
  special(PRD, "circle"),
  special(PRD, "outside"),
  special(CONFIG, "zero"),
  special(CONFIG, "folder"),
  special(CONFIG, "circle"),
  special(".git/ralph/journal.jsonl", "zero"),
  special(".git/ralph/run.lock", "zero"),
  special("scripts/ralph/plan_state.json", "zero"),
  special(RUN, "zero"),
  special(RUN, "pipe"),
  files("events: no JSON", { [RUN]: `${HOSTILE}\n[]\n1\n{"type":"run-end"}\n{"type":${JSON.stringify(HOSTILE)}}\n` }),
  files("events: hostile items", {
    [RUN]: [
      { ...EVENT, type: "run-start", workflow: "exec", root: "/", agent: "a", folder: "f" },
      {
        ...EVENT,
        type: "iteration-start",
        iteration: 1,
        item: { id: HOSTILE, kind: HOSTILE, title: HOSTILE },
        attempt: 1,
        passed: 0,
        total: 1,
      },
      {
        ...EVENT,
        type: "check-end",
        name: HOSTILE,
        scope: HOSTILE,
        ok: false,
        exitCode: 1,
        durationMs: 1,
        tail: HOSTILE,
      },
      { ...EVENT, type: "note", level: "warn", message: HOSTILE },
    ].map((event) => `${JSON.stringify(event)}\n`).join(""),
  }),
  files("lock: hostile", {
    [PRD]: "{}",
    ".git/ralph/run.lock": JSON.stringify({ pid: 1, purpose: HOSTILE, since: HOSTILE }),
  }),
  {
    name: "git: a program for fsmonitor",
    make(root) {
      prd("", {}).make(root);
      execFileSync("git", ["config", "core.fsmonitor", `touch ${join(root, "CANARY")}; false`], { cwd: root });
    },
  },
];
