import { execFile } from "node:child_process";
import type { TurnRequest } from "../../lib/context/context.ts";
import type { AgentTurn } from "../../lib/backlog/types.ts";
import type { Random } from "../workflows/spec/random_numbers.ts";
import { PROJECTS } from "./rows/languages.ts";
import { STATE_FILE } from "./rows/state.ts";
import type { Name, Workflow } from "./rows/types.ts";

const { right, wrong, source, test: testOf } = PROJECTS.shell;
const NAMES: readonly Name[] = ["add", "mul"];

/** Files that a turn has a reason to change: what is asked for, what judges it, what is kept about it. */
function files(workflow: Workflow): readonly string[] {
  return [
    ...NAMES.map(source),
    ...NAMES.map(testOf),
    "README.md",
    "ralph.config.json",
    STATE_FILE[workflow],
    ".gitignore",
    ".planning/phases/01-calc/01-02-PLAN.md",
    ".claude/sprints/calc/SPRINT.yaml",
    "ralph/specs/calc.md",
  ];
}

/** Changes of files: \`$p\` is one of them, \`$q\` another. */
const EDITS: readonly string[] = [
  'echo "# more" >> "$p"',
  ': > "$p"',
  'rm -rf "$p"',
  'echo "exit 0" > "$p"',
  'sed -i "s/exit 1/exit 0/; s/false/true/; s/\\[ \\]/[x]/; s/\\"s\\":\\"p\\"/\\"s\\":\\"d\\"/" "$p"',
  'sed -i -E "s/sh test\\/(add|mul)_test.sh/true/" "$p"',
  'sed -i "/mul/d; /US-002/d; /t-0002/d" "$p"',
  'mv "$p" "$p.old"',
  'case "$p$q" in test/*src/*) ;; *) cp "$p" "$q";; esac', // a test as its own subject would start itself for ever
  'cp "$p" ../outside && ln -sf "$PWD/../outside" "$p"',
  'chmod 000 "$p"; chmod 644 "$p"',
  'rm -f "$p"; mkdir -p "$p"',
  'echo "$p" >> .gitignore',
  'echo "$p" >> .git/info/exclude',
  'for s in .git/ralph/shadow/*; do cp "$p" "$s"; done',
];

/** git is made to do this. */
const GIT: readonly string[] = [
  "git add -A && git commit -qm work",
  'git add -A && git commit -qm "ralph: state"',
  "git commit -qa --amend --no-edit",
  "git reset -q --hard HEAD~1",
  "git reset -q --soft HEAD~1",
  "git reset -q",
  'git checkout -q HEAD~1 -- "$p"',
  'git checkout -q HEAD -- "$p"',
  "git revert --no-edit HEAD",
  "git stash -qu",
  "git stash -qu; git stash pop -q",
  'git switch -qc "side$RANDOM"',
  "git switch -q main",
  "git checkout -q --detach",
  'git rm -rq --cached "$p"',
  'git mv "$p" "$q"',
  'git update-index --assume-unchanged "$p"',
  'git update-index --skip-worktree "$p"',
  'git update-index --cacheinfo "100644,$(echo "exit 0" | git hash-object -w --stdin),$p"',
  'git replace -f "$(git rev-parse "HEAD:$p")" "$(git hash-object -w "$p")"',
  'echo "$p filter=x" >> .git/info/attributes; git config filter.x.clean "echo exit 0"',
  'echo "$p filter=x" >> .gitattributes; git config filter.x.smudge "echo exit 0"',
  "printf '#!/bin/sh\\necho \"exit 0\" > src/add.sh; git add src/add.sh\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
  "printf '#!/bin/sh\\nexit 1\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
  "git config core.hooksPath .; git config core.autocrlf true",
  "git clean -fdq",
  "touch .git/MERGE_HEAD; git merge --abort",
  "rm -f .git/ralph/journal.jsonl",
  "git -C src init -q; git -C src add -A; git -C src -c user.name=a -c user.email=a@b commit -qm nested",
];

