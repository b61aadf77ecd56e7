import type { Check, Verification } from "../../../backlog/types.ts";
import { verifyCommands } from "../../../backlog/verify_commands.ts";
import { verify } from "../../../checks/verify.ts";
import type { RalphContext } from "../../../context/context.ts";
import { doneOf } from "../plan_file.ts";
import { planStore } from "../store.ts";

/** The checks of every task that is done, each command once, then `verify.default`. */
export async function verifyTasks(ralph: RalphContext): Promise<Verification> {
  const scopes = new Map<string, readonly string[]>();
  for (const { id, accept } of doneOf(await planStore(ralph).load())) {
    for (const command of verifyCommands(accept)) scopes.set(command, [...scopes.get(command) ?? [], id]);
  }
  const own = [...scopes].map(([command, ids]): Check => ({ name: command, command, scope: ids.join(",") }));
  const shared = ralph.config.verify.default.filter((command) => !scopes.has(command));
  return await verify(ralph, [...own, ...shared.map((command): Check => ({ name: command, command }))]);
}
