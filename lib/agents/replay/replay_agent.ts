import { hashText } from "../../host/files.ts";
import type { Host } from "../../host/types.ts";
import type { AgentTurn } from "../../backlog/types.ts";
import { silentTurn } from "../turn_end.ts";
import { openTurnRecord } from "../turn_record.ts";
import type { Agent, TurnRequest } from "../../context/context.ts";
import { differenceOf, readCassette, type RecordedTurn, steadyPrompt, withNonce } from "./cassette.ts";
import { applyChange } from "./tree_change.ts";

/**
 * An agent that plays a cassette: each turn says, changes and commits what the recorded one did. A prompt that is not
 * the recorded one ends the run and shows where the two part.
 */
export function replayAgent(file: string, host: Host): Agent {
  let loaded: Promise<readonly RecordedTurn[]> | undefined;
  let next = 0;
  const load = (): Promise<readonly RecordedTurn[]> => loaded ??= readCassette(file);

  return {
    name: "replay",
    interactive: false,
    async ensureUsable() {
      await load();
    },
    async runTurn(request) {
      const number = next + 1;
      const recorded = (await load())[next];
      next = number;
      if (recorded === undefined) return unusable(request, `the cassette ${file} holds no turn ${number}`);
      const prompt = steadyPrompt(request);
      if (hashText(prompt) !== recorded.promptHash) {
        const difference = differenceOf(recorded.prompt, prompt);
        const message = `turn ${number} of the cassette ${file} was recorded with another prompt: ${difference}`;
        return unusable(request, message);
      }
      const record = await openTurnRecord(request);
      const turn = withNonce(recorded.turn, request.nonce);
      await record.words(Buffer.from(turn.text));
      await record.finish();
      await applyChange(host, request.cwd, recorded);
      for (const event of recorded.events) request.onEvent?.(event);
      return { ...turn, transcript: request.transcript };
    },
  };
}

function unusable({ transcript }: TurnRequest, message: string): AgentTurn {
  return silentTurn({ reason: "agent-unusable", message }, transcript);
}
