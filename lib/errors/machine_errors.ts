/** The rows of the table that are about work on many machines. */
export const MACHINE_ERRORS = {
  "queue-invalid": {
    message: "there is no queue of the kind `{scheme}:`",
    hint: "give a PostgreSQL: `--queue postgres://user@host/database`; its password by `PGPASSWORD` or a pgpass file",
    exitCode: 2,
  },
  "queue-unreachable": {
    message: "the queue cannot be used: {reason}",
    hint: "is PostgreSQL 13 or later running there, and may this user create the schema `ralph`?",
    exitCode: 4,
  },
  "queue-led": {
    message: "another coordinator has the lead of this work",
    hint:
      "`ralph run --queue` works in one clone at a time; when that one has ended or died, it can be taken over in 30 s",
    exitCode: 2,
  },
  "worker-named": {
    message: "a worker with the name {name} is at work for this repository",
    hint: "give this one another: `--name NAME`; one that died is forgotten after 30 s",
    exitCode: 2,
  },
  "clone-taken": {
    message: "{path} is not a clone of {repository}",
    hint: "name another folder for the clone: `--directory DIR`",
    exitCode: 2,
  },
  "remote-missing": {
    message: "{root} has no remote `origin`, by which workers elsewhere get the code",
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
    message: "the job {id} is not worked on here: {reason}",
    hint: "`ralph job take` shows the jobs that are out; a worker works for one repository, with agents of its own",
    exitCode: 2,
  },
  "job-not-out": {
    message: "nothing is waiting for a result of {id}",
    hint: "it was landed before, or its run was given up; without arguments `ralph job land` lands what is there",
    exitCode: 2,
  },
  "job-agent": {
    message: "the agent cannot be used, and the result says so: {problem}",
    hint: "`ralph doctor --probe` looks at it; landing that result ends the run",
    exitCode: 4,
  },
  "job-given-back": {
    message: "the job {id} is given back: {reason}",
    hint: "another worker may take it; `limits.maxWait` says how long a worker waits for its agent",
    exitCode: 4,
  },
  "job-stale": {
    message: "another clone has taken or landed jobs of this work since: {problem}",
    hint: "nothing was pushed from here: `git pull --ff-only` and call it again; where that fails, in a fresh clone",
    exitCode: 2,
  },
  "job-clone-unfit": {
    message: "jobs cannot be taken, worked on or landed in this clone: {problem}",
    hint: "in CI: check the branch out by its name and with all history (`fetch-depth: 0`)",
    exitCode: 2,
  },
  "job-version": {
    message: "the job was made by Ralph {theirs}, this is {ours}",
    hint: "run the same version on all machines",
    exitCode: 2,
  },
} as const;
