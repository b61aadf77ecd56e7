/** The rows of the table that are about work on many machines. */
export const MACHINE_ERRORS = {
  "queue-invalid": {
    message: "`{scheme}:` is not a supported queue",
    hint: "give a PostgreSQL: `--queue postgres://user@host/database`; its password by `PGPASSWORD` or a pgpass file",
    exitCode: 2,
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
    exitCode: 2,
  },
  "worker-named": {
    message: "a worker named {name} already works for this repository",
    hint: "choose another name with `--name NAME`; Ralph forgets a dead worker after 30 s",
    exitCode: 2,
  },
  "clone-taken": {
    message: "{path} is not a clone of {repository}",
    hint: "name another folder for the clone: `--directory DIR`",
    exitCode: 2,
  },
  "remote-missing": {
    message: "{root} has no remote `origin`; workers on other machines need it to get the code",
    hint: "`git remote add origin URL`: workers push `refs/ralph/*` there and nothing else",
    exitCode: 2,
  },
  "job-invalid": {
    message: "the {what} cannot be read: {problem}",
    hint:
      "it is as `ralph job take --json` or `ralph job work --json` print it; another program may have written to the queue",
    exitCode: 2,
  },
  "job-refused": {
    message: "this worker refuses the job {id}: {reason}",
    hint: "`ralph job take` shows the jobs that are out; a worker works for one repository, with agents of its own",
    exitCode: 2,
  },
  "job-not-out": {
    message: "no run is waiting for the result of {id}",
    hint: "it was landed before, or its run was given up; without arguments `ralph job land` lands what is there",
    exitCode: 2,
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
    exitCode: 2,
  },
  "job-clone-unfit": {
    message: "this clone cannot take, run or land jobs: {problem}",
    hint: "in CI: check the branch out by its name and with all history (`fetch-depth: 0`)",
    exitCode: 2,
  },
  "job-version": {
    message: "the job comes from Ralph {theirs}; this is {ours}",
    hint: "run the same version on all machines",
    exitCode: 2,
  },
} as const;
