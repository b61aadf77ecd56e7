import { appendClaims, type ClaimLine, CLAIMS_VARIABLE, readClaims } from "../../../backlog/claims.ts";
import type { Verification } from "../../../backlog/types.ts";
import { verify } from "../../../checks/verify.ts";
import { type Invocation, toJson, usage } from "../../../cli/command.ts";
import { openSession } from "../../../cli/session.ts";
import { findPlace } from "../../../cli/workspace.ts";
import { EXIT } from "../../../errors/ralph_error.ts";
import { exitCodeOf } from "../../../recipe/outcome.ts";
import { planChecks } from "../checks.ts";
import { findPlan, positionOf } from "../position.ts";
import { readPlanning } from "../read_planning.ts";
import type { Plan, Planning, PlanTask } from "../types.ts";

const COMMAND = "task check";

/**
 * `ralph check TASK`: the commands of one task, run by Ralph at once. An agent claims its task by it and learns whether
 * to go on, to repeat the task, or to give up; after the turn all checks are run again.
 */
export async function run(invocation: Invocation): Promise<number> {
  const { arguments: [named = ""], flags, host, out } = invocation;
  const place = await findPlace(invocation);
  const { variables } = host.environment;
  const plan = planOf(await readPlanning(place), flags.text("plan") ?? variables["RALPH_ITEM"]);
  const task = plan.tasks.find(({ number }) => String(number) === named);
  if (task === undefined) {
    const tasks = plan.tasks.map(({ number, name }) => `${number} ${name}`).join("; ") || "it has none";
    throw usage(`plan ${plan.id} has no task ${named}`, `its tasks: ${tasks}`);
  }
  await using session = await openSession(invocation, { asks: false, gates: [], data: true, silent: true, place });
  const checks = planChecks({ tasks: [task], verification: { commands: [], notCheckable: [] } }, [], { skip: false });
  const verified = await verify(session.ralph, checks);
  const [at, id] = [host.clock.now(), `${plan.id}/${task.number}`];
  const claim: ClaimLine = { v: 1, command: COMMAND, at, id, text: verified.status };
  const failures = await failuresOf(variables[CLAIMS_VARIABLE] ?? "", claim);
  if (flags.has("json")) out(toJson(verified));
  else for (const line of linesOf(verified, task, failures)) out(line);
  if (verified.status === "unverified") return EXIT.done;
  return failures > 1 ? EXIT.blocked : exitCodeOf({ ...verified, allowed: false });
}

/** @throws {RalphError} usage */
function planOf(planning: Planning, named: string | undefined): Plan {
  const plan = named === undefined || named === "" ? positionOf(planning).next : findPlan(planning, named);
  if (plan !== null) return plan;
  const problem = named === undefined ? "no plan comes next" : `there is no plan ${named}`;
  throw usage(problem, "`--plan 01-02` names the plan");
}

/** Adds the result to the claims of the turn. @returns how often the task has failed in it, this time included */
async function failuresOf(file: string, claim: ClaimLine): Promise<number> {
  const failed = claim.text === "failed" ? 1 : 0;
  if (file === "") return failed;
  const same = (await readClaims(file)).filter(({ command, id, text }) =>
    command === COMMAND && id === claim.id && text === "failed"
  );
  await appendClaims(file, [claim]);
  return failed * (same.length + 1);
}

function linesOf(verified: Verification, { name, number }: PlanTask, failures: number): readonly string[] {
  const count = verified.results.length;
  switch (verified.status) {
    case "passed":
      return [`task ${number}: ${count} of ${count} checks passed`];
    case "unverified":
      return [`task ${number} names no command: verify it as its <verify> says`];
    case "aborted":
      return [`task ${number}: stopped`];
    case "failed":
      return [
        `task ${number}: ${verified.failures.length} of ${count} checks failed`,
        ...verified.failures.flatMap((failure) => [failure.name, failure.tail.trimEnd()]),
        failures > 1
          ? `it failed for the second time: print ###TASK_FAILED:${name}### and stop`
          : `repeat the task once, then run \`ralph check ${number}\` again`,
      ];
  }
}
