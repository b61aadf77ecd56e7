import { EXIT } from "../../errors/exit_codes.ts";
import { storyCommands } from "../../backlog/verify_commands.ts";
import type { Story } from "../../workflows/exec/types.ts";
import type { Config } from "../../config/types.ts";
import type { Item, Next } from "../../backlog/types.ts";
import { printable, printableLine } from "../../ui/printable.ts";
import type { Invocation } from "../../cli/command.ts";
import { featureArgument } from "../../workflows/feature/commands/argument.ts";
import { styleFor, toJson } from "../../cli/show.ts";
import { viewState } from "../../workflows/exec/state_view.ts";

/** `ralph next`: what the next iteration would take, and what would have to pass. */
export async function run(invocation: Invocation): Promise<number> {
  const { place, feature } = await featureArgument(invocation);
  if (feature !== null) {
    return await (await import("../../workflows/feature/commands/next.ts")).featureNext(invocation, feature);
  }
  const { flags, out, say } = invocation;
  if (place.workflow.name === "gsd") {
    return await (await import("../../workflows/gsd/commands/next.ts")).nextOfGsd(invocation, place);
  }
  if (place.workflow.name === "spec") return await nextOfPlan(invocation);
  if (place.workflow.name === "sprint") {
    return await (await import("../../workflows/sprint/commands/next.ts")).nextOfSprint(invocation, place);
  }
  const { backlog, config, ...view } = await viewState(invocation, place);
  const parked = await view.parked();
  const next = await backlog.next({ inFlight: [], parked });
  if (flags.has("json")) out(toJson(data(next, config)));
  else {for (const line of textOf(next, config, parked.length > 0, invocation)) {
      (next.status === "item" ? out : say)(line);
    }}
  return next.status === "blocked" ? EXIT.blocked : EXIT.done;
}

/** In the spec workflow it is `ralph query next`, as text. */
async function nextOfPlan(invocation: Invocation): Promise<number> {
  const { openPlan, tellProblems } = await import("../../workflows/spec/commands/open_plan.ts");
  const { nextAction } = await import("../../workflows/spec/view.ts");
  const { nextLine } = await import("../../workflows/spec/commands/plan_lines.ts");
  const { store, config } = await openPlan(invocation);
  const plan = await store.load();
  tellProblems(invocation, plan);
  const next = nextAction(plan, { rejections: config.limits.rejections });
  invocation.out(invocation.flags.has("json") ? toJson(next) : nextLine(next));
  return next.action === "BUILD" && next.task === null ? EXIT.blocked : EXIT.done;
}

function data(next: Next<unknown>, config: Config): unknown {
  if (next.status !== "item") return next;
  const { id, kind, title } = next.item;
  const story = storyOf(next.item);
  return {
    status: "item",
    id,
    kind,
    title,
    acceptanceCriteria: story?.acceptanceCriteria ?? [],
    checks: checksOf(story, config),
  };
}

function textOf(next: Next<unknown>, config: Config, parked: boolean, invocation: Invocation): readonly string[] {
  const { bold, dim, warn, symbols } = styleFor(invocation, "stdout");
  switch (next.status) {
    case "done":
      return ["nothing is left to do: every story passes"];
    case "waiting":
      return ["everything that is left depends on what is in flight"];
    case "blocked":
      return [
        "blocked:",
        ...next.reasons.map((reason) => `  ${printable(reason.split("\n")[0] ?? "")}`),
        ...(parked ? ["hint: `ralph run --retry-blocked` takes parked stories up again"] : []),
      ];
    case "item": {
      if (next.item.checksOnly === true) {
        return ["every story passes; next: all their checks once more (`ralph verify`)"];
      }
      const story = storyOf(next.item);
      const checks = checksOf(story, config);
      return [
        `${bold(printableLine(next.item.id))}  ${printableLine(next.item.title)}`,
        ...(story?.acceptanceCriteria ?? []).map((criterion) => `  ${dim(symbols.dot)} ${criterion}`),
        checks.length === 0
          ? `  ${warn(symbols.warning)} no check: it cannot pass`
          : `checks: ${checks.map((check) => `\`${printable(check)}\``).join(", ")}`,
      ];
    }
  }
}

function storyOf(item: Item): Story | null {
  return item.kind === "story" ? item.data as Story : null;
}

function checksOf(story: Story | null, config: Config): readonly string[] {
  return story === null ? [] : [...new Set([...config.verify.default, ...storyCommands(story)])];
}
