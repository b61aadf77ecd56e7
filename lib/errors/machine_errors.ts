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
    hint: "another program has written to the queue or to `refs/ralph/`: `ralph queue status` shows the jobs",
    exitCode: 2,
  },
  "job-version": {
    message: "the job was made by Ralph {theirs}, this is {ours}",
    hint: "run the same version on all machines",
    exitCode: 2,
  },
} as const;
