/**
 * The table of agents. Loaded when an agent is chosen by name, not on the start path.
 *
 * @module
 */
import type { Adapter } from "./adapter.ts";
import { aiderArguments } from "./adapters/aider.ts";
import { ampArguments, ampTranslator } from "./adapters/amp.ts";
import { claudeArguments, claudeInteractive, claudeTranslator } from "./adapters/claude.ts";
import { clineArguments, clineTranslator } from "./adapters/cline.ts";
import { codexArguments, codexInteractive, codexTranslator } from "./adapters/codex.ts";
import {
  COPILOT_IGNORED,
  COPILOT_USAGE_FILE,
  copilotArguments,
  copilotInteractive,
  copilotTranslator,
  copilotUsage,
} from "./adapters/copilot.ts";
import { cursorArguments, cursorInteractive, cursorTranslator } from "./adapters/cursor.ts";
import { droidArguments, droidTranslator } from "./adapters/droid.ts";
import { geminiArguments, geminiExitKind, geminiInteractive, geminiTranslator } from "./adapters/gemini.ts";
import { opencodeArguments, opencodeInteractive, opencodeTranslator } from "./adapters/opencode.ts";
import { PI_IGNORED, piArguments, piInteractive, piTranslator } from "./adapters/pi.ts";
import { qwenArguments, qwenInteractive, qwenTranslator } from "./adapters/qwen.ts";

/** Every agent that Ralph knows how to drive. */
export const ADAPTERS: readonly Adapter[] = [
  {
    name: "claude",
    programs: ["claude"],
    proof: { kind: "measured", version: "2.1.330" },
    install: "npm install -g @anthropic-ai/claude-code",
    login: "run `claude` once, or set ANTHROPIC_API_KEY",
    takesModel: true,
    takesReasoning: true,
    arguments: claudeArguments,
    interactive: claudeInteractive,
    translator: claudeTranslator,
    ignored: ['{"type":"stream_event"'],
  },
  {
    name: "codex",
    programs: ["codex"],
    proof: { kind: "measured", version: "0.169.0" },
    install: "npm install -g @openai/codex",
    login: "run `codex login`",
    takesModel: true,
    takesReasoning: true,
    arguments: codexArguments,
    interactive: codexInteractive,
    translator: codexTranslator,
    ignored: ['{"type":"item.updated"'],
  },
  {
    name: "opencode",
    programs: ["opencode"],
    proof: { kind: "measured", version: "1.18.33" },
    install: "npm install -g opencode-ai",
    login: "run `opencode auth login`",
    takesModel: true,
    takesReasoning: true,
    arguments: opencodeArguments,
    interactive: opencodeInteractive,
    translator: opencodeTranslator,
  },
  {
    name: "gemini",
    programs: ["gemini"],
    proof: { kind: "measured", version: "0.61.0" },
    install: "npm install -g @google/gemini-cli",
    login: "run `gemini` once, or set GEMINI_API_KEY",
    takesModel: true,
    takesReasoning: false,
    arguments: geminiArguments,
    interactive: geminiInteractive,
    translator: geminiTranslator,
    exitKind: geminiExitKind,
  },
  {
    name: "qwen",
    programs: ["qwen"],
    proof: { kind: "measured", version: "0.24.4" },
    install: "npm install -g @qwen-code/qwen-code",
    login: "run `qwen` once, or set OPENAI_API_KEY",
    takesModel: true,
    takesReasoning: false,
    arguments: qwenArguments,
    interactive: qwenInteractive,
    translator: qwenTranslator,
    ignored: ['{"type":"stream_event"'],
    exitKind: (code) => code === 53 || code === 55 ? "own-limit" : null,
  },
  {
    name: "copilot",
    programs: ["copilot"],
    proof: { kind: "measured", version: "1.0.102" },
    install: "npm install -g @github/copilot",
    login: "run `copilot` and `/login`",
    takesModel: true,
    takesReasoning: true,
    arguments: copilotArguments,
    interactive: copilotInteractive,
    translator: copilotTranslator,
    ignored: COPILOT_IGNORED,
    usageFile: { name: COPILOT_USAGE_FILE, read: copilotUsage },
  },
  {
    name: "cline",
    programs: ["cline"],
    proof: { kind: "measured", version: "3.0.65" },
    install: "npm install -g cline",
    login: "run `cline auth`",
    takesModel: true,
    takesReasoning: true,
    arguments: clineArguments,
    interactive: null,
    translator: clineTranslator,
  },
  {
    name: "pi",
    programs: ["pi"],
    proof: { kind: "measured", version: "0.73.1" },
    install: "npm install -g @mariozechner/pi-coding-agent",
    login: "run `pi` and `/login`, or set the provider's key",
    takesModel: true,
    takesReasoning: true,
    arguments: piArguments,
    interactive: piInteractive,
    translator: piTranslator,
    ignored: PI_IGNORED,
  },
  {
    name: "amp",
    programs: ["amp"],
    proof: { kind: "measured", version: "0.0.1775390627" },
    install: "npm install -g @sourcegraph/amp",
    login: "run `amp login`, or set AMP_API_KEY",
    takesModel: true,
    takesReasoning: false,
    arguments: ampArguments,
    interactive: null,
    translator: ampTranslator,
  },
  {
    name: "cursor",
    programs: ["cursor-agent"],
    proof: { kind: "documented" },
    install: "see https://cursor.com/docs/cli",
    login: "run `cursor-agent login`",
    takesModel: true,
    takesReasoning: false,
    arguments: cursorArguments,
    interactive: cursorInteractive,
    translator: cursorTranslator,
  },
  {
    name: "droid",
    programs: ["droid"],
    proof: { kind: "documented" },
    install: "see https://docs.factory.ai/cli",
    login: "run `droid` once, or set FACTORY_API_KEY",
    takesModel: true,
    takesReasoning: true,
    arguments: droidArguments,
    interactive: null,
    translator: droidTranslator,
  },
  {
    name: "aider",
    programs: ["aider"],
    proof: { kind: "documented" },
    install: "see https://aider.chat/docs/install.html",
    login: "set the key of the model's provider",
    takesModel: true,
    takesReasoning: true,
    arguments: aiderArguments,
    interactive: null,
    translator: null,
  },
];

/** The row of this name, or `undefined`. */
export function findAdapter(name: string): Adapter | undefined {
  return ADAPTERS.find((adapter) => adapter.name === name);
}
