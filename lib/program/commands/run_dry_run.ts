import { type Invocation, styleFor, toJson } from "../../cli/command.ts";
import { openLook } from "../../cli/look.ts";
import { openSession } from "../../cli/session.ts";
import { unnamedAgent } from "../../cli/agents.ts";
import { EXIT } from "../../errors/ralph_error.ts";
import { confinementText, oneLine } from "../../ui/text.ts";
import type { Chosen } from "../chosen.ts";

/**
 * `ralph run --dry-run`: what would come first, on which branch, by which agent, and what has to pass. Starts no agent
 * and no check, writes nothing.
 *
 * @throws {RalphError} what would stop the run at once: a named agent or a sandbox that cannot be used
 */
export async function showRunDryRun(invocation: Invocation, { place, scope, workflow }: Chosen): Promise<number> {
  const { flags, out, say } = invocation;
  const look = await openLook(invocation, place, scope);
  const view = await workflow.next(look);
  const options = { asks: false, silent: true, data: true, gates: null, place };
  await using session = await openSession(invocation, options);
  const { agent, config, loop, repository, host } = session.ralph;
  const unnamed = await unnamedAgent(agent);
  const sandbox = await host.sandbox?.ensureUsable();
  const backlog = await workflow.backlog?.(session.ralph, scope);
  const here = await repository?.currentBranch() ?? "a detached HEAD";
  const branch = loop.branch ?? (await backlog?.brief?.())?.branch ?? here;
  const checks = config.verify.default;
  if (flags.has("json")) {
    out(toJson({ workflow: place.workflow.name, agent: agent.name, branch, checks, next: view.data }));
    return view.blocked ? EXIT.blocked : EXIT.done;
  }
  const { dim } = styleFor(invocation, "stdout");
  const rows: readonly (readonly [string, string])[] = [
    ["workflow", `${place.workflow.name} (${place.workflow.why})`],
    ["agent", unnamed === null ? oneLine(agent.name) : `none: ${unnamed}`],
    [
      "branch",
      branch === "" || branch === here ? `${here}, which is checked out` : `${branch}; ${here} is checked out`,
    ],
    ["checks", checks.length === 0 ? "only the items' own" : checks.map(oneLine).join(", ")],
    ["sandbox", confinementText(sandbox)],
    ["next", ""],
  ];
  for (const [name, line] of rows) out(`${dim(name.padEnd(8))}  ${line}`.trimEnd());
  for (const line of [...view.item ?? [], ...view.notes ?? []]) out(`  ${line}`);
  say("nothing was started or written; the same command without `--dry-run` begins");
  return view.blocked ? EXIT.blocked : EXIT.done;
}
