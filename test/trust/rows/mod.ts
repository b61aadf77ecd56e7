/**
 * Every cheat, by class. Each file holds one: what is said, state, configuration, tests, the checker, git, processes.
 *
 * @module
 */
import { CHECKER } from "./checker.ts";
import { CLAIMS } from "./claims.ts";
import { CONFIGURATION } from "./configuration.ts";
import { PROCESSES } from "./processes.ts";
import { REPOSITORY } from "./repository.ts";
import { STATE_ROWS } from "./state.ts";
import { TESTS } from "./tests.ts";
import type { Row } from "./types.ts";

export const ROWS: readonly Row[] = [
  ...CLAIMS,
  ...STATE_ROWS,
  ...CONFIGURATION,
  ...TESTS,
  ...CHECKER,
  ...REPOSITORY,
  ...PROCESSES,
];
