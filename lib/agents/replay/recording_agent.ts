import type { AgentEvent } from "../../events/types.ts";
import { redactorFor } from "../../events/redact.ts";
import { appendText, hashText, PRIVATE_FILE } from "../../host/files.ts";
import type { Host } from "../../host/types.ts";
import type { Agent } from "../../context/context.ts";
import { CASSETTE_VERSION, type RecordedTurn, steadyPrompt, withoutNonce } from "./cassette.ts";
import { changeBetween, markTree } from "./tree_change.ts";

/** An agent whose turns are written to a cassette, secrets masked, while they are taken. */
export function recordingAgent(agent: Agent, file: string, host: Host): Agent {
  return {
    name: agent.name,
    interactive: agent.interactive ?? true,
    ensureUsable: () => agent.ensureUsable(),
    async runTurn(request) {
      const before = await markTree(host, request.cwd);
      const events: AgentEvent[] = [];
      const turn = await agent.runTurn({
        ...request,
        onEvent: (event) => {
          events.push(event);
          request.onEvent?.(event);
        },
      });
      const change = await changeBetween(host, request.cwd, before, await markTree(host, request.cwd));
      const prompt = steadyPrompt(request);
      const { transcript: _, ...kept } = turn;
      const recorded: RecordedTurn = {
        v: CASSETTE_VERSION,
        promptHash: hashText(prompt),
        prompt,
        agent: agent.name,
        events,
        turn: kept,
        ...change,
      };
      const redactor = redactorFor({ ...host.environment.variables, ...request.environment });
      const text = redactor.text(withoutNonce(JSON.stringify(recorded), request.nonce));
      await appendText(file, `${text}\n`, PRIVATE_FILE);
      return turn;
    },
  };
}
