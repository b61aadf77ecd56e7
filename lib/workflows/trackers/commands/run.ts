import type { Backlog } from "../../../backlog/types.ts";
import type { Flags, Invocation } from "../../../cli/command.ts";
import { endWith } from "../../../cli/end_with.ts";
import { openSession } from "../../../cli/session.ts";
import { optional, parseDuration } from "../../../cli/settings.ts";
import type { Place } from "../../../cli/workspace.ts";
import { note, type RalphContext } from "../../../context/context.ts";
import type { Config } from "../../../config/load.ts";
import { requireRepository } from "../../../git/repository.ts";
import type { LoopOutcome } from "../../../loop/run/outcome.ts";
import type { TrackerBacklog } from "../../../trackers/backlog.ts";

/** After these a run that keeps going looks for more. */
const GOES_ON: ReadonlySet<LoopOutcome["status"]> = new Set(["passed", "unverified", "blocked"]);

/** `ralph run --tracker NAME`: the issues that have the label. Typing it is the consent, also to push. */
export async function runIssues(invocation: Invocation, place: Place): Promise<number> {
  const { flags } = invocation;
  const every = flags.text("every");
  const seconds = every === undefined ? null : parseDuration("--every", every);
  const settings = { tracker: overlayOf(flags) };
  await using session = await openSession(invocation, { asks: false, gates: [], place, settings });
  const { ralph } = session;
  const { openTracker } = await import("../../../trackers/open_tracker.ts");
  const { trackerBacklog } = await import("../../../trackers/backlog.ts");
  const { git } = requireRepository(ralph);
  const { root, host, signal } = ralph;
  const tracker = await openTracker(ralph.config.tracker, { root, git, host, signal });
  await using backlog = await trackerBacklog(ralph, tracker);
  const outcome = await rounds(await withoutTokens(ralph), backlog, seconds);
  return endWith(invocation, ralph, outcome, `ralph run --tracker ${tracker.name}`);
}

function overlayOf(flags: Flags): Partial<Config["tracker"]> {
  const name = flags.text("tracker") as Config["tracker"]["name"] | undefined;
  return { ...optional("name", name), ...optional("label", flags.text("label")) };
}

/** The context of checks and hooks, which run what an agent wrote. The repository's own git keeps its variables. */
export async function withoutTokens(ralph: RalphContext): Promise<RalphContext> {
  const { host } = ralph;
  const { TOKENS } = await import("../../../trackers/backlog.ts");
  const run: typeof host.processes.run = (request) =>
    host.processes.run({ ...request, environment: { ...request.environment, ...TOKENS } });
  return { ...ralph, host: { ...host, processes: { ...host.processes, run } } };
}

/** The loop, and where a person wants that again and again. */
async function rounds(ralph: RalphContext, backlog: TrackerBacklog, seconds: number | null): Promise<LoopOutcome> {
  const { runLoop } = await import("../../../loop/run/run_loop.ts");
  const { host: { clock }, steering, signal } = ralph;
  const over = AbortSignal.any([signal, steering.stopping]);
  for (;;) {
    const outcome = await runLoop(ralph, backlog as Backlog, { purpose: "run" });
    if (seconds === null || !GOES_ON.has(outcome.status) || over.aborted) return outcome;
    note(ralph, "info", `looks for new issues every ${seconds} s; \`ralph stop\` ends it`);
    do {
      await clock.sleep(seconds * 1000, over);
      if (over.aborted) return outcome;
    } while (!await backlog.hasWork());
  }
}
