import type { Invocation } from "../../cli/command.ts";
import { EXIT } from "../../errors/exit_codes.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import { controlFolder, sendRequest } from "../../steer/control.ts";
import type { LiveRun, SteerRequest } from "../../steer/types.ts";
import { noRun, runsHere } from "./watch.ts";

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
  return steer(invocation, flags.text("run"), () => ({
    action: "tell",
    text,
    ...(item === undefined ? {} : { item }),
  }));
}

/** @throws {RalphError} usage when no such run is at work, steer-refused, run-silent */
async function steer(
  invocation: Invocation,
  named: string | undefined,
  ask: (live: LiveRun) => Omit<SteerRequest, "origin">,
): Promise<number> {
  const { host, say } = invocation;
  const { root, own, live } = await runsHere(invocation, named);
  if (live === undefined) throw await noRun(named === undefined ? root : `${root} named ${named}`, own.runLock);
  const request: SteerRequest = { ...ask(live), origin: "file" };
  const reply = await sendRequest({ folder: controlFolder(own.directory), run: live.run, host }, request);
  if (reply === null) throw new RalphError("run-silent", { details: { run: live.run, pid: live.pid } });
  if (reply.status === "refused") {
    throw new RalphError("steer-refused", { details: { run: live.run, reason: reply.message } });
  }
  say(`run ${live.run}: ${reply.message}`);
  return EXIT.done;
}
