/**
 * `ralph.config.json` with its defaults: the types.
 *
 * @module
 */

/** How a model server is spoken to: OpenAI's chat completions or responses, Anthropic's messages, Google's Gemini. */
export type EndpointApi = "chat" | "responses" | "anthropic" | "google";

/** What a model costs, in US dollars for a million tokens. */
export interface EndpointPrice {
  readonly input: number;
  readonly output: number;
  /** Input that comes from the provider's cache. @default as `input` */
  readonly cachedInput?: number | undefined;
}

/** A model server. */
export interface EndpointConfig {
  /** `openai`, `anthropic`, `google`, `openrouter`, `groq`, `ollama`, `lmstudio`, `llamacpp` or `vllm`. */
  readonly name?: string | undefined;
  /** Its base address; it goes before the one of `name`. */
  readonly url?: string | undefined;
  /** The environment variable that holds its key. @default the one of `name`; `RALPH_AGENT_KEY`; none on this machine */
  readonly keyVariable?: string | undefined;
  /** How it is spoken to. @default the one of `name`, else `chat` */
  readonly api?: EndpointApi | undefined;
  /** Tokens that a conversation may have. @default what the server reports */
  readonly context?: number | undefined;
  /** Tokens that one answer may have. @default the server's own limit */
  readonly output?: number | undefined;
  /** The model takes images. @default it is tried */
  readonly images?: boolean | undefined;
  /** For cost that the server does not report. */
  readonly price?: EndpointPrice | undefined;
}

/** One agent: a command, or a known agent's name with its settings. */
export interface ProviderChoice {
  /** Runs through the shell exactly as written, prompt on standard input, output as plain text. */
  readonly command?: string | undefined;
  /** The name of a built-in adapter. */
  readonly preset?: string | undefined;
  /** A name that the agent knows; only with `preset`. */
  readonly model?: string | undefined;
  /** How hard it thinks, as the agent names it; only with `preset`. */
  readonly reasoning?: string | undefined;
  /** The model server, for agents that take any: a name of the table, a URL, or both with settings. */
  readonly endpoint?: string | EndpointConfig | undefined;
}

/** A kind of turn: it plans, works on an item, or judges the work of others. */
export type TurnStage = "plan" | "work" | "review";

/** Another agent or model for some turns. All conditions that are given must hold. */
export interface RouteRule extends ProviderChoice {
  readonly stage?: TurnStage | undefined;
  /** As the item has it: `story`, `BUILD`, `VERIFY` … */
  readonly kind?: string | readonly string[] | undefined;
  /** One of them is a tag of the item. */
  readonly tag?: string | readonly string[] | undefined;
  readonly priority?: number | readonly number[] | undefined;
  /** So many attempts at the item have failed. */
  readonly after?: number | undefined;
}

/** The agent that does the work. */
export interface ProviderConfig extends ProviderChoice {
  /** Put behind the command, each quoted for the shell. */
  readonly args: readonly string[];
  /**
   * Put behind the command (instead of `args`) or the known agent's program where the terminal is handed over, as by
   * `ralph prd`, GSD's planning and a plan with checkpoints; the prompt comes last.
   */
  readonly interactiveArgs?: readonly string[] | undefined;
  /** Takes over while the agent waits for a rate limit: a known agent's name, or a choice of its own. */
  readonly fallback?: string | ProviderChoice | undefined;
  /** Another agent or model for some turns: the first rule that fits decides. */
  readonly route: readonly RouteRule[];
  /** Seconds for one turn. @default 1800 */
  readonly timeout: number;
  /** Seconds without output, for agents that stream events. @default 1200 */
  readonly idleTimeout: number;
}

/** What must pass. */
export interface VerifyConfig {
  /** Run for every item. */
  readonly default: readonly string[];
  /** Run for items tagged `ui`, after the browser checks. */
  readonly ui: readonly string[];
  /** Seconds for one command. @default 300 */
  readonly timeout: number;
  /** Let a claim settle an item that names no check. @default false */
  readonly allowUnverified: boolean;
  /** Run the shared checks once before the first turn: which fail already, and which a clean checkout cannot make. @default true */
  readonly baseline: boolean;
  /**
   * What the checks at the end of a run look at: a clean checkout of HEAD, the working tree as it is, or there are none.
   * @default "clean"
   */
  readonly final: "clean" | "tree" | "off";
  /** Run each item's commands in a clean checkout of what would be committed. @default false */
  readonly isolated: boolean;
  /** Wrong implementations that each verified item's checks have to catch, beside one unseen check. @default 0 */
  readonly challenge: number;
  /** A known agent's name: who writes them. @default the run's agent */
  readonly challenger?: string | undefined;
}

