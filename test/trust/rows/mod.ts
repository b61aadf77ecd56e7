/**
 * Every cheat, by class. Each file holds one: what is said, state, configuration, tests, what they reach and
 * compare with, what is around and inside of them, what a run is led by, the checker, git, processes.
 *
 * @module
 */
import { AROUND } from "./around.ts";
import { BESIDE_TESTS } from "./beside.ts";
import { CHECKER } from "./checker.ts";
import { CLAIMS } from "./claims.ts";
import { COMPARED_ROWS } from "./compared.ts";
import { CONFIGURATION } from "./configuration.ts";
import { INSIDE } from "./inside.ts";
import { LED } from "./led.ts";
import { PROCESSES } from "./processes.ts";
import { REACHED } from "./reached.ts";
import { REPOSITORY } from "./repository.ts";
import { STATE_ROWS } from "./state.ts";
import { TESTS } from "./tests.ts";
import { TRUSTED } from "./trusted.ts";
import type { Row } from "./types.ts";

export const ROWS: readonly Row[] = [
  ...CLAIMS,
  ...STATE_ROWS,
  ...CONFIGURATION,
  ...TESTS,
  ...REACHED,
  ...COMPARED_ROWS,
  ...AROUND,
  ...INSIDE,
  ...TRUSTED,
  ...LED,
  ...CHECKER,
  ...BESIDE_TESTS,
  ...REPOSITORY,
  ...PROCESSES,
];
