import { type Invocation, usage } from "../../../cli/command.ts";
import { openLook } from "../../../cli/look.ts";
import { findPlace } from "../../../cli/workspace.ts";
import { requireRepository } from "../../../git/repository.ts";
import { openTracker } from "../../../trackers/open_tracker.ts";
import { seenBody, seenTitle, standingOf } from "../../../trackers/trust.ts";

/**
 * The text of an issue as a goal, if its last editor may write to the repository.
 *
 * @throws {RalphError} usage, tracker-unknown, tracker-login, tracker-unreachable, tracker-refused
 */
export async function issueGoal(invocation: Invocation): Promise<string> {
  const { flags, host, signal } = invocation;
  const id = flags.text("issue") ?? "";
  if (invocation.arguments.length > 0) throw usage("a goal and `--issue` exclude each other", "leave one of them out");
  const place = await findPlace(invocation);
  const { git } = requireRepository(await openLook(invocation, place));
  const { tracker: config } = place.config;
  const name = config.name ?? "github";
  const tracker = await openTracker({ ...config, name }, { root: place.root, git, host, signal });
  const wanted = name === "github" && /^\d+$/.test(id) ? `#${id}` : id;
  const [issue] = await tracker.list({ label: config.label, id: wanted });
  if (issue === undefined) throw usage(`there is no issue ${wanted} in ${tracker.project} at ${tracker.host}`);
  if (standingOf(issue) !== "own") {
    const hint = `set the label ${config.label}, and \`ralph run --sandbox\` with its tracker works on it as a report`;
    throw usage(`the issue ${wanted} was written or edited by someone who may not write here: it is no goal`, hint);
  }
  return `${seenTitle(issue)} (${issue.id})\n\n${seenBody(issue)}`.trim();
}
