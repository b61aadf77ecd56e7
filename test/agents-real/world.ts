import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { makeRepository } from "../repository.ts";
import type { RalphEvent } from "../../lib/events/types.ts";

interface Real {
  readonly prefix: string;
  readonly url: string;
  readonly script: string;
  readonly names: readonly string[];
}

export const REAL: Real = JSON.parse(process.env["RALPH_REAL"] ?? "{}") as Real;

const ROOT = resolve(import.meta.dirname, "../..");
/** Not a secret: any text will do. Long, since copilot blanks it out of its own output. */
const KEY = "mock-key-0123456789abcdef";
/** `true` tests the programs with their own number of retries, which take up to a quarter of an hour. */
export const SLOW: boolean = process.env["RALPH_AGENTS_SLOW"] === "1";
const PATIENCE_MS = SLOW ? 1_500_000 : 330_000;

/** One run of Ralph with a real program. */
export interface RealRun extends AsyncDisposable {
  readonly root: string;
  readonly child: ChildProcess;
  events(): readonly RalphEvent[];
  /** Resolves when such an event has come, or the run has ended. */
  until(type: RalphEvent["type"], fits?: (event: RalphEvent) => boolean): Promise<RalphEvent>;
  ended(): Promise<number | null>;
  stderr(): string;
  git(...args: string[]): string;
  /** The shell of the hanging tool, once it has started. */
  toolPid(): Promise<number>;
}

interface RealProject {
  readonly folder: string;
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
  git(...args: string[]): string;
}

/** A home without any login or key. */
const NO_LOGIN: SetUp = { provider: {}, environment: { IS_SANDBOX: "1" } };

/** A project with one story, whose prompt names a case of the script. */
function realProject(agent: string, name: string, isLoggedIn = true): RealProject {
  const folder = mkdtempSync(join(tmpdir(), "ralph-real-"));
  const [root, home] = [join(folder, "project"), join(folder, "home")];
  mkdirSync(home, { recursive: true });
  const { environment, provider } = isLoggedIn ? setUp(agent, home) : NO_LOGIN;
  const story = {
    id: "US-001",
    title: `Write foo.txt (CASE=${name})`,
    acceptanceCriteria: [`Verify: \`${name === "repair" ? "sh check.sh" : "test -f foo.txt"}\``],
    priority: 1,
    passes: false,
    notes: "",
  };
  write(join(root, "scripts/ralph/prd.json"), JSON.stringify({ branchName: "main", userStories: [story] }));
  // The check's output is nowhere else: the next attempt has it from the failure in its prompt.
  write(join(root, "check.sh"), "grep -q wanted foo.txt || { echo WANTED-$((40 + 2)); exit 1; }\n");
  const sandbox = {
    allow: [`localhost:${new URL(REAL.url).port}`],
    environment: ["MOCK_API_KEY"],
    read: agent === "amp" ? [join(REAL.prefix, "amp-local")] : [], // its program is a script that names it
  };
  const config = { provider: { preset: agent, ...provider }, maxRetries: name === "repair" ? 2 : 1, sandbox };
  write(join(root, "ralph.config.json"), JSON.stringify(config));
  const path = [
    join(REAL.prefix, "bin"),
    join(REAL.prefix, "ralph-bin"),
    join(REAL.prefix, "node_modules/.bin"),
    process.env["PATH"],
  ];
  const env = {
    ...Object.fromEntries(
      Object.entries(process.env).filter(([key]) => !/^(RALPH_|GIT_|CLAUDE|ANTHROPIC|OPENAI|GEMINI|VITEST)/.test(key)),
    ),
    PATH: path.join(":"),
    HOME: home,
    LANG: "C.UTF-8",
    GIT_CONFIG_NOSYSTEM: "1",
    ...environment,
  };
  const git = (...list: string[]): string => {
    const done = spawnSync("git", list, { cwd: root, env, encoding: "utf8" });
    if (done.error !== undefined) throw done.error;
    return done.stdout.trim();
  };
  // The identity is in the repository: gemini gives its shell no home, and the program commits, too.
  makeRepository(root, { environment: env });
  return { folder, root, env, git };
}

const BUN = join(ROOT, "node_modules/.bin/bun");
const RALPH = join(ROOT, "bin/ralph.ts");

