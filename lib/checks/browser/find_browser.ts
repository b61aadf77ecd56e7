import { join } from "node:path";
import { RalphError } from "../../errors/ralph_error.ts";
import { findExecutable } from "../../host/shell.ts";
import type { Environment } from "../../host/types.ts";

/** Names on PATH, most wanted first. */
const NAMES = ("google-chrome-stable google-chrome chromium chromium-browser chrome microsoft-edge-stable " +
  "microsoft-edge brave-browser").split(" ");
const MAC = ["Google Chrome", "Chromium", "Microsoft Edge", "Brave Browser"].map((name) =>
  `/Applications/${name}.app/Contents/MacOS/${name}`
);
const WINDOWS = [
  "Google\\Chrome\\Application\\chrome.exe",
  "Chromium\\Application\\chrome.exe",
  "Microsoft\\Edge\\Application\\msedge.exe",
];

/**
 * Chrome, Chromium or a browser made of it.
 *
 * @param configured `browser.executablePath`; it wins, and must be there
 * @returns an absolute path
 * @throws {RalphError} browser-missing
 */
export async function findBrowser(configured: string, environment: Environment, root: string): Promise<string> {
  if (configured !== "") {
    const found = await findExecutable(configured, environment, root);
    if (found !== null) return found;
    throw missing(`browser.executablePath names ${configured}, which does not exist or may not be run`);
  }
  for (const name of candidates(environment)) {
    const found = await findExecutable(name, environment, root);
    if (found !== null) return found;
  }
  throw missing("neither Chrome nor Chromium was found on this machine");
}

function candidates({ platform, variables }: Environment): readonly string[] {
  if (platform === "darwin") return [...MAC, ...NAMES];
  if (platform !== "win32") return NAMES;
  const folders = ["ProgramFiles", "ProgramFiles(x86)", "LOCALAPPDATA"].flatMap((name) => variables[name] ?? []);
  return folders.flatMap((folder) => WINDOWS.map((path) => join(folder, path)));
}

function missing(reason: string): RalphError {
  return new RalphError("browser-missing", { details: { reason } });
}
