// A project of each workflow with so many items, and the agent that works them off.
import { fileURLToPath } from "node:url";
import { writeInto } from "./world.mjs";

/** The floor of exec: a shell loop that does the same work. */
export const BASH_WORK = fileURLToPath(new URL("bash_work.sh", import.meta.url));

const WORK = "cat > /dev/null; mkdir -p work; echo done > work/$$.txt";
const CHECK = "test -d work";

/** Each workflow needs this: `files(count)`, the command line, and the agent's shell line. */
export const WORKFLOWS = {
  exec: {
    files: () => ({}), // the world's own PRD
    argv: ["run"],
    agent: `${WORK}; echo '<promise>COMPLETE</promise>'`,
  },
  feature: {
    files: (count) => ({
      ".ralph/2026-01-15-auth/prd.json": json({
        schemaVersion: 2,
        project: "bench",
        branchName: "ralph/auth",
        description: "bench",
        userStories: numbers(count).map((number) => ({
          id: `US-${pad(number, 3)}`,
          title: `Story ${number}`,
          description: "bench",
          acceptanceCriteria: ["the check passes"],
          priority: number,
          passes: false,
          notes: "",
          tags: [],
        })),
      }),
      "ralph.config.json": json({ workflow: "feature", verify: { default: [CHECK] } }),
    }),
    argv: ["run", "auth"],
    agent: `${WORK}; case $RALPH_ITEM in US-*) echo '<ralph>DONE</ralph>';; *) echo '<ralph>VERIFIED</ralph>';; esac`,
  },
  spec: {
    files: (count) => ({
      "specs/a.md": "# a\n",
      "ralph/plan.jsonl": [
        { t: "spec", spec: "a.md" },
        ...numbers(count).map((number) => ({
          t: "task",
          id: `t-${(0x10000 + number).toString(16)}`,
          spec: "a.md",
          name: `write ${number}`,
          accept: `Verify: \`${CHECK}\``,
          s: "p",
        })),
      ].map((record) => `${JSON.stringify(record)}\n`).join(""),
      "ralph.config.json": json({ workflow: "spec" }),
    }),
    argv: ["build"],
    agent: `${WORK}; case $RALPH_ITEM in t-*) ralph task done "$RALPH_ITEM";; *) ralph task accept;; esac > /dev/null`,
  },
  gsd: {
    files: planning,
    argv: ["run", "--loop"],
    agent:
      `${WORK}; echo ok > ".planning/phases/\${RALPH_ITEM%%-*}-p/$RALPH_ITEM-SUMMARY.md"; echo '###PLAN_COMPLETE###'`,
  },
  sprint: {
    files: () => ({
      "sprint/SPRINT.yaml": "workflow: ralph\ngoal: many\n",
      // a step an iteration: else a run ends 12 turns after its hundredth
      "ralph.config.json": json({ workflow: "sprint", verify: { default: [CHECK] }, limits: { added: 10_000 } }),
    }),
    argv: ["sprint", "run", "sprint"],
    agent: `${WORK}; n=$(ls work | wc -l); if [ $n -ge $ITEMS ]; then echo "RALPH_COMPLETE: after $n"; else ` +
      `printf '{"status":"continue","completedStepIds":["%s"],"pendingSteps":[{"id":null,"prompt":"work %s"}]}\\n' "$RALPH_ITEM" $n; fi`,
  },
};

/** The workflows, and a sprint whose steps are all planned at the start: its plan does not grow with its iterations. */
export const PROJECTS = {
  ...WORKFLOWS,
  "sprint, planned": {
    files: (count) => ({
      ...WORKFLOWS.sprint.files(),
      "sprint/PROGRESS.yaml": `mode: ralph\ngoal: many\nstatus: in-progress\ndynamic-steps:\n${
        numbers(count).map((number) =>
          `  - id: step-${number}\n    prompt: work ${number}\n    status: pending\n    added-at: 2026-01-01T00:00:00.000Z\n`
        ).join("")
      }`,
    }),
    argv: WORKFLOWS.sprint.argv,
    agent: `${WORK}; printf '{"status":"continue","completedStepIds":["%s"],"pendingSteps":[]}\\n' "$RALPH_ITEM"`,
  },
};

/** Ten plans a phase. */
function planning(count) {
  const phases = numbers(Math.ceil(count / 10));
  const plansOf = (phase) => numbers(Math.min(10, count - (phase - 1) * 10));
  const plan = [
    "---\ntype: execute\n---\n",
    "<objective>\nMake it.\n</objective>\n",
    `<tasks>\n<task type="auto">\n  <name>Write it</name>\n  <action>Write it</action>\n  <verify>\n    <automated>${CHECK}</automated>\n  </verify>\n  <done>there</done>\n</task>\n</tasks>\n`,
    "<verification>\n- [ ] all is well\n</verification>\n",
  ].join("\n");
  const files = {};
  for (const phase of phases) {
    for (const number of plansOf(phase)) {
      files[`.planning/phases/${pad(phase, 2)}-p/${pad(phase, 2)}-${pad(number, 2)}-PLAN.md`] = plan;
    }
  }
  const details = phases.map((phase) =>
    `### Phase ${phase}: P\n**Goal**: p\n**Plans**: ${plansOf(phase).length} plans\n\nPlans:\n${
      plansOf(phase).map((number) => `- [ ] ${pad(phase, 2)}-${pad(number, 2)}-PLAN.md — it`).join("\n")
    }\n`
  );
  const rows = phases.map((phase) => `| ${phase}. P | 0/${plansOf(phase).length} | Not started | - |`);
  return {
    ...files,
    ".planning/STATE.md": `# Project State\n\n## Current Position\n\nPhase: 1 of ${phases.length} (P)\nPlan: 0 of ${
      plansOf(1).length
    } in current phase\nStatus: Ready to execute\nLast activity: 2026-01-01 — Roadmap created\n\nProgress: [░░░░░░░░░░] 0%\n`,
    ".planning/ROADMAP.md": `# Roadmap\n\n## Phases\n\n${
      phases.map((phase) => `- [ ] **Phase ${phase}: P** - p`).join("\n")
    }\n\n## Phase Details\n\n${
      details.join("\n")
    }\n## Progress\n\n| Phase | Plans Complete | Status | Completed |\n|-------|----------------|--------|-----------|\n${
      rows.join("\n")
    }\n`,
  };
}

/** Adds a workflow's files to a world and commits them. */
export function addWorkflow(world, name, count) {
  writeInto(world.root, PROJECTS[name].files(count));
}

/** The command line that works a workflow's items off; `ralph` is the program, or it and its first arguments. */
export function commandOf(ralph, name, limit, agent = PROJECTS[name].agent) {
  const { argv } = PROJECTS[name];
  const most = limit === undefined ? [] : name === "gsd" ? [String(limit)] : ["--max-iterations", String(limit)];
  return [...[ralph].flat(), ...argv, ...most, "--agent-cmd", agent, "--quiet"];
}

const json = (data) => `${JSON.stringify(data, null, 2)}\n`;
const numbers = (count) => Array.from({ length: count }, (_, index) => index + 1);
const pad = (number, width) => String(number).padStart(width, "0");