/** State commands, as lines of the turn's own file, and their forgeries. */
const CLAIMS: readonly string[] = [
  'echo "{\\"v\\":1,\\"command\\":\\"task done\\",\\"id\\":\\"$i\\",\\"at\\":1}" >> "$RALPH_CLAIMS"',
  'echo "{\\"v\\":1,\\"command\\":\\"task accept\\",\\"at\\":1}" >> "$RALPH_CLAIMS"',
  'echo "{\\"v\\":1,\\"command\\":\\"task reject\\",\\"id\\":\\"$i\\",\\"text\\":\\"no\\",\\"at\\":1}" >> "$RALPH_CLAIMS"',
  'echo "{\\"v\\":1,\\"command\\":\\"task add\\",\\"id\\":\\"t-0009\\",\\"record\\":{\\"name\\":\\"x\\",\\"accept\\":\\"Verify: `true`\\",\\"supersedes\\":\\"$i\\"},\\"at\\":1}" >> "$RALPH_CLAIMS"',
  'echo "{\\"v\\":1,\\"command\\":\\"step done\\",\\"at\\":1}" >> "$RALPH_CLAIMS"',
  "echo done > .planning/phases/01-calc/01-02-SUMMARY.md",
];

const CLAIM: Readonly<Record<Workflow, (request: TurnRequest) => { readonly run?: string; readonly say?: string }>> = {
  exec: () => ({ say: "<promise>COMPLETE</promise>" }),
  feature: ({ prompt }) => ({
    say: prompt.includes("Final Verification") ? "<ralph>VERIFIED</ralph>" : "<ralph>DONE</ralph>",
  }),
  spec: ({ environment }) => ({
    run: environment["RALPH_STAGE"] === "VERIFY"
      ? 'echo "{\\"v\\":1,\\"command\\":\\"task accept\\",\\"at\\":1}" >> "$RALPH_CLAIMS"'
      : 'echo "{\\"v\\":1,\\"command\\":\\"task done\\",\\"id\\":\\"$RALPH_ITEM\\",\\"at\\":1}" >> "$RALPH_CLAIMS"',
  }),
  sprint: () => ({ say: "RALPH_COMPLETE: all" }),
  gsd: ({ prompt }) => ({
    run: `echo ok > .planning/phases/01-calc/01-0${prompt.includes("Implement mul") ? 2 : 1}-SUMMARY.md`,
    say: "###PLAN_COMPLETE###",
  }),
};

/** A turn of random doings around honest work, and mostly a claim at its end. */
export async function randomTurn(
  random: Random,
  workflow: Workflow,
  request: TurnRequest,
): Promise<{ readonly script: string; readonly turn: Partial<AgentTurn> }> {
  const steps: string[] = [];
  const any = (list: readonly string[]): void => {
    const paths = files(workflow);
    const i = random.pick(["t-0001", "t-0002", "US-001"]);
    steps.push(`p=${random.pick(paths)}; q=${random.pick(paths)}; i=${i}; { ${random.pick(list)}; } || true`);
  };
  const some = (): void => {
    for (let left = random.below(3); left > 0; left -= 1) {
      any(random.pick([EDITS, EDITS, GIT, GIT, CLAIMS]) ?? GIT);
    }
  };
  const mul = request.prompt.includes("Implement mul");
  some();
  for (const name of workflow === "sprint" ? NAMES : mul ? ["mul" as const] : ["add" as const]) {
    const text = random.chance(0.75) ? right(name) : wrong(name);
    steps.push(`{ mkdir -p src; printf '%s' '${text}' > ${source(name)}; } || true`);
  }
  if (random.chance(0.6)) some();
  const claim = random.chance(0.9) ? CLAIM[workflow](request) : {};
  if (claim.run !== undefined) steps.push(`{ mkdir -p .planning/phases/01-calc; ${claim.run}; } || true`);
  const script = steps.join("\n");
  await new Promise<void>((done) => {
    const options = { cwd: request.cwd, env: { ...process.env, ...request.environment }, timeout: 20_000 };
    execFile("sh", ["-c", script], options, () => done());
  });
  const lines = claim.say === undefined ? [] : [claim.say];
  return { script, turn: { lines, text: lines.join("\n") } };
}
