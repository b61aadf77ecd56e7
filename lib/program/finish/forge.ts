/**
 * Makes pull and merge requests: GitHub by `gh`, GitLab by `glab`, each by argument arrays.
 *
 * @module
 */
import type { Host, ProcessEnd } from "../../host/types.ts";

/** A program that makes requests. */
export interface Forge {
  readonly program: "gh" | "glab";
  /** `pull request` or `merge request`. */
  readonly request: string;
}

export interface RequestText {
  readonly branch: string;
  readonly base: string;
  readonly title: string;
  /** Markdown. */
  readonly body: string;
  readonly draft: boolean;
  readonly squash: boolean;
}

const FORGES: readonly (Forge & { readonly host: RegExp })[] = [
  { program: "gh", request: "pull request", host: /(^|\.)github\./ },
  { program: "glab", request: "merge request", host: /(^|\.)gitlab\./ },
];

const TIMEOUT_MS = 60_000;
/** Command lines have an end, and so have requests. */
const BODY_CHARACTERS = 60_000;

/** The program for a remote's host, where it is there: by the host's name, else by where the program is logged in. */
export async function forgeOf(host: Host, cwd: string, url: string): Promise<Forge | null> {
  const name = hostOf(url);
  if (name === null) return null;
  const named = FORGES.find((forge) => forge.host.test(name));
  for (const { program, request } of named === undefined ? FORGES : [named]) {
    const asked = named === undefined ? ["auth", "status", "--hostname", name] : ["--version"];
    const end = await host.processes.run({ file: program, arguments: asked, cwd, timeoutMs: 10_000 });
    if (end.reason === "exited" && end.exitCode === 0) return { program, request };
  }
  return null;
}

/** `github.com` of `git@github.com:a/b.git` and `https://github.com/a/b`; `null` for a folder. */
export function hostOf(url: string): string | null {
  const found = /^[a-z+]+:\/\/(?:[^@/]*@)?\[?([^/:\]]+)/i.exec(url) ??
    /^(?:[^@/\s]+@)?([^/:\s]+\.[^/:\s]+):(?!\/\/)/.exec(url);
  return url.startsWith("file:") ? null : found?.[1]?.toLowerCase() ?? null;
}

/** The arguments that start the program. Pure. */
export function requestArguments({ program }: Forge, text: RequestText): readonly string[] {
  const { branch, base, title, draft, squash } = text;
  const body = text.body.slice(0, BODY_CHARACTERS);
  const isDraft = draft ? ["--draft"] : [];
  if (program === "gh") {
    return ["pr", "create", "--head", branch, "--base", base, "--title", title, "--body", body, ...isDraft];
  }
  const branches = ["--source-branch", branch, "--target-branch", base];
  const isSquashed = squash ? ["--squash-before-merge"] : [];
  return ["mr", "create", ...branches, "--title", title, "--description", body, "--yes", ...isDraft, ...isSquashed];
}

/** Makes the request. @returns its address; `null`: the program named none */
export async function makeRequest(
  { processes }: Pick<Host, "processes">,
  cwd: string,
  forge: Forge,
  text: RequestText,
): Promise<{ readonly end: ProcessEnd; readonly address: string | null; readonly isOpen: boolean }> {
  const end = await processes.run({
    file: forge.program,
    arguments: requestArguments(forge, text),
    cwd,
    environment: { GH_PROMPT_DISABLED: "1", NO_PROMPT: "1", NO_COLOR: "1" },
    timeoutMs: TIMEOUT_MS,
  });
  const [address = null] = /https?:\/\/\S+/.exec(`${end.stdout}\n${end.stderr}`) ?? [];
  return { end, address, isOpen: end.exitCode !== 0 && /already exists/i.test(end.stderr) };
}
