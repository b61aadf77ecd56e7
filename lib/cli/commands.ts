/**
 * The command table. Importing it loads no command: `load` does.
 *
 * @module
 */
import type { Command } from "./command.ts";
import {
  AGENT_FLAGS,
  CONSENT_FLAGS,
  DATA_FLAGS,
  EXEC_FLAGS,
  ITERATION_FLAGS,
  LOOP_FLAGS,
  PLACE_FLAGS,
  PLAN_FLAGS,
  REPORT_FLAGS,
  SHOW_FLAGS,
} from "./flags.ts";
import { SPEC_COMMANDS } from "./spec_commands.ts";

/** Every command, in the order in which help shows them. */
export const COMMANDS: readonly Command[] = [
  {
    name: "init",
    summary: "scaffold a workflow: creates only what is missing",
    usage: "",
    arity: [0, 0],
    flags: {
      "agent-cmd": AGENT_FLAGS["agent-cmd"] as Command["flags"][string],
      verify: LOOP_FLAGS["verify"] as Command["flags"][string],
      ...PLACE_FLAGS,
      ...SHOW_FLAGS,
    },
    load: () => import("./commands/init.ts"),
  },
  {
    name: "exec",
    summary: "plan a goal, understand the code, implement it: each by consent",
    usage: '"<goal>"',
    arity: [0, 1],
    flags: {
      ...PLAN_FLAGS,
      ...EXEC_FLAGS,
      ...CONSENT_FLAGS,
      ...AGENT_FLAGS,
      ...LOOP_FLAGS,
      ...REPORT_FLAGS,
      ...PLACE_FLAGS,
      ...SHOW_FLAGS,
    },
    details: [
      "Nothing is implemented without a yes: at the prompt, or by `--approve run`.",
      "The same command again goes on where it stopped.",
    ],
    load: () => import("./commands/exec.ts"),
  },
  {
    name: "plan",
    summary: "turn a goal into scripts/ralph/prd.json, by questions and a review",
    usage: '"<goal>"',
    arity: [0, 1],
    flags: { ...PLAN_FLAGS, ...CONSENT_FLAGS, ...AGENT_FLAGS, ...REPORT_FLAGS, ...PLACE_FLAGS, ...SHOW_FLAGS },
    load: () => import("./commands/plan.ts"),
  },
  {
    name: "understand",
    summary: "fill the codebase map, one topic an iteration; writes nothing else",
    usage: "",
    arity: [0, 0],
    flags: {
      ...ITERATION_FLAGS,
      ...AGENT_FLAGS,
      "max-cost": LOOP_FLAGS["max-cost"] as Command["flags"][string],
      interactive: LOOP_FLAGS["interactive"] as Command["flags"][string],
      ...REPORT_FLAGS,
      ...PLACE_FLAGS,
      ...SHOW_FLAGS,
    },
    load: () => import("./commands/understand.ts"),
  },
  {
    name: "prd",
    summary: "write, refine, finalize or edit a feature's PRD, or run it",
    usage: "FEATURE",
    arity: [1, 1],
    flags: { ...CONSENT_FLAGS, ...AGENT_FLAGS, ...LOOP_FLAGS, ...REPORT_FLAGS, ...PLACE_FLAGS, ...SHOW_FLAGS },
    details: [
      "A feature's PRD is .ralph/<date>-FEATURE/prd.md; finalized it is prd.json beside it, which `ralph run FEATURE` works off.",
    ],
    load: () => import("./commands/prd.ts"),
  },
  {
    name: "run",
    summary: "implement the PRD: one story an iteration until all are verified",
    usage: "[FEATURE]",
    arity: [0, 1],
    flags: { ...ITERATION_FLAGS, ...LOOP_FLAGS, ...AGENT_FLAGS, ...REPORT_FLAGS, ...PLACE_FLAGS, ...SHOW_FLAGS },
    load: () => import("./commands/run.ts"),
  },
  ...SPEC_COMMANDS,
  {
    name: "verify",
    summary: "run every story's checks; starts no agent",
    usage: "[FEATURE]",
    arity: [0, 1],
    flags: {
      verify: LOOP_FLAGS["verify"] as Command["flags"][string],
      "allow-unverified": LOOP_FLAGS["allow-unverified"] as Command["flags"][string],
      ...DATA_FLAGS,
      ...PLACE_FLAGS,
      ...SHOW_FLAGS,
    },
    load: () => import("./commands/verify.ts"),
  },
  {
    name: "next",
    summary: "show the item that the next iteration would take",
    usage: "[FEATURE]",
    arity: [0, 1],
    flags: { ...DATA_FLAGS, ...PLACE_FLAGS, ...SHOW_FLAGS },
    load: () => import("./commands/next.ts"),
  },
  {
    name: "validate",
    summary: "check the configuration and the state files, all problems at once",
    usage: "[FEATURE]",
    arity: [0, 1],
    flags: { ...DATA_FLAGS, ...PLACE_FLAGS, ...SHOW_FLAGS },
    load: () => import("./commands/validate.ts"),
  },
  {
    name: "status",
    summary: "where things stand",
    usage: "[FEATURE]",
    arity: [0, 1],
    flags: { ...DATA_FLAGS, ...PLACE_FLAGS, ...SHOW_FLAGS },
    load: () => import("./commands/status.ts"),
  },
  {
    name: "doctor",
    summary: "what is missing on this machine, and how to get it",
    usage: "",
    arity: [0, 0],
    flags: { ...DATA_FLAGS, ...PLACE_FLAGS, ...SHOW_FLAGS },
    load: () => import("./commands/doctor.ts"),
  },
  {
    name: "demo",
    summary: "watch the whole exec workflow on a small real project",
    usage: "",
    arity: [0, 0],
    flags: {
      approve: CONSENT_FLAGS["approve"] as Command["flags"][string],
      "non-interactive": CONSENT_FLAGS["non-interactive"] as Command["flags"][string],
      ...REPORT_FLAGS,
      ...SHOW_FLAGS,
    },
    details: [
      "It makes a git repository in a temporary folder and leaves it there for you to look at.",
      "`--approve all` lets it run by itself.",
    ],
    load: () => import("./commands/demo.ts"),
  },
  {
    name: "recipes",
    summary: "list the recipes and prompts that are built in",
    usage: "",
    arity: [0, 0],
    flags: { ...DATA_FLAGS, ...PLACE_FLAGS, ...SHOW_FLAGS },
    load: () => import("./commands/recipes.ts"),
  },
  {
    name: "run-recipe",
    summary: "run a recipe file; its own flags and arguments follow it",
    usage: "FILE [arguments]",
    arity: [1, 1],
    open: true,
    flags: {
      ...CONSENT_FLAGS,
      ...AGENT_FLAGS,
      ...ITERATION_FLAGS,
      ...LOOP_FLAGS,
      ...REPORT_FLAGS,
      ...PLACE_FLAGS,
      ...SHOW_FLAGS,
    },
    details: ["Flags of the recipe stand after FILE, where `--help` shows them; those of Ralph anywhere."],
    load: () => import("./commands/run_recipe.ts"),
  },
  {
    name: "eject",
    summary: "write a built-in recipe or prompt out for editing; never overwrites",
    usage: "NAME",
    arity: [1, 1],
    flags: { ...PLACE_FLAGS, ...SHOW_FLAGS },
    load: () => import("./commands/eject.ts"),
  },
  {
    name: "schema",
    summary: "print a JSON Schema: config or plan",
    usage: "NAME",
    arity: [1, 1],
    flags: { ...SHOW_FLAGS },
    load: () => import("./commands/schema.ts"),
  },
  {
    name: "help",
    summary: "help on a command, or on exit-codes, environment, workflows",
    usage: "[COMMAND|TOPIC]",
    arity: [0, 1],
    flags: { ...SHOW_FLAGS },
    load: () => import("./commands/help.ts"),
  },
];

/** The row of this name. */
export function findCommand(name: string): Command | undefined {
  return COMMANDS.find((command) => command.name === name);
}
