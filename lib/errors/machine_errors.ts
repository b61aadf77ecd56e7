/** The rows of the table that are about work on many machines. */
export const MACHINE_ERRORS = {
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
} as const;
