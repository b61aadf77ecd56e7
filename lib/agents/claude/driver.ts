import type { AdapterInvocation, AdapterOptions, Driver } from "../adapter.ts";
import { claudeTranslator } from "./parse.ts";

/** Tools that ask somebody, plan instead of working, or continue after the turn has ended. */
const DENIED = ["AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "ScheduleWakeup", "Monitor", "CronCreate"];

/** `claude -p`: a stream of JSON, the prompt on standard input. */
function claudeArguments({ prompt, model, reasoning }: AdapterOptions): AdapterInvocation {
  return {
    arguments: [
      "-p",
      "--output-format",
      "stream-json",
      "--verbose",
      "--dangerously-skip-permissions",
      // Takes any number of values: without `=` it would swallow what follows.
      `--disallowedTools=${DENIED.join(",")}`,
      ...choices(model, reasoning),
    ],
    input: prompt,
    environment: {
      CLAUDECODE: undefined,
      CLAUDE_CODE_ENTRYPOINT: undefined,
      CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: "1",
      CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS: "0",
      DISABLE_AUTOUPDATER: "1",
    },
  };
}

/** `claude` in the terminal, with its own questions. */
function claudeInteractive({ prompt, model, reasoning }: AdapterOptions): AdapterInvocation {
  return { arguments: [...choices(model, reasoning), prompt], input: null, environment: { CLAUDECODE: undefined } };
}

function choices(model: string | null, reasoning: string | null): readonly string[] {
  return [...(model === null ? [] : ["--model", model]), ...(reasoning === null ? [] : ["--effort", reasoning])];
}

/** How `claude` is called, and how its stream is read. */
export const DRIVER: Driver = {
  arguments: claudeArguments,
  interactive: claudeInteractive,
  translator: claudeTranslator,
  ignored: ['{"type":"stream_event"'],
};
