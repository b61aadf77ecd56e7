/**
 * The table of agents. A row is loaded with the table; how its program is driven, when it is first used.
 *
 * The needs of a row hold inside of a sandbox: login and settings, hosts, and the variables of its keys. Copied folders
 * are thrown away with the turn, except logins that the program renews.
 *
 * @module
 */
import type { NeededFolder } from "../host/confinement.ts";
import { words } from "../host/data.ts";
import type { Adapter } from "./adapter.ts";

const OPENAI_HOSTS: readonly string[] = ["api.openai.com", "auth.openai.com", "chatgpt.com", "*.chatgpt.com"];
const ANTHROPIC_HOSTS: readonly string[] = ["api.anthropic.com", "console.anthropic.com", "platform.claude.com"];
const GOOGLE_HOSTS: readonly string[] = words(`
  generativelanguage.googleapis.com cloudcode-pa.googleapis.com oauth2.googleapis.com accounts.google.com
  *.aiplatform.googleapis.com
`);
/** Providers that agents for any model are used with. */
const PROVIDER_HOSTS: readonly string[] = [
  ...OPENAI_HOSTS,
  ...ANTHROPIC_HOSTS,
  ...GOOGLE_HOSTS,
  ...words("openrouter.ai api.mistral.ai api.deepseek.com api.groq.com api.x.ai models.dev"),
];
const PROVIDER_KEYS: readonly string[] = words(`
  OPENAI_API_KEY ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN GEMINI_API_KEY GOOGLE_API_KEY GOOGLE_GENERATIVE_AI_API_KEY
  OPENROUTER_API_KEY MISTRAL_API_KEY DEEPSEEK_API_KEY GROQ_API_KEY XAI_API_KEY
`);

/** @param logins what the program renews: copied back after the turn @param others copied for the turn alone */
function folder(path: string, logins: string, others: string, variable?: string): NeededFolder {
  const keep = logins === "" ? [] : words(logins);
  return { path, ...variable === undefined ? {} : { variable }, copy: words(`${logins} ${others}`), keep };
}

