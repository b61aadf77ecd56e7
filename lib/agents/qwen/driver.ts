import type { AdapterInvocation, AdapterOptions, Driver } from "../adapter.ts";
import { qwenTranslator } from "./parse.ts";

/** `qwen --yolo -o stream-json`: the prompt on standard input. */
function qwenArguments({ prompt, model }: AdapterOptions): AdapterInvocation {
  return {
    arguments: ["--yolo", "-o", "stream-json", ...(model === null ? [] : ["-m", model])],
    input: prompt,
    environment: { QWEN_CODE_SUPPRESS_YOLO_WARNING: "1", QWEN_CODE_NO_RELAUNCH: "true" },
  };
}

/** `qwen -i` in the terminal, with its own questions. */
function qwenInteractive({ prompt, model }: AdapterOptions): AdapterInvocation {
  return { arguments: [...(model === null ? [] : ["-m", model]), "-i", prompt], input: null };
}

/** How `qwen` is called, and how its stream is read. */
export const DRIVER: Driver = {
  arguments: qwenArguments,
  interactive: qwenInteractive,
  translator: qwenTranslator,
  ignored: ['{"type":"stream_event"'],
  exitKind: (code) => code === 53 || code === 55 ? "own-limit" : null,
};
