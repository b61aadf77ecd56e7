import { type Invocation, printed, styleFor, usage } from "../../cli/command.ts";
import { reporterFor } from "../../cli/session.ts";
import { resolveRoot } from "../../cli/workspace.ts";
import { ownFiles } from "../../context/context.ts";
import { EXIT, RalphError } from "../../errors/ralph_error.ts";
import type { RalphEvent } from "../../events/types.ts";
import { openRepository } from "../../git/open_repository.ts";
import { readLockHolder } from "../../host/lock.ts";
import { findRun, isGivenUp } from "../../report/make_report.ts";
import * as control from "../../steer/control.ts";
import { createLiveView, type LiveView } from "../../ui/live_view.ts";
import { followEvents, type ReadEvent, runEnded } from "../../watch/follow.ts";
import { eventsFile, runsAt } from "../../watch/now.ts";
import { runFolders } from "../../workflows/table.ts";

/** `ralph watch [RUN]`: the live view of a run, from its events; ends with the run. */
export async function watch(invocation: Invocation): Promise<number> {
  const { host, signal, flags, out, say } = invocation;
  const watched = await findWatched(invocation);
  const shown = flags.has("json")
    ? { past: (all: readonly ReadEvent[]) => all.forEach(({ line }) => out(JSON.stringify(line))), live: undefined }
    : viewOf(invocation);
  using _view = shown.live;
  let past: ReadEvent[] | null = [];
  let last: RalphEvent | null = null;
  using _events = followEvents(watched.events, (read) => {
    last = read.event;
    if (past === null) shown.past([read]);
    else past.push(read);
  });
  shown.past(past, watched.live !== null);
  past = null;
  if (watched.live === null) return EXIT.done;
  await runEnded(watched.live, { liveFile: watched.liveFile, clock: host.clock, signal });
  await host.clock.sleep(200, signal); // what it wrote last
  const end = last as RalphEvent | null;
  if (!signal.aborted && end?.type !== "run-end" && end?.type !== "step-end" && !flags.has("json")) {
    say(`run ${watched.live.run} is no longer at work`);
  }
  return EXIT.done;
}

/** The run that is named, or the newest one at work; of one that has ended the events alone. @throws {RalphError} usage */
async function findWatched(invocation: Invocation) {
  const { arguments: [named], host, say } = invocation;
  const { root, own, atWork, live } = await runsHere(invocation, named);
  if (live !== undefined) {
    const others = atWork.filter((one) => one !== live).map(({ run }) => run);
    if (others.length > 0 && named === undefined) say(`watching ${live.run}; also at work: ${others.join(", ")}`);
    return {
      events: eventsFile(live),
      live,
      liveFile: control.liveFile(control.controlFolder(own.directory), live.run),
    };
  }
  if (named === undefined) throw await noRun(root, own.runLock);
  const found = await findRun({ root, cwd: host.environment.cwd, folders: await runFolders(root) }, named);
  return { events: found.events, live: null, liveFile: "" };
}

type Here = Awaited<ReturnType<typeof runsHere>>;

/** The runs at work in a project, and the one that is meant: the named one, else the newest. */
async function runsHere(invocation: Invocation, named: string | undefined) {
  const root = await resolveRoot(invocation);
  const own = ownFiles(await openRepository(invocation.host, root), root);
  const atWork = await runsAt(own.directory, root);
  return { root, own, atWork, live: named === undefined ? atWork.at(-1) : atWork.find(({ run }) => run === named) };
}

/** The error for a run that cannot be seen. */
async function noRun(root: string, runLock: string): Promise<Error> {
  const holder = await readLockHolder(runLock);
  if (holder === null) {
    return usage(
      `no run is at work in ${root}`,
      "`ralph report` shows what the last one did, `ralph status` what is open",
    );
  }
  return usage(
    `\`ralph ${holder.purpose}\` (pid ${holder.pid}) is at work in ${root} and has recorded nothing so far`,
    "try again when its first step has begun",
  );
}

