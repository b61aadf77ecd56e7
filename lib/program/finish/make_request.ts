import { textAt } from "../../agents/json.ts";
import { hostOf } from "../../git/host_of.ts";
import { jsonIn } from "../../host/data.ts";
import { hashText } from "../../host/hash.ts";
import type { Host, ProcessEnd } from "../../host/types.ts";

/** A program that makes requests. */
export interface Forge {
  readonly program: "gh" | "glab";
  /** `pull request` or `merge request`. */
  readonly request: string;
}

export interface RequestText {
  /** The branch, of a fork with its owner. */
  readonly head: string;
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
export async function forgeOf(host: Pick<Host, "processes">, cwd: string, url: string): Promise<Forge | null> {
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

/** `a` of `git@github.com:a/b.git` and `https://github.com/a/b`. */
export function ownerOf(url: string): string {
  return /([^/:]+)\/[^/]+\/?$/.exec(url)?.[1] ?? "";
}

/** The arguments that make a request. */
function makingArguments({ program }: Forge, text: RequestText): readonly string[] {
  const { head, base, title, draft, squash } = text;
  const isDraft = draft ? ["--draft"] : [];
  if (program === "gh") {
    const words = ["--title", title, "--body", marked(text.body)];
    return ["pr", "create", "--head", head, "--base", base, ...words, ...isDraft];
  }
  const branches = ["--source-branch", head, "--target-branch", base];
  const isSquashed = squash ? ["--squash-before-merge"] : [];
  const words = ["--title", title, "--description", marked(text.body), "--yes"];
  return ["mr", "create", ...branches, ...words, ...isDraft, ...isSquashed];
}

/** The text with its own hash below: a text whose hash still fits was edited by nobody. */
function marked(body: string): string {
  const text = body.slice(0, BODY_CHARACTERS).trim();
  return `${text}\n\n<!-- ralph ${hashText(text)} -->\n`;
}

function isAsMade(body: string): boolean {
  const [, text = "", hash] = /^([^]*)<!-- ralph ([0-9a-f]{64}) -->\s*$/.exec(body.replaceAll("\r\n", "\n")) ?? [];
  return hash === hashText(text.trim());
}

/** A request as `finish` leaves it: `kept` is one that was open and may have a person's words in its text. */
export interface MadeRequest {
  readonly state: "made" | "renewed" | "kept" | "failed";
  /** `null`: the program named none. */
  readonly address: string | null;
  readonly end: ProcessEnd;
}

/** Makes the request; the text of one that is open is written anew if nobody has edited it. */
export async function makeRequest(
  { processes }: Pick<Host, "processes">,
  cwd: string,
  forge: Forge,
  text: RequestText,
): Promise<MadeRequest> {
  const { program } = forge;
  const call = async (arguments_: readonly string[]): Promise<ProcessEnd> =>
    await processes.run({
      file: program,
      arguments: arguments_,
      cwd,
      environment: { GH_PROMPT_DISABLED: "1", NO_PROMPT: "1", NO_COLOR: "1" },
      timeoutMs: TIMEOUT_MS,
    });
  const end = await call(makingArguments(forge, text));
  const [address = null] = /https?:\/\/\S+/.exec(`${end.stdout}\n${end.stderr}`) ?? [];
  if (end.exitCode === 0) return { state: "made", address, end };
  if (!/already exists/i.test(end.stderr)) return { state: "failed", address, end };
  const isGitHub = program === "gh";
  const asked = isGitHub ? ["pr", "view", text.head, "--json", "body"] : ["mr", "view", text.head, "-F", "json"];
  const told = jsonIn((await call(asked)).stdout);
  // one that tells no text is not written over
  if (!isAsMade(textAt(told, "body") ?? textAt(told, "description") ?? "")) return { state: "kept", address, end };
  const renewed = isGitHub ? ["pr", "edit", text.head, "--body"] : ["mr", "update", text.head, "--description"];
  const again = await call([...renewed, marked(text.body)]);
  return { state: again.exitCode === 0 ? "renewed" : "failed", address, end: again };
}
