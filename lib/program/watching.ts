import type { Command } from "../cli/command.ts";
import { ROOT_FLAG, SHOW_FLAGS } from "../cli/flags.ts";

const STEER_FLAGS = { ...ROOT_FLAG, ...SHOW_FLAGS };

/** The rows of the commands that look at a run at work, and change it. */
export const WATCHING: readonly Command[] = [
  {
    name: "watch",
    insideRun: true,
    summary: "the live view of a run, in another terminal",
    usage: "[RUN]",
    arity: [0, 1],
    flags: {
      json: { type: "boolean", summary: "print its events as NDJSON on standard output, as they come" },
      ...ROOT_FLAG,
      ...SHOW_FLAGS,
    },
    details: ["Without RUN: the newest run at work. It ends with the run; Ctrl-C leaves the run alone."],
    load: () => import("./commands/watch.ts"),
  },
  {
    name: "ui",
    summary: "a page in the browser that shows the runs and changes them",
    usage: "",
    arity: [0, 0],
    flags: {
      port: { type: "text", value: "N", summary: "the port (default: one that is free)" },
      open: { type: "boolean", summary: "open it in the browser" },
      root: { type: "text", value: "DIR", many: true, summary: "a project's folder (repeatable; default: this one)" },
      ...SHOW_FLAGS,
    },
    details: [
      "It prints its address, on this machine alone and with a token in it: who has it can answer, pause and stop.",
    ],
    load: () => import("./commands/ui.ts"),
  },
  {
    name: "pause",
    summary: "let a run wait after its present turn",
    usage: "[RUN]",
    arity: [0, 1],
    flags: STEER_FLAGS,
    load: async () => ({ run: (await import("./commands/steer.ts")).pause }),
  },
  {
    name: "resume",
    summary: "let a paused run continue",
    usage: "[RUN]",
    arity: [0, 1],
    flags: STEER_FLAGS,
    load: async () => ({ run: (await import("./commands/steer.ts")).resume }),
  },
  {
    name: "stop",
    summary: "end a run after its present turn",
    usage: "[RUN]",
    arity: [0, 1],
    flags: {
      now: { type: "boolean", summary: "end it at once, as Ctrl-C does; the turn is taken again later" },
      ...STEER_FLAGS,
    },
    load: async () => ({ run: (await import("./commands/steer.ts")).stop }),
  },
  {
    name: "tell",
    summary: "say something to a run: it goes into the next prompt",
    usage: '"TEXT"',
    arity: [1, 1],
    flags: {
      item: { type: "text", value: "ID", summary: "into the prompts for this item alone" },
      run: { type: "text", value: "RUN", summary: "to this run (default: the newest one at work)" },
      ...STEER_FLAGS,
    },
    details: ["It is under its own heading there, and in the report. What has to pass does not change."],
    load: async () => ({ run: (await import("./commands/steer.ts")).tell }),
  },
];
