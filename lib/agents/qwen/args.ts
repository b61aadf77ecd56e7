import type { AdapterInvocation, AdapterOptions } from "../adapter.ts";

/** `qwen --yolo -o stream-json`: the prompt on standard input. */
export function qwenArguments({ prompt, model }: AdapterOptions): AdapterInvocation {
  return {
    arguments: ["--yolo", "-o", "stream-json", ...(model === null ? [] : ["-m", model])],
    input: prompt,
    environment: { QWEN_CODE_SUPPRESS_YOLO_WARNING: "1", QWEN_CODE_NO_RELAUNCH: "true" },
  };
}

/** `qwen -i` in the terminal, with its own questions. */
export function qwenInteractive({ prompt, model }: AdapterOptions): AdapterInvocation {
  return { arguments: [...(model === null ? [] : ["-m", model]), "-i", prompt], input: null };
}
