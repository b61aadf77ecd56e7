/** The exit codes of every command; shown by `ralph help exit-codes`. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  blocked: 3,
  agent: 4,
  internal: 70,
  interrupted: 130,
} as const;

/** The meaning of each exit code, in the order in which help shows them. */
export const EXIT_MEANINGS: readonly (readonly [code: number, meaning: string])[] = [
  [EXIT.done, "done, or a person said no"],
  [EXIT.failed, "ended not done: failed or a limit was reached"],
  [EXIT.usage, "wrong usage or configuration"],
  [EXIT.blocked, "blocked: a person is needed"],
  [EXIT.agent, "the agent is missing or unusable"],
  [EXIT.internal, "internal error"],
  [EXIT.interrupted, "interrupted"],
];
