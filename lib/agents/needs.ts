/**
 * The needs of each agent's program inside of a sandbox: login and settings, hosts, and the variables of its keys.
 * Copied folders are thrown away with the turn, except logins that the program renews.
 *
 * @module
 */
import type { AgentNeeds } from "../host/confinement.ts";

const OPENAI_HOSTS: readonly string[] = ["api.openai.com", "auth.openai.com", "chatgpt.com", "*.chatgpt.com"];
const ANTHROPIC_HOSTS: readonly string[] = ["api.anthropic.com", "console.anthropic.com", "platform.claude.com"];
const GOOGLE_HOSTS: readonly string[] = [
  "generativelanguage.googleapis.com",
  "cloudcode-pa.googleapis.com",
  "oauth2.googleapis.com",
  "accounts.google.com",
  "*.aiplatform.googleapis.com",
];
/** Providers that agents for any model are used with. */
const PROVIDER_HOSTS: readonly string[] = [
  ...OPENAI_HOSTS,
  ...ANTHROPIC_HOSTS,
  ...GOOGLE_HOSTS,
  "openrouter.ai",
  "api.mistral.ai",
  "api.deepseek.com",
  "api.groq.com",
  "api.x.ai",
  "models.dev",
];
const PROVIDER_KEYS: readonly string[] = [
  "OPENAI_API_KEY",
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_AUTH_TOKEN",
  "GEMINI_API_KEY",
  "GOOGLE_API_KEY",
  "GOOGLE_GENERATIVE_AI_API_KEY",
  "OPENROUTER_API_KEY",
  "MISTRAL_API_KEY",
  "DEEPSEEK_API_KEY",
  "GROQ_API_KEY",
  "XAI_API_KEY",
];

type AdapterName =
  | "builtin"
  | "claude"
  | "codex"
  | "opencode"
  | "gemini"
  | "qwen"
  | "copilot"
  | "cline"
  | "pi"
  | "amp"
  | "cursor"
  | "droid"
  | "aider";

/** By the name of the adapter. */
export const AGENT_NEEDS: Readonly<Record<AdapterName, AgentNeeds>> = {
  builtin: { folders: [], read: [], hosts: [], keys: [] }, // its server's host and key come with the server
  claude: {
    folders: [
      {
        path: "~/.claude",
        variable: "CLAUDE_CONFIG_DIR",
        copy: [
          ".credentials.json",
          ".claude.json",
          "CLAUDE.md",
          "settings.json",
          "settings.local.json",
          "agents",
          "commands",
          "rules",
          "skills",
          "plugins",
        ],
        keep: [".credentials.json"],
      },
      { path: "~", copy: [".claude.json"], keep: [] },
    ],
    read: ["~/.local/share/claude"],
    hosts: [...ANTHROPIC_HOSTS, "claude.ai", "*.claude.ai"],
    keys: ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
  },
  codex: {
    folders: [{
      path: "~/.codex",
      variable: "CODEX_HOME",
      copy: ["auth.json", "config.toml", "AGENTS.md", "prompts", "rules", "skills"],
      keep: ["auth.json"],
    }],
    read: [],
    hosts: OPENAI_HOSTS,
    keys: ["OPENAI_API_KEY", "CODEX_API_KEY"],
  },
  opencode: {
    folders: [
      { path: "~/.config/opencode", copy: ["."], keep: [] },
      { path: "~/.local/share/opencode", copy: ["auth.json"], keep: ["auth.json"] },
    ],
    read: ["~/.opencode"],
    hosts: ["opencode.ai", "*.opencode.ai", ...PROVIDER_HOSTS],
    keys: ["OPENCODE_API_KEY", ...PROVIDER_KEYS],
  },
  gemini: {
    folders: [{
      path: "~/.gemini",
      copy: [
        "oauth_creds.json",
        "google_accounts.json",
        "installation_id",
        "settings.json",
        "trustedFolders.json",
        "GEMINI.md",
        ".env",
        "commands",
        "extensions",
      ],
      keep: ["oauth_creds.json", "google_accounts.json"],
    }],
    read: [],
    hosts: GOOGLE_HOSTS,
    keys: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
  },
  qwen: {
    folders: [{
      path: "~/.qwen",
      copy: ["oauth_creds.json", "settings.json", "QWEN.md", ".env", "commands", "extensions", "agents"],
      keep: ["oauth_creds.json"],
    }],
    read: [],
    hosts: [
      "chat.qwen.ai",
      "portal.qwen.ai",
      "dashscope.aliyuncs.com",
      "dashscope-intl.aliyuncs.com",
      "api.openai.com",
    ],
    keys: ["OPENAI_API_KEY", "DASHSCOPE_API_KEY", "BAILIAN_CODING_PLAN_API_KEY"],
  },
  copilot: {
    folders: [
      {
        path: "~/.copilot",
        copy: ["config.json", "settings.json", "mcp-config.json", "agents"],
        keep: ["config.json"],
      },
      { path: "~/.config/github-copilot", copy: ["."], keep: [] },
    ],
    read: [],
    hosts: ["api.github.com", "github.com", "githubcopilot.com", "*.githubcopilot.com"],
    keys: ["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_PROVIDER_API_KEY"],
  },
  cline: {
    folders: [{ path: "~/.cline", copy: ["data/settings", "data/secrets.json", "data/globalState.json"], keep: [] }],
    read: [],
    hosts: ["api.cline.bot", "*.cline.bot", ...PROVIDER_HOSTS],
    keys: ["CLINE_API_KEY", ...PROVIDER_KEYS],
  },
  pi: {
    folders: [{
      path: "~/.pi/agent",
      variable: "PI_CODING_AGENT_DIR",
      copy: ["auth.json", "models.json", "settings.json", "AGENTS.md", "extensions", "skills", "prompts"],
      keep: ["auth.json"],
    }],
    read: [],
    hosts: PROVIDER_HOSTS,
    keys: PROVIDER_KEYS,
  },
  amp: {
    folders: [
      { path: "~/.config/amp", copy: ["settings.json", "AGENTS.md"], keep: [] },
      { path: "~/.local/share/amp", copy: ["secrets.json", "device-id.json"], keep: ["secrets.json"] },
    ],
    read: ["~/.amp"],
    hosts: ["ampcode.com", "*.ampcode.com"],
    keys: ["AMP_API_KEY"],
  },
  cursor: {
    folders: [
      { path: "~/.cursor", copy: ["cli-config.json", "mcp.json", "rules"], keep: [] },
      { path: "~/.config/cursor", copy: ["auth.json"], keep: ["auth.json"] },
    ],
    read: ["~/.local/share/cursor-agent"],
    hosts: ["*.cursor.sh", "*.cursor.com", "cursor.com"],
    keys: ["CURSOR_API_KEY"],
  },
  droid: {
    folders: [{
      path: "~/.factory",
      copy: ["auth.json", "auth.encrypted", "config.json", "settings.json", "AGENTS.md", "droids", "bin"],
      keep: ["auth.json", "auth.encrypted"],
    }],
    read: [],
    hosts: ["*.factory.ai", "api.workos.com"],
    keys: ["FACTORY_API_KEY"],
  },
  aider: {
    folders: [
      { path: "~", copy: [".aider.conf.yml", ".aider.model.settings.yml", ".aider.model.metadata.json"], keep: [] },
      { path: "~/.aider", copy: ["oauth-keys.env"], keep: [] },
    ],
    read: ["~/.local/share/uv/tools"],
    hosts: [...PROVIDER_HOSTS, "raw.githubusercontent.com"],
    keys: PROVIDER_KEYS,
  },
};
