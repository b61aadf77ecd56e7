import type { FeatureStory } from "../types.ts";
import { EXIT } from "../../../errors/exit_codes.ts";
import type { Invocation } from "../../../cli/command.ts";
import { styleFor, toJson } from "../../../cli/show.ts";
import type { FeatureArgument } from "./argument.ts";
import { checkNames, viewFeature } from "./view.ts";

/** `ralph next FEATURE`: what the next iteration would take, and what would have to pass. */
export async function featureNext(invocation: Invocation, argument: FeatureArgument): Promise<number> {
  const { flags, out, say } = invocation;
  const { bold, dim, warn, symbols } = styleFor(invocation, "stdout");
  const { backlog, feature, place: { config } } = await viewFeature(invocation, argument);
  const next = await backlog.next({ inFlight: [], parked: [] });
  const story = next.status === "item" && next.item.kind === "story" ? next.item.data as FeatureStory : null;
  if (flags.has("json")) {
    out(toJson(
      next.status !== "item" ? { feature: feature.name, ...next } : {
        feature: feature.name,
        status: "item",
        id: next.item.id,
        kind: next.item.kind,
        title: next.item.title,
        ...(story === null ? {} : {
          acceptanceCriteria: story.acceptanceCriteria,
          tags: story.tags,
          retries: story.retries,
          checks: checkNames(story, config),
        }),
      },
    ));
    return next.status === "blocked" ? EXIT.blocked : EXIT.done;
  }
  switch (next.status) {
    case "done":
      say(`nothing is left to do: ${next.summary ?? "every story passes"}`);
      return EXIT.done;
    case "waiting":
      say("everything that is left depends on what is in flight");
      return EXIT.done;
    case "blocked":
      say("blocked:");
      for (const reason of next.reasons) say(`  ${reason.split("\n")[0] ?? ""}`);
      say(`hint: \`ralph run ${feature.name} --retry-blocked\` takes blocked stories up again`);
      return EXIT.blocked;
    case "item":
      break;
  }
  if (story === null) {
    out(`every story passes; next: the final verification (\`ralph run ${feature.name}\`)`);
    return EXIT.done;
  }
  const checks = checkNames(story, config);
  out(`${bold(story.id)}  ${story.title}`);
  for (const criterion of story.acceptanceCriteria) out(`  ${dim(symbols.dot)} ${criterion}`);
  out(
    checks.length === 0
      ? `  ${warn(symbols.warning)} no check: it cannot pass`
      : `checks: ${checks.map((check) => `\`${check}\``).join(", ")}`,
  );
  return EXIT.done;
}
