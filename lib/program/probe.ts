import { join } from "node:path";
import type { Adapter } from "../agents/adapter.ts";
import { adapterAgent } from "../agents/adapter_agent.ts";
import { ADAPTERS } from "../agents/adapters.ts";
import type { EndpointConfig } from "../config/types.ts";
import type { AgentEvent } from "../events/types.ts";
import { temporaryDirectory } from "../host/files.ts";
import type { Host } from "../host/types.ts";
import { tokensOf } from "../backlog/usage.ts";
import { formatDuration } from "../ui/printable.ts";
import type { Finding } from "../cli/finding.ts";
import type { FoundAgent } from "../cli/known_agents.ts";
import { didYouMean, usage } from "../cli/parse.ts";

const MARKER = "<ralph>DONE</ralph>";
const PROMPT =
  `This is a test of how you are started. Do nothing, use no tool, and end your answer with this line:\n${MARKER}\n`;
const TIMEOUT_MS = 180_000;

/** A probe needs to know this of an agent. */
export interface ProbeOptions {
  readonly host: Host;
  readonly signal: AbortSignal;
  readonly model?: string | undefined;
  readonly endpoint?: string | EndpointConfig | undefined;
}

/**
 * The agents that `--probe` names; without names the configured one. An agent that was not chosen is not asked: it costs a turn.
 *
 * @throws {RalphError} usage
 */
export function probed(names: string, preset: string | undefined, found: readonly FoundAgent[]): readonly Adapter[] {
  const asked = names.split(",").map((name) => name.trim()).filter((name) => name !== "");
  const wanted = asked.length > 0 ? asked : preset !== undefined ? [preset] : [];
  if (wanted.length === 0) {
    const names = found.map(({ name }) => name).join(",") || "claude";
    throw usage("no agent is configured: which one is to be probed?", `\`ralph doctor --probe ${names}\``);
  }
  return wanted.map((name) => {
    const adapter = ADAPTERS.find((row) => row.name === name);
    if (adapter !== undefined) return adapter;
    const hint = didYouMean(name, ADAPTERS.map((row) => row.name), "`ralph doctor` lists them");
    throw usage(`there is no agent named ${name} to probe`, hint);
  });
}

/** Sends one cheap prompt through an adapter, in an empty folder, and compares what came back with what it expects. */
export async function probe(adapter: Adapter, { host, signal, model, endpoint }: ProbeOptions): Promise<Finding> {
  const name = `probe ${adapter.name}`;
  await using folder = await temporaryDirectory("ralph-probe-");
  const agent = adapterAgent(adapter, { host, model, endpoint, root: folder.path });
  const events: AgentEvent[] = [];
  const turn = await agent.runTurn({
    prompt: PROMPT,
    cwd: folder.path,
    transcript: join(folder.path, "transcript.log"),
    timeoutMs: TIMEOUT_MS,
    environment: {},
    signal,
    onEvent: (event) => events.push(event),
  });
  const took = formatDuration(turn.durationMs);
  if (turn.end.reason !== "completed") {
    const message = "message" in turn.end ? turn.end.message : "interrupted";
    return { level: "missing", name, detail: `${turn.end.reason} after ${took}: ${message}`, hint: adapter.login };
  }
  const tokens = tokensOf(turn.usage);
  const { translator } = await adapter.load();
  const problems = [
    ...(turn.lines.includes(MARKER) ? [] : ["the marker was not in its output"]),
    ...(events.some(({ type }) => type === "agent-line-invalid") ? ["it printed lines that are no events"] : []),
    ...(translator === null || events.some(({ type }) => type === "agent-text")
      ? []
      : ["no output was found in its stream"]),
    ...(adapter.proof.kind === "measured" && tokens === null ? ["it reported no usage"] : []),
  ];
  const used = tokens === null ? "usage unknown" : `${tokens} tokens`;
  return problems.length === 0 ? { level: "ok", name, detail: `answered as expected in ${took}, ${used}` } : {
    level: "missing",
    name,
    detail: `answered in ${took}, but ${problems.join("; ")}`,
    hint: "its program has changed since the adapter was written: `--agent-cmd` runs it as plain text",
  };
}