/** Draws events for a person: of the past only the iteration that is under way. */
function viewOf(
  invocation: Invocation,
): { readonly past: (events: readonly ReadEvent[], isPast?: boolean) => void; readonly live: LiveView | undefined } {
  const { host } = invocation;
  const isRich = host.terminal.isTerminal("stderr") && host.environment.variables["TERM"] !== "dumb";
  let at: number | null = null;
  const clock = { ...host.clock, now: () => at ?? host.clock.now() };
  const style = styleFor(invocation, "stderr");
  const live = isRich ? createLiveView({ terminal: host.terminal, clock, style, calm: true }) : undefined;
  const reporter = reporterFor(invocation, { ui: isRich ? "rich" : "plain", quiet: false, live }, () => null);
  return {
    live,
    past(events, isPast = false) {
      const from = isPast ? Math.max(0, events.findLastIndex(({ event }) => event.type === "iteration-start")) : 0;
      for (const [index, { event, atMs, lane }] of events.entries()) {
        at = atMs;
        if (index < from) live?.emit(event, lane);
        else reporter.emit(event, lane);
      }
      at = null;
    },
  };
}

/** `ralph pause [RUN]`: nothing starts after the present turn, until `ralph resume`. */
export function pause(invocation: Invocation): Promise<number> {
  return steer(invocation, invocation.arguments[0], () => ({ action: "pause" }));
}

/** `ralph resume [RUN]`. */
export function resume(invocation: Invocation): Promise<number> {
  return steer(invocation, invocation.arguments[0], ({ pause }) => ({ action: "resume", key: pause?.key ?? "" }));
}

/** `ralph stop [RUN]`: after the present turn, or at once. */
export function stop(invocation: Invocation): Promise<number> {
  const action = invocation.flags.has("now") ? "stop-now" : "stop";
  return steer(invocation, invocation.arguments[0], () => ({ action }));
}

/** `ralph tell "TEXT"`: into the next prompt. */
export function tell(invocation: Invocation): Promise<number> {
  const { arguments: [text = ""], flags } = invocation;
  const item = flags.text("item");
  if (item === undefined) return steer(invocation, flags.text("run"), () => ({ action: "tell", text }));
  const ended = (here: Here): Promise<number> => tellEnded(invocation, here, { text, item });
  return steer(invocation, flags.text("run"), () => ({ action: "tell", text, item }), ended);
}

/** To a run that has ended. @throws {RalphError} usage where it takes nothing */
async function tellEnded(
  { host, flags, say }: Invocation,
  { root, own }: Here,
  told: Pick<control.SteerRequest, "item" | "text">,
): Promise<number> {
  const found = await findRun({ root, cwd: host.environment.cwd, folders: await runFolders(root) }, flags.text("run"));
  const { status, message } = await control.tellNext({
    control: control.controlFolder(own.directory),
    folder: found.folder,
    host,
    isGivenUp: (item) => isGivenUp(found, item),
  }, { ...told, origin: "file" });
  if (status === "refused") throw usage(message, "`ralph status` names what is parked");
  return printed(say, message);
}

/** @throws {RalphError} usage when no such run is at work, steer-refused, run-silent */
async function steer(
  invocation: Invocation,
  named: string | undefined,
  ask: (live: control.LiveRun) => Omit<control.SteerRequest, "origin">,
  ended?: (here: Here) => Promise<number>,
): Promise<number> {
  const { host, say } = invocation;
  const here = await runsHere(invocation, named);
  const { root, own, live } = here;
  if (live === undefined && ended !== undefined) return await ended(here);
  if (live === undefined) throw await noRun(named === undefined ? root : `${root} named ${named}`, own.runLock);
  const folder = control.controlFolder(own.directory);
  const reply = await control.sendRequest({ folder, run: live.run, host }, { ...ask(live), origin: "file" });
  if (reply === null) throw new RalphError("run-silent", { details: { run: live.run, pid: live.pid } });
  if (reply.hint !== undefined) throw usage(`run ${live.run}: ${reply.message}`, reply.hint);
  if (reply.status === "refused") {
    throw new RalphError("steer-refused", { details: { run: live.run, reason: reply.message } });
  }
  return printed(say, `run ${live.run}: ${reply.message}`);
}