/** What git ignores and a second tree needs all the same. */
export interface WorkspaceConfig {
  /** Globs of ignored paths that are copied; one without `/` names them at any depth. */
  readonly copy: readonly string[];
  /** Ignored paths, relative to the root, that are too large to copy: they are shared with the tree. */
  readonly link: readonly string[];
  /** Command that installs what the checks need; `null`: nothing is installed. */
  readonly setup: string | null;
  /** Seconds for it. @default 600 */
  readonly setupTimeout: number;
}

/** How items are worked on at once. */
export interface ParallelConfig {
  /** Items at once, each in a working tree of its own; with 1 in the project's own. 1 to 16. @default 1 */
  readonly workers: number;
  /** Folder of these trees, relative to the repository's; `{repository}` is its name. @default "../.{repository}.ralph" */
  readonly directory: string;
  /** After so many conflicts in a run an item is worked on alone. @default 2 */
  readonly conflicts: number;
  /** Leave the trees where they are when a run ends. @default false */
  readonly keep: boolean;
}

/** What judges the work besides what it changes itself. */
export interface TestsConfig {
  /** Globs, relative to the root, of the files that are tests. */
  readonly globs: readonly string[];
  /**
   * With the tests from before the work all checks run once more. `report`: what fails is named at the end, `block`: it
   * fails the attempt.
   * @default "report"
   */
  readonly integrity: "off" | "report" | "block";
}

/** When a run ends although work is left. `null`: no limit. */
export interface LimitsConfig {
  /** Agent turns of one run. */
  readonly iterations: number | null;
  /** Minutes that one run lasts. */
  readonly minutes: number | null;
  /** Tokens, input and output, of one run; what an agent does not report is not counted. */
  readonly tokens: number | null;
  /** US dollars of one run; what an agent does not report is not counted. */
  readonly costUsd: number | null;
  /** Turns in a row that changed no file and passed nothing. @default 5 */
  readonly idle: number;
  /** Turns in a row after which nothing passed for the first time. @default 12 */
  readonly stalled: number;
  /** Items added during the run that count as passing for the first time. @default 100 */
  readonly added: number;
  /** The same failure this often in a row blocks the item. @default 3 */
  readonly sameFailure: number;
  /** Parallel hooks at once. @default 4 */
  readonly hooks: number;
  /** Rejections after which a task of the spec workflow is given up on. @default 3 */
  readonly rejections: number;
  /** Seconds that a rate limit is waited for at most; 0 never waits. @default 21600 */
  readonly maxWait: number;
}

/** What is kept of earlier runs. */
export interface LogsConfig {
  /** How many runs' folders; the oldest go first. @default 20 */
  readonly keep: number;
}

/** What Ralph commits. */
export interface CommitsConfig {
  /** Commit what a verified turn left uncommitted. @default true */
  readonly work: boolean;
  /** Commit Ralph's own state. @default true */
  readonly prdChanges: boolean;
  /** One commit a verified item: what its turns committed is folded into it. @default true; in gsd false */
  readonly squash?: boolean | undefined;
  /** Commit the record of each attempt that did not pass. @default false; in spec and gsd true */
  readonly attempts?: boolean | undefined;
  /** Subject of the feature workflow's state commits. @default "chore: update prd.json" */
  readonly message: string;
}

/** A server that items tagged `ui` are looked at through. */
export interface ServiceConfig {
  readonly name: string;
  /** Runs through the shell. Absent: the user runs the service. */
  readonly start?: string | undefined;
  /** URL that answers with a status below 500 when the service is ready. */
  readonly ready: string;
  /** Seconds until it must be. @default 30 */
  readonly readyTimeout: number;
  /** Start it afresh before each verification. @default true */
  readonly restartBeforeVerify: boolean;
}

/** The built-in look at pages. */
export interface BrowserConfig {
  /** @default true */
  readonly enabled: boolean;
  /** Chrome or Chromium; empty: looked for. @default "" */
  readonly executablePath: string;
  /** Without a window. @default true */
  readonly headless: boolean;
  /** Relative to the root. @default ".ralph/screenshots" */
  readonly screenshotDir: string;
}

