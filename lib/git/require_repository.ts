import { RalphError } from "../errors/ralph_error.ts";
import type { Repository } from "./types.ts";

/** A working tree as the steps see it. */
export interface RootedRepository {
  /** `null` outside a git repository. */
  readonly repository: Repository | null;
  /** Absolute path of the project. */
  readonly root: string;
}

/** The repository, where one is needed. @throws {RalphError} not-a-repository */
export function requireRepository({ repository, root }: RootedRepository): Repository {
  if (repository === null) throw new RalphError("not-a-repository", { details: { root } });
  return repository;
}
