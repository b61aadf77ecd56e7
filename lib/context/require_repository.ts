import type { RalphContext } from "./context.ts";
import { RalphError } from "../errors/ralph_error.ts";
import type { Repository } from "../git/types.ts";

/** The repository, where one is needed. @throws {RalphError} not-a-repository */
export function requireRepository({ repository, root }: Pick<RalphContext, "repository" | "root">): Repository {
  if (repository === null) throw new RalphError("not-a-repository", { details: { root } });
  return repository;
}