/** Every agent that Ralph knows how to drive. */
export const ADAPTERS: readonly Adapter[] = [
  {
    name: "claude",
    proof: { kind: "measured", version: "2.1.330" },
    install: "npm install -g @anthropic-ai/claude-code",
    login: "run `claude` once, or set ANTHROPIC_API_KEY",
    instructions: words(`
      CLAUDE.md CLAUDE.local.md .claude/settings.json .claude/settings.local.json .claude/agents/ .claude/commands/
      .claude/rules/ .claude/skills/ .mcp.json
    `),
    needs: {
      folders: [
        folder(
          "~/.claude",
          ".credentials.json",
          ".claude.json CLAUDE.md settings.json settings.local.json agents commands rules skills plugins",
          "CLAUDE_CONFIG_DIR",
        ),
        folder("~", "", ".claude.json"),
      ],
      read: ["~/.local/share/claude"],
      hosts: [...ANTHROPIC_HOSTS, "claude.ai", "*.claude.ai"],
      keys: ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
    },
    refusals: [{
      pattern: /cannot be used with root\/sudo privileges/,
      hint: "run Ralph as an ordinary user; in a container of its own set IS_SANDBOX=1",
      foresee: ({ isRoot, variables }) =>
        isRoot && variables["IS_SANDBOX"] !== "1" ? "it does not run without asking for permission as root" : null,
    }],
    takes: ["reasoning", "terminal"],
    load: async () => (await import("./adapters/claude.ts")).DRIVER,
  },
  {
    name: "codex",
    proof: { kind: "measured", version: "0.169.0" },
    install: "npm install -g @openai/codex",
    login: "run `codex login`",
    instructions: ["AGENTS.md", "AGENTS.override.md", ".codex/"],
    needs: {
      folders: [folder("~/.codex", "auth.json", "config.toml AGENTS.md prompts rules skills", "CODEX_HOME")],
      hosts: OPENAI_HOSTS,
      keys: ["OPENAI_API_KEY", "CODEX_API_KEY"],
    },
    waitsForServer: { files: [".codex/config.toml"], variables: [] },
    takes: ["reasoning", "terminal"],
    load: async () => (await import("./adapters/codex.ts")).DRIVER,
  },
  {
    name: "builtin",
    program: null,
    proof: { kind: "measured", version: "ai 7.0.173" },
    install: "nothing: it is a part of Ralph",
    login: "set the variable that holds the server's key",
    instructions: ["AGENTS.md", "CLAUDE.md"],
    needs: { folders: [], hosts: [], keys: [] }, // its server's host and key come with the server
    takes: ["endpoint", "reasoning"],
    load: async () => (await import("./adapters/builtin.ts")).DRIVER,
  },
  {
    name: "opencode",
    proof: { kind: "measured", version: "1.18.33" },
    install: "npm install -g opencode-ai",
    login: "run `opencode auth login`",
    instructions: ["AGENTS.md", "opencode.json", "opencode.jsonc", ".opencode/"],
    needs: {
      folders: [folder("~/.config/opencode", "", "."), folder("~/.local/share/opencode", "auth.json", "")],
      read: ["~/.opencode"],
      hosts: ["opencode.ai", "*.opencode.ai", ...PROVIDER_HOSTS],
      keys: ["OPENCODE_API_KEY", ...PROVIDER_KEYS],
    },
    waitsForServer: {
      files: ["opencode.json", "opencode.jsonc", ".opencode"],
      variables: ["OPENCODE_CONFIG", "OPENCODE_CONFIG_CONTENT", "OPENCODE_CONFIG_DIR"],
    },
    takes: ["endpoint", "reasoning", "terminal"],
    load: async () => (await import("./adapters/opencode.ts")).DRIVER,
  },
  {
    name: "gemini",
    proof: { kind: "measured", version: "0.61.0" },
    install: "npm install -g @google/gemini-cli",
    login: "run `gemini` once, or set GEMINI_API_KEY",
    instructions: ["GEMINI.md", ".gemini/"],
    needs: {
      folders: [folder(
        "~/.gemini",
        "oauth_creds.json google_accounts.json",
        "installation_id settings.json trustedFolders.json GEMINI.md .env commands extensions",
      )],
      hosts: GOOGLE_HOSTS,
      keys: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    },
    takes: ["terminal"],
    load: async () => (await import("./adapters/gemini.ts")).DRIVER,
  },
  {
    name: "qwen",
    proof: { kind: "measured", version: "0.24.4" },
    install: "npm install -g @qwen-code/qwen-code",
    login: "run `qwen` once, or set OPENAI_API_KEY",
    instructions: ["QWEN.md", ".qwen/"],
    needs: {
      folders: [folder("~/.qwen", "oauth_creds.json", "settings.json QWEN.md .env commands extensions agents")],
      hosts: words(`chat.qwen.ai portal.qwen.ai dashscope.aliyuncs.com dashscope-intl.aliyuncs.com api.openai.com`),
      keys: ["OPENAI_API_KEY", "DASHSCOPE_API_KEY", "BAILIAN_CODING_PLAN_API_KEY"],
    },
    takes: ["terminal"],
    load: async () => (await import("./adapters/qwen.ts")).DRIVER,
  },
  {
    name: "copilot",
    proof: { kind: "measured", version: "1.0.102" },
    install: "npm install -g @github/copilot",
    login: "run `copilot` and `/login`",
    instructions: ["AGENTS.md", ".github/copilot-instructions.md", ".github/instructions/"],
    needs: {
      folders: [
        folder("~/.copilot", "config.json", "settings.json mcp-config.json agents"),
        folder("~/.config/github-copilot", "", "."),
      ],
      read: ["~/.config/gh"],
      hosts: ["api.github.com", "github.com", "githubcopilot.com", "*.githubcopilot.com"],
      keys: ["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_PROVIDER_API_KEY"],
    },
    takes: ["reasoning", "terminal"],
    load: async () => (await import("./adapters/copilot.ts")).DRIVER,
  },
  {
    name: "cline",
    proof: { kind: "measured", version: "3.0.65" },
    install: "npm install -g cline",
    login: "run `cline auth`",
    instructions: [".clinerules", ".clinerules/"],
    needs: {
      folders: [folder("~/.cline", "", "data/settings data/secrets.json data/globalState.json")],
      hosts: ["api.cline.bot", "*.cline.bot", ...PROVIDER_HOSTS],
      keys: ["CLINE_API_KEY", ...PROVIDER_KEYS],
    },
    waitsForServer: { files: [], variables: [] },
    takes: ["reasoning"],
    load: async () => (await import("./adapters/cline.ts")).DRIVER,
  },
  {
    name: "pi",
    proof: { kind: "measured", version: "0.73.1" },
    install: "npm install -g @mariozechner/pi-coding-agent",
    login: "run `pi` and `/login`, or set the provider's key",
    instructions: ["AGENTS.md", ".pi/"],
    needs: {
      folders: [folder(
        "~/.pi/agent",
        "auth.json",
        "models.json settings.json AGENTS.md extensions skills prompts",
        "PI_CODING_AGENT_DIR",
      )],
      hosts: PROVIDER_HOSTS,
      keys: PROVIDER_KEYS,
    },
    takes: ["endpoint", "reasoning", "terminal"],
    load: async () => (await import("./adapters/pi.ts")).DRIVER,
  },
  {
    name: "amp",
    proof: { kind: "measured", version: "0.0.1775390627" },
    doubtful: {
      from: "0.0.1775390628",
      why: "newer builds do their work through Amp's own server and were never seen to end a turn",
    },
    install: "npm install -g @sourcegraph/amp",
    login: "run `amp login`, or set AMP_API_KEY",
    instructions: ["AGENTS.md", ".amp/"],
    needs: {
      folders: [
        folder("~/.config/amp", "", "settings.json AGENTS.md"),
        folder("~/.local/share/amp", "secrets.json", "device-id.json"),
      ],
      read: ["~/.amp"],
      hosts: ["ampcode.com", "*.ampcode.com"],
      keys: ["AMP_API_KEY"],
    },
    load: async () => (await import("./adapters/amp.ts")).DRIVER,
  },
  {
    name: "cursor",
    program: "cursor-agent",
    proof: { kind: "documented" },
    install: "see https://cursor.com/docs/cli",
    login: "run `cursor-agent login`",
    instructions: ["AGENTS.md", ".cursorrules", ".cursor/"],
    needs: {
      folders: [folder("~/.cursor", "", "cli-config.json mcp.json rules"), folder("~/.config/cursor", "auth.json", "")],
      read: ["~/.local/share/cursor-agent"],
      hosts: ["*.cursor.sh", "*.cursor.com", "cursor.com"],
      keys: ["CURSOR_API_KEY"],
    },
    takes: ["terminal"],
    load: async () => (await import("./adapters/cursor.ts")).DRIVER,
  },
  {
    name: "droid",
    proof: { kind: "documented" },
    install: "see https://docs.factory.ai/cli",
    login: "run `droid` once, or set FACTORY_API_KEY",
    instructions: ["AGENTS.md", ".factory/"],
    needs: {
      folders: [folder("~/.factory", "auth.json auth.encrypted", "config.json settings.json AGENTS.md droids bin")],
      hosts: ["*.factory.ai", "api.workos.com"],
      keys: ["FACTORY_API_KEY"],
    },
    takes: ["reasoning"],
    load: async () => (await import("./adapters/droid.ts")).DRIVER,
  },
  {
    name: "aider",
    proof: { kind: "documented" },
    install: "see https://aider.chat/docs/install.html",
    login: "set the key of the model's provider",
    instructions: [".aider.conf.yml"],
    needs: {
      folders: [
        folder("~", "", ".aider.conf.yml .aider.model.settings.yml .aider.model.metadata.json"),
        folder("~/.aider", "", "oauth-keys.env"),
      ],
      read: ["~/.local/share/uv/tools"],
      hosts: [...PROVIDER_HOSTS, "raw.githubusercontent.com"],
      keys: PROVIDER_KEYS,
    },
    takes: ["reasoning"],
    load: async () => (await import("./adapters/aider.ts")).DRIVER,
  },
];

/** The row of this name, or `undefined`. */
export function findAdapter(name: string): Adapter | undefined {
  return ADAPTERS.find((adapter) => adapter.name === name);
}