/** Where agents and checks can touch the working tree and nothing else. */
export interface SandboxConfig {
  /**
   * `required`: a run does not start where it cannot be had. `on`: it works without one then, and says so. `auto`: `off`,
   * with `trust: "strict"` `required`.
   * @default "auto"
   */
  readonly mode: "auto" | "off" | "on" | "required";
  /** Hosts that can be reached: the agent's own and `allow`, all, or none. Checks never reach the agent's. @default "agent" */
  readonly network: "agent" | "all" | "none";
  /** Further hosts: `packages.example.org`, `*.example.com`, `localhost:11434`. */
  readonly allow: readonly string[];
  /** Further paths that may be written; `~` is the home folder. */
  readonly write: readonly string[];
  /** Further paths of the home folder that may be read. */
  readonly read: readonly string[];
  /** Variables that pass although their names look like secrets. */
  readonly environment: readonly string[];
  /** Runs each process instead, such as `docker run …`; `null`: bubblewrap, on macOS Seatbelt. */
  readonly command: readonly string[] | null;
}

/** The slash commands of GSD, as the agent knows them: `/gsd:plan-phase`. @default what is installed */
export interface GsdConfig {
  readonly commands: {
    readonly init?: string | undefined;
    readonly roadmap?: string | undefined;
    readonly discover?: string | undefined;
    readonly plan?: string | undefined;
  };
}

/** One hook of the configuration, with exactly one of `workflow`, `prompt` and `command`. */
export interface HookConfig {
  readonly id: string;
  readonly workflow?: string | undefined;
  readonly prompt?: string | undefined;
  readonly command?: string | undefined;
  /** @default true */
  readonly enabled: boolean;
  /** Beside the next iteration; otherwise before it. @default true */
  readonly parallel: boolean;
  /** @default "after" */
  readonly when: "after" | "before";
  /** A parallel hook works in a git worktree of its own. @default true */
  readonly isolated: boolean;
  /** A known agent's name. @default the run's agent */
  readonly agent?: string | undefined;
  /** A command as the agent. */
  readonly agentCommand?: string | undefined;
  /** Seconds. @default provider.timeout */
  readonly timeout?: number | undefined;
}

/** Why a person is notified. */
export type NotifyReason = "passed" | "failed" | "blocked" | "limit" | "question";

/** One way to notify a person who is elsewhere: a URL, a command, or the desktop. */
export interface NotifyConfig {
  /** @default all of them */
  readonly on: readonly NotifyReason[];
  /** Gets JSON. `${NAME}` is a variable of the environment: a secret is given so. */
  readonly url?: string | undefined;
  /** Of ntfy: the topic, with the server's address as `url`. */
  readonly topic?: string | undefined;
  /** Sent with the request; `${NAME}` as in `url`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Shell command; gets the JSON on standard input. */
  readonly command?: string | undefined;
  /** A notification of the desktop. */
  readonly desktop?: true | undefined;
  /** Send what agents and checks say of it too. @default false */
  readonly output: boolean;
}

/** The whole configuration, defaults filled in. */
export interface Config {
  /** Wins over what is found in the root. */
  readonly workflow?: string | undefined;
  /**
   * `strict`: changed tests fail the attempt, items whose own checks pass before the work are parked, and no claim
   * settles an item. @default "normal"
   */
  readonly trust: "normal" | "strict";
  /** The agent that does the work. */
  readonly provider: ProviderConfig;
  /** What must pass. */
  readonly verify: VerifyConfig;
  /** How items are worked on at once. */
  readonly parallel: ParallelConfig;
  /** What git ignores and a second tree needs all the same. */
  readonly workspace: WorkspaceConfig;
  /** What is watched. */
  readonly tests: TestsConfig;
  /** What agents and checks can touch. */
  readonly sandbox: SandboxConfig;
  /** When a run ends although work is left. */
  readonly limits: LimitsConfig;
  /** What Ralph commits. */
  readonly commits: CommitsConfig;
  /** Servers that items tagged `ui` are looked at through. */
  readonly services: readonly ServiceConfig[];
  /** The built-in look at pages. */
  readonly browser: BrowserConfig;
  /** What is kept of earlier runs. */
  readonly logs: LogsConfig;
  /** Attempts an item is given. @default 3 */
  readonly maxRetries: number;
  /** Globs that a turn must not change; `ralph.config.json` is always one of them. */
  readonly protect: readonly string[];
  /** Run with each iteration of every workflow. */
  readonly hooks: readonly HookConfig[];
  /** Who is notified of a run. */
  readonly notify: readonly NotifyConfig[];
  /** How a run is shown. @default "auto" */
  readonly ui: "auto" | "rich" | "plain" | "json";
  /** The slash commands of GSD. */
  readonly gsd: GsdConfig;
}