/** `ralph run` on such a project. */
export function realRun(
  agent: string,
  name: string,
  args: readonly string[] = [],
  { isLoggedIn = true }: { readonly isLoggedIn?: boolean } = {},
): RealRun {
  const { folder, root, env, git } = realProject(agent, name, isLoggedIn);
  const child = spawn(BUN, [RALPH, "run", "--json", ...args], { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
  const seen: RalphEvent[] = [];
  const waiting = new Set<() => void>();
  let errors = "";
  let rest = "";
  let code: number | null | undefined;
  child.stdout.on("data", (chunk: Buffer) => {
    const lines = (rest + chunk.toString("utf8")).split("\n");
    rest = lines.pop()!;
    seen.push(...lines.map((line) => JSON.parse(line) as RalphEvent));
    for (const wake of waiting) wake();
  });
  child.stderr.on("data", (chunk: Buffer) => void (errors += chunk.toString("utf8")));
  const closed = new Promise<void>((done) =>
    child.once("close", (status) => {
      code = status;
      for (const wake of waiting) wake();
      done();
    })
  );
  return {
    root,
    child,
    git,
    events: () => seen,
    stderr: () => errors,
    async ended() {
      // A test that is timed out from outside would leave the program running.
      const late = setTimeout(() => child.kill("SIGKILL"), PATIENCE_MS);
      await closed;
      clearTimeout(late);
      return code ?? null;
    },
    until: (type, fits = () => true) =>
      new Promise((found, failed) => {
        function look(): void {
          const event = seen.find((one) => one.type === type && fits(one));
          if (event !== undefined) found(event);
          else if (code !== undefined) {
            failed(new Error(`ended with ${code} before ${type}: ${JSON.stringify(seen.slice(-3))} ${errors}`));
          } else return;
          waiting.delete(look);
        }
        waiting.add(look);
        setTimeout(() => failed(new Error(`no ${type}: ${JSON.stringify(seen.slice(-3))} ${errors}`)), PATIENCE_MS)
          .unref();
        look();
      }),
    async toolPid() {
      const file = join(root, "hang.pid");
      for (let tries = 0; tries < 600; tries += 1) {
        if (existsSync(file) && readFileSync(file, "utf8").trim() !== "") return Number(readFileSync(file, "utf8"));
        await new Promise((done) => setTimeout(done, 100));
      }
      throw new Error(`the tool has not started: ${errors} ${JSON.stringify(seen.slice(-4))}`);
    },
    async [Symbol.asyncDispose]() {
      if (code === undefined) child.kill("SIGKILL");
      await closed;
      await new Promise((done) => setTimeout(done, 500));
      rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
    },
  };
}

/** `ralph doctor --probe` says this of a program. */
export function realProbe(agent: string): { readonly exitCode: number | null; readonly output: string } {
  const { folder, root, env } = realProject(agent, "none");
  try {
    const done = spawnSync(BUN, [RALPH, "doctor", `--probe=${agent}`], { cwd: root, env, encoding: "utf8" });
    return { exitCode: done.status, output: done.stdout + done.stderr };
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
  }
}

/** Processes that hold this folder as their current one, or name it among their arguments. */
export function processesOf(root: string): readonly string[] {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid).flatMap((pid) => {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
      const environment = readFileSync(`/proc/${pid}/environ`, "utf8");
      const isOurs = command !== "" && environment.includes(`RALPH_ROOT=${root}\0`);
      return isOurs ? [`${pid} ${command.slice(0, 120)}`] : [];
    } catch {
      return [];
    }
  });
}

