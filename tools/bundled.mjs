/**
 * Packages that the npm package holds as one file instead of depending on them: they change often, ask for a newer Node
 * than Ralph itself does, and are loaded only where they are used.
 */
export const BUNDLED = [
  "@ai-sdk/anthropic",
  "@ai-sdk/google",
  "@ai-sdk/openai",
  "@ai-sdk/openai-compatible",
  "ai",
];

/** The module that imports them, and nothing else but types. */
export const BUNDLED_INTO = "lib/agents/builtin/models";
