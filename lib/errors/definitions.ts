/**
 * The one table of error codes: message, what to do next, exit code. Texts come from here alone.
 *
 * @module
 */

/** One row of the table. `{name}` in a text is filled from the error's details. */
export interface ErrorDefinition {
  readonly message: string;
  readonly hint: string;
  readonly exitCode: number;
  /** Why it happens, for docs/reference/errors.md, where the message does not say it. No final period. */
  readonly cause?: string;
}

/** A hint that is left out comes with the error; an exit code that is left out is that of wrong usage. */
const rows = {
  "usage": {
    message: "{problem}",
    hint: "`ralph help` lists the commands",
    cause:
      "The command line names a command, a flag or a value that does not exist, or leaves one out: `unknown command …`, `unknown flag …`, `--… needs a value`",
  },
  "root-missing": { message: "the root {root} does not exist", hint: "give an existing folder with `--root`" },
  "root-no-folder": {
    message: "the root {root} is a file, not a folder",
    hint: "give an existing folder with `--root`",
  },
  "not-a-repository": {
    message: "{root} is not inside a git repository",
    hint: "run `git init` there first: Ralph commits verified work",
  },
  "repository-bare": {
    message: "{root} is a bare git repository: there are no files to work on",
    hint: "`git clone {root} FOLDER` makes a working tree; run Ralph there",
  },
  "git-missing": { message: "`git` was not found on PATH", hint: "install git (https://git-scm.com) and try again" },
  "git-identity-missing": {
    message: "git has no author configured: {reason}",
    hint: 'run `git config user.name "…"` and `git config user.email "…"`',
  },
  "git-operation-in-progress": {
    message: "a {operation} is in progress in {root}",
    hint: "finish or abort it, then start Ralph again",
    cause: "A merge, rebase, cherry-pick, revert or bisect has begun and has not ended",
  },
  "git-detached-head": {
    message: "HEAD is detached in {root}",
    hint: "switch to a branch, or name one with `--branch NAME`",
  },
  "git-locked": {
    message: "{path} is in the way: {owner}",
    hint: "wait for it to end; remove the file only when no git process is running",
    exitCode: 1,
    cause: "Another git process works in this repository, or one was killed and left its `*.lock` file",
  },
  "git-failed": {
    message: "`git {command}` failed: {reason}",
    exitCode: 1,
    cause: "git refused; the reason is its own message",
  },
  "branch-failed": {
    message: "could not switch to the branch {branch}: {reason}",
    hint: "commit or set aside the changes in the way, or name another branch with `--branch`",
    exitCode: 1,
  },
  "branch-differs": {
    message: "{path} differs between {branch} and {from}; nothing was started",
    hint:
      "`git switch {branch}` and run there what it asks for; or merge one into the other, or name a new branch with `--branch`",
    exitCode: 3,
    cause: "The plan was changed on one of the two branches",
  },
  "branch-invalid": {
    message: "git refuses the branch name {branch}",
    hint: "change `branchName` in the PRD, or name another with `--branch NAME`; `--branch=` stays on the current one",
  },
  "run-locked": {
    message: "another `ralph {purpose}` is running here (pid {pid}, started {startedAt})",
    hint: "wait for it to end, or stop it; a second run needs a working tree of its own (`git worktree add`)",
    cause: "One run at a time works in a working tree, since both would change the same files",
  },
  "run-silent": {
    message: "the run {run} (pid {pid}) did not answer",
    hint:
      "it may be suspended, or a system call may hold it up: `ralph status` shows what it does; Ctrl-C in its terminal ends it",
    exitCode: 1,
  },
  "steer-refused": {
    message: "run {run} refused the command: {reason}",
    hint:
      "`ralph status` shows what can be done; run this on the machine and in the container of the run, outside of its turns",
    exitCode: 1,
  },
  "run-at-work": {
    message: "`ralph {purpose}` is running here (pid {pid}): until it ends you can only add items",
    hint:
      "`issue add`, `task add` without `--supersedes` and `step add` are applied after the turn; the rest has to wait",
    exitCode: 3,
    cause: "While a run is at work, a command may add items and nothing more",
  },
  "inside-a-run": {
    message: "`ralph {command}` cannot run inside the run {run}",
    hint: "during a turn, read state, or change it with the commands that the prompt names",
    exitCode: 3,
    cause: "An agent or a hook of the run has started this command",
  },
  "parallel-impossible": { message: "items cannot run in parallel: {problem}", hint: "leave `--parallel` out" },
  "setup-failed": {
    message: "`workspace.setup` failed: {command}: {reason}",
    hint: "run it in a second working tree (`git worktree add`) to see why; `workspace.setupTimeout` limits its time",
    exitCode: 4,
  },
  "store-locked": {
    message: "{path} is being changed by another process (pid {pid})",
    hint: "try again when it has ended",
    exitCode: 1,
  },
  "state-busy": {
    message: "another program rewrites {path} whenever Ralph writes it",
    hint: "close the program that writes it, then run the same command again",
    exitCode: 1,
  },
  "state-missing": {
    message: "{path} does not exist",
    hint: "make the file, or correct its path",
    cause: "The command needs this file, or the command line names it",
  },
  "state-invalid": {
    message: "{path}: {problem}",
    hint: "fix the file; Ralph has left it as it is",
    cause: "A state file, such as `prd.json` or `plan.jsonl`, has content that Ralph cannot read",
  },
  "config-invalid": {
    message: "{path}: {problem}",
    hint: "`ralph help config` lists the keys",
    cause:
      "The file has a key or a value that Ralph does not know, or it is no JSON; all problems are listed with their lines",
  },
  "config-missing": {
    message: "ralph.config.json not found",
    hint: "run `ralph init --workflow feature` to create one, or give `--agent-cmd` and `--verify`",
  },
  "feature-missing": { message: "there is no feature {name}: {problem}" },
  "service-foreign": {
    message: "service {name}: {url} is already in use by {owner}, which Ralph did not start",
    hint: "stop that process, or set `restartBeforeVerify: false` for the service to use it as it is",
  },
  "service-down": {
    message: "service {name} cannot be used: {reason}; nothing was started",
    hint: "start it, or give it a `start` that works in `services` of ralph.config.json",
    exitCode: 3,
  },
  "browser-missing": {
    message: "no browser for page checks: {reason}",
    hint:
      "install Chromium (Debian: `apt-get install chromium`, macOS: `brew install --cask chromium`) or Chrome, name one in `browser.executablePath`, or set `browser.enabled` to false",
  },
  "browser-failed": {
    message: "the browser {executable} cannot be used: {problem}\n{tail}",
    hint: "start it by hand to see why, or name another one in `browser.executablePath`",
    exitCode: 1,
  },
  "editor-missing": { message: "no editor is configured", hint: "set $VISUAL or $EDITOR, or edit {path} yourself" },
  "finish-refused": { message: "{problem}" },
  "finish-failed": { message: "{problem}", exitCode: 1 },
  "attest-failed": {
    message: "{problem}",
    exitCode: 1,
    cause: "A key or a file of signers cannot be used; a verdict that is refused is no error",
  },
  "brief-changed": {
    message: "the last run was killed, and files that judge the work have changed since it began: {paths}",
    hint: "undo the changes, or accept them with `--accept-changes`",
    exitCode: 3,
  },
  "recipe-untrusted": {
    message: "{path} was found but is not trusted: {problem}",
    hint: "`--recipe {path}` agrees to run it",
    exitCode: 3,
    cause:
      "A recipe is a program: one that comes with a repository runs only after you have agreed to it, and again when it has changed",
  },
  "config-untrusted": {
    message: "you did not agree to the settings of {path}",
    hint: "read it, then run the command again",
    exitCode: 3,
    cause:
      "A configuration names commands: in a terminal Ralph asks before it works with those that it did not write itself",
  },
  "file-unreadable": { message: "could not read {path}: {reason}", cause: "Its permissions, or a folder in its place" },
  "file-unwritable": {
    message: "could not write {path}: {reason}",
    exitCode: 1,
    cause: "Its permissions, a full disk, or a folder in its place",
  },
  "path-outside-root": {
    message: "{path} is outside {root}",
    hint: "name a path inside the root; symbolic links that lead out do not count",
  },
  "agent-missing": {
    message: "no agent is configured",
    hint: 'add `"provider": { "command": "…" }` to ralph.config.json, or give `--agent-cmd "…"`',
    exitCode: 4,
  },
  "agent-not-found": {
    message: "the agent command `{command}` was not found: {reason}",
    hint: "install it, or name another with `--agent-cmd`; `ralph doctor` shows what is there",
    exitCode: 4,
    cause: "The program is not installed or not on PATH",
  },
  "endpoint-invalid": { message: "provider.endpoint: {problem}", hint: "docs/guides/agents.md lists it" },
  "endpoint-unusable": { message: "the model server {endpoint} is not usable: {reason}", exitCode: 4 },
  "runtime-too-old": {
    message: "{what} needs Node.js {least} or newer (this is {version})",
    hint: "use the binary, Bun, Deno or a newer Node.js; or name another agent with `--agent`",
    exitCode: 4,
  },
  "sandbox-missing": {
    message: "no sandbox is available: {problem}",
    hint: "install the missing program, or run without a sandbox: `--no-sandbox`",
    exitCode: 4,
  },
  "agent-unknown": {
    message: "there is no agent named {name}",
    hint: "known agents: {known}; any other command runs with `--agent-cmd`",
  },
  "script-invalid": {
    message: "{path}: {problem}",
    hint: "docs/guides/scripted-agent.md describes the file",
    cause: "The file of `--script` is not what the scripted agent reads",
  },
  "cassette-invalid": {
    message: "{path}: {problem}",
    hint: "`--record FILE` writes a cassette, `--agent replay --cassette FILE` plays it",
    cause: "The file of `--cassette` is not a recording, or the run differs from the recorded one",
  },
  "terminal-missing": {
    message: "`ralph {command}` asks questions and there is no terminal",
    hint: "run it in a terminal, or give `--non-interactive` with `--answers FILE` and `--approve`",
  },
  "answer-missing": {
    message: "no answer to the question {id}: {question}",
    hint: "add it to the answers file (`questions` or `prompts: {{id}: …}`), or run in a terminal",
    exitCode: 3,
  },
  "answers-invalid": {
    message: "{path}: {problem}",
    hint: "expected `questions: [{match, answer}]`, `otherwise: text`, `prompts: {id: answer}`",
    cause: "The file of `--answers` is neither YAML nor JSON of this shape",
  },
  "gsd-missing": {
    message: "{problem}",
    hint:
      "`npx get-shit-done-cc` installs GSD (https://github.com/glittercowboy/get-shit-done); a command of another name goes into `gsd.commands` of ralph.config.json",
    exitCode: 4,
    cause: "The workflow gsd starts GSD's own planning commands, and they are not installed for your agent",
  },
  "recipe-invalid": { message: "{path}: {problem}", cause: "The file does not load, or does not export a recipe" },
  "recipe-failed": {
    message: "the recipe {path} threw: {problem}",
    exitCode: 70,
    cause: "The recipe's own code threw an error; it is above the hint, with its place",
  },
  "backlog-invalid": {
    message: "the backlog {backlog} broke its contract: {problem}",
    hint: "run the contract test of `ralph/testing` against it",
    exitCode: 70,
    cause: "A backlog of your own did something that the interface forbids",
  },
  "hook-invalid": { message: "the hook {hook}: {problem}", hint: "docs/guides/sprint.md says what a hook may be" },
  "sprint-invalid": {
    message: "{path}: {problem}",
    hint: "docs/guides/sprint.md describes the files",
    cause: "`SPRINT.yaml`, `PROGRESS.yaml` or a workflow's file has a mistake; all problems are listed",
  },
  "sprint-missing": {
    message: "{problem}",
    hint: "name the sprint's folder: `ralph sprint run DIR`, or `--sprint DIR` for `ralph step`",
    cause: "No sprint was named, and there is none or more than one",
  },
  "step-unknown": { message: "there is no step {id} in {path}", hint: "`ralph step list` shows the steps" },
  "option-invalid": { message: "{option} must be {expected} (got: {value})" },
  "interrupted": { message: "interrupted", hint: "the same command continues where this one stopped", exitCode: 130 },
  "not-generated": {
    message: "a file of lib/generated is missing in this checkout of Ralph",
    hint: "run `node tools/generate.mjs` in it (`npm ci` does, unless install scripts are off)",
  },
  "internal": {
    message: "{problem}",
    hint: "this is a bug in Ralph: please report it with the lines above",
    exitCode: 70,
    cause: "Ralph did something that it should not have done; nothing of the work is lost",
  },
  "queue-invalid": {
    message: "`{scheme}:` is not a supported queue",
    hint: "give a PostgreSQL: `--queue postgres://user@host/database`; its password by `PGPASSWORD` or a pgpass file",
  },
  "queue-unreachable": {
    message: "the queue cannot be used: {reason}",
    hint: "is PostgreSQL 13 or later running there, and may this user create the schema `ralph`?",
    exitCode: 4,
  },
  "queue-led": {
    message: "another coordinator is already running this work",
    hint:
      "`ralph run --queue URL` works in one clone at a time; when that one has ended or died, it can be taken over in 30 s",
  },
  "queue-job": { message: "the job {id} {problem}", hint: "`ralph queue status` shows the jobs" },
  "queue-unheard": {
    message: "no coordinator at work has heard within 30 s: {asked}",
    hint: "one that was killed leads for 30 s, one that has lost its database hears nothing: ask again then",
  },
  "worker-named": {
    message: "a worker named {name} already works for this repository",
    hint: "choose another name with `--name NAME`; Ralph forgets a dead worker after 30 s",
  },
  "clone-taken": {
    message: "{path} is not a clone of {repository}",
    hint: "name another folder for the clone: `--directory DIR`",
  },
  "remote-missing": {
    message: "{root} has no remote `origin`; workers on other machines need it to get the code",
    hint: "`git remote add origin URL`: workers push `refs/ralph/*` there and nothing else",
  },
  "tracker-unknown": { message: "{problem}", hint: "docs/guides/trackers.md says what each tracker needs" },
  "tracker-login": {
    message: "{host} cannot be used: {reason}",
    hint: "log in with its own program (`gh auth login`), or set `GH_TOKEN`, for Linear `LINEAR_API_KEY`",
    exitCode: 4,
  },
  "tracker-unreachable": {
    message: "{host} cannot be reached: {reason}",
    hint: "start it again later: what was to be said there is kept",
    exitCode: 4,
  },
  "tracker-refused": {
    message: "{host} refuses: {reason}",
    hint: "the token may lack a right: it reads and writes issues, and reads who may write",
    exitCode: 4,
  },
  "claim-lost": {
    message: "another runner has taken over {id}",
    hint: "its work is kept under {ref}; `git log -p -1 {ref}` shows it",
    exitCode: 3,
    cause: "The run was away for longer than two heartbeats, so that its claim counted as left",
  },
  "job-invalid": {
    message: "the {what} cannot be read: {problem}",
    hint:
      "it is as `ralph job take --json` or `ralph job work --json` print it; another program may have written to the queue",
  },
  "job-refused": {
    message: "this worker refuses the job {id}: {reason}",
    hint: "`ralph job take` shows the jobs that are out; a worker works for one repository, with agents of its own",
  },
  "job-not-out": {
    message: "no run is waiting for the result of {id}",
    hint: "it was landed before, or its run was given up; without arguments `ralph job land` lands what is there",
  },
  "job-agent": {
    message: "the agent cannot be used; the result records that: {problem}",
    hint: "`ralph doctor --probe` looks at it; landing that result ends the run",
    exitCode: 4,
  },
  "job-given-back": {
    message: "the worker gave the job {id} back: {reason}",
    hint: "another worker may take it; `limits.maxWait` says how long a worker waits for its agent",
    exitCode: 4,
  },
  "job-stale": {
    message: "another clone has taken or landed jobs meanwhile: {problem}",
    hint: "nothing was pushed: run `git pull --ff-only` and repeat the command; if that fails, use a fresh clone",
  },
  "job-clone-unfit": {
    message: "this clone cannot take, run or land jobs: {problem}",
    hint: "in CI: check the branch out by its name and with all history (`fetch-depth: 0`)",
  },
  "job-version": {
    message: "the job comes from Ralph {theirs}; this is {ours}",
    hint: "run the same version on all machines",
  },
};

/** Every code that an error can carry. */
export type ErrorCode = keyof typeof rows;

/** The table itself, by code. */
export const ERROR_DEFINITIONS: Readonly<Record<ErrorCode, ErrorDefinition>> = Object.fromEntries(
  Object.entries(rows).map(([code, row]) => [code, { hint: "{hint}", exitCode: 2, ...row }]),
) as Record<ErrorCode, ErrorDefinition>;