export function isAlive(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

interface SetUp {
  readonly environment: Readonly<Record<string, string>>;
  readonly provider: Readonly<Record<string, unknown>>;
}

/** `provider.endpoint`, for the programs that take it; their own settings are for their plain commands. */
function pointed(url: string): SetUp["provider"] {
  const price = { input: 3, output: 15, cachedInput: 0.3 };
  const endpoint = { url: `${url}/v1`, keyVariable: "MOCK_API_KEY", context: 200_000, output: 8192, price };
  return { model: "mock-model", endpoint };
}

/** Points a program to the scripted server. Nothing else of its own is set: that is the adapter's. */
function setUp(agent: string, home: string): SetUp {
  const { url } = REAL;
  mkdirSync(home, { recursive: true });
  switch (agent) {
    case "claude":
      return {
        provider: {},
        environment: {
          ANTHROPIC_BASE_URL: url,
          ANTHROPIC_API_KEY: `sk-ant-${KEY}`,
          IS_SANDBOX: "1",
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
          ...(SLOW ? {} : { CLAUDE_CODE_MAX_RETRIES: "2" }),
        },
      };
    case "codex":
      write(
        join(home, ".codex/config.toml"),
        `model_provider = "mock"\n[analytics]\nenabled = false\n[model_providers.mock]\nname = "mock"\nbase_url = "${url}/v1"\nenv_key = "MOCK_API_KEY"\nwire_api = "responses"\n${
          SLOW ? "" : "request_max_retries = 2\nstream_max_retries = 2\n"
        }`,
      );
      return { provider: {}, environment: { MOCK_API_KEY: KEY } };
    case "opencode": {
      const model = {
        limit: { context: 200_000, output: 8192 },
        cost: { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 },
      };
      const mock = {
        npm: "@ai-sdk/openai-compatible",
        options: { baseURL: `${url}/v1`, apiKey: KEY },
        models: { "mock-model": model },
      };
      const config = { autoupdate: false, share: "disabled", small_model: "mock/mock-model", provider: { mock } };
      return {
        provider: pointed(url),
        environment: {
          MOCK_API_KEY: KEY,
          OPENCODE_CONFIG_CONTENT: JSON.stringify(config),
          OPENCODE_DISABLE_MODELS_FETCH: "1",
          OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
        },
      };
    }
    case "gemini":
      write(
        join(home, ".gemini/settings.json"),
        JSON.stringify({
          general: { enableAutoUpdate: false, ...(SLOW ? {} : { maxAttempts: 2 }) },
          privacy: { usageStatisticsEnabled: false },
          security: { auth: { selectedType: "gemini-api-key" } },
        }),
      );
      return {
        provider: { model: "gemini-2.5-pro" },
        environment: { GEMINI_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: url },
      };
    case "qwen":
      write(
        join(home, ".qwen/settings.json"),
        JSON.stringify({
          general: { enableAutoUpdate: false },
          memory: { enableManagedAutoMemory: false, enableManagedAutoDream: false },
          ...(SLOW ? {} : { model: { generationConfig: { maxRetries: 1 } } }),
          privacy: { usageStatisticsEnabled: false },
          security: { auth: { selectedType: "openai" } },
        }),
      );
      return {
        provider: {},
        environment: { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: "qwen3-coder-plus" },
      };
    case "copilot":
      return {
        provider: {},
        environment: {
          COPILOT_OFFLINE: "true",
          COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
          COPILOT_PROVIDER_API_KEY: KEY,
          COPILOT_MODEL: "gpt-5",
        },
      };
    case "cline": {
      const settings = { provider: "openai-compatible", apiKey: KEY, model: "mock-model", baseUrl: `${url}/v1` };
      const providers = {
        "openai-compatible": { settings, updatedAt: "2026-01-01T00:00:00.000Z", tokenSource: "manual" },
      };
      write(
        join(home, ".cline/data/settings/providers.json"),
        JSON.stringify({ version: 1, lastUsedProvider: "openai-compatible", modes: {}, providers }),
      );
      return { provider: {}, environment: { CLINE_TELEMETRY_DISABLED: "1" } };
    }
    case "pi": {
      const model = {
        id: "mock-model",
        name: "Mock",
        reasoning: false,
        input: ["text"],
        cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
        contextWindow: 200_000,
        maxTokens: 8192,
      };
      const mock = { baseUrl: `${url}/v1`, apiKey: KEY, api: "openai-completions", models: [model] };
      write(join(home, ".pi/agent/models.json"), JSON.stringify({ providers: { mock } }));
      return { provider: pointed(url), environment: { MOCK_API_KEY: KEY, PI_OFFLINE: "1", PI_TELEMETRY: "0" } };
    }
    case "builtin":
      return { provider: pointed(url), environment: { MOCK_API_KEY: KEY } };
    case "amp":
      write(join(home, ".config/amp/settings.json"), JSON.stringify({ "amp.updates.mode": "disabled" }));
      return { provider: {}, environment: { AMP_URL: url, AMP_API_KEY: `sgamp_${KEY}` } };
    default:
      throw new Error(`no set-up for ${agent}`);
  }
}
