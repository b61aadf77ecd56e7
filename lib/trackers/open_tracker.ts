/**
 * The tracker that the configuration names, with the token of its own program. A token stays in this process: it is in
 * requests to its host, and in nothing else.
 *
 * @module
 */
import { join } from "node:path";
import type { TrackerConfig } from "../config/load.ts";
import { RalphError } from "../errors/ralph_error.ts";
import { hostOf } from "../git/host_of.ts";
import type { Repository } from "../git/repository.ts";
import { pathExists } from "../host/files.ts";
import type { Host } from "../host/types.ts";
import type { Api } from "./api.ts";
import type { Tracker } from "./types.ts";

const GITHUB_API = "https://api.github.com";
const LINEAR_API = "https://api.linear.app/graphql";
const LOGIN_MS = 20_000;

/** The place that a tracker is opened in. */
export interface TrackerPlace {
  /** Absolute path of the project. */
  readonly root: string;
  readonly git: Repository["git"];
  readonly host: Host;
  readonly signal: AbortSignal;
}

/** A tracker without its connection: what journal and snapshot know it by. */
export type TrackerName = Pick<Tracker, "host" | "name" | "project">;

/** Which tracker is meant. Asks nothing but git. @throws {RalphError} tracker-unknown */
export async function nameTracker(config: TrackerConfig, { git }: Pick<TrackerPlace, "git">): Promise<TrackerName> {
  const { name, project } = config;
  switch (name) {
    case "github": {
      const host = new URL(config.url ?? GITHUB_API).hostname.replace(/^api\./, "");
      return { name, host, project: project ?? await projectOf(git, config.remote, host) };
    }
    case "linear":
      return { name, host: "linear.app", project: project ?? "" };
    case "beads":
      return { name, host: name, project: "" };
    default:
      throw unknown("no tracker is named: `--tracker github`, or `tracker.name` in the configuration");
  }
}

/** The tracker that a project without one could work off, in a line: beads' folder, or a remote at GitHub; `null`: none. */
export async function trackerHere(
  config: TrackerConfig,
  { git, root }: Pick<TrackerPlace, "git" | "root">,
): Promise<string | null> {
  const works = `works off those with the label ${config.label}`;
  if (config.name !== null) return null;
  if (await pathExists(join(root, ".beads"))) return `\`ralph run --tracker beads\` ${works}`;
  const github = await nameTracker({ ...config, name: "github" }, { git }).catch(() => null);
  return github === null ? null : `${github.project}: \`ralph run --tracker github\` ${works}`;
}

/** Opens it. @throws {RalphError} tracker-unknown, tracker-login */
export async function openTracker(config: TrackerConfig, place: TrackerPlace): Promise<Tracker> {
  const { name, host, project } = await nameTracker(config, place);
  const { host: { clock, environment: { variables }, processes }, root, signal } = place;
  const { states } = config;
  switch (name) {
    case "github": {
      const token = variables["GH_TOKEN"] || variables["GITHUB_TOKEN"] || await githubLogin(place, host);
      const api = await apiWith({
        authorization: `Bearer ${token}`,
        accept: "application/vnd.github+json",
        "user-agent": "ralph",
        "graphql-features": "sub_issues",
      });
      const url = (config.url ?? GITHUB_API).replace(/\/$/, "");
      return (await import("./github.ts")).githubTracker({ api, clock, url, host, project, states });
    }
    case "linear": {
      const authorization = variables["LINEAR_API_KEY"];
      if (!authorization) throw loginMissing(host, "there is no `LINEAR_API_KEY`");
      const api = await apiWith({ authorization });
      return (await import("./linear.ts")).linearTracker({ api, url: config.url ?? LINEAR_API, host, project, states });
    }
    case "beads":
      return (await import("./beads.ts")).beadsTracker({ processes, root });
    default:
      throw unknown(`there is no tracker ${name}`);
  }

  async function apiWith(headers: Readonly<Record<string, string>>): Promise<Api> {
    const { createApi } = await import("./api.ts");
    return createApi({ host, headers: { "content-type": "application/json", ...headers }, clock, signal });
  }
}

/** The token of GitHub's own program. */
async function githubLogin({ root, host: { processes } }: TrackerPlace, host: string): Promise<string> {
  const asked = ["auth", "token", "--hostname", host];
  const { exitCode, stdout } = await processes.run({ file: "gh", arguments: asked, cwd: root, timeoutMs: LOGIN_MS });
  if (exitCode === 0 && stdout.trim() !== "") return stdout.trim();
  throw loginMissing(host, "there is no `GH_TOKEN`, and `gh auth token` gives none");
}

function loginMissing(host: string, reason: string): RalphError {
  return new RalphError("tracker-login", { details: { host, reason } });
}

/** `owner/name` of a remote on that host, `ssh.` before it, or a name that ssh has for it, such as `github.com-work`. */
async function projectOf(git: Repository["git"], remote: string, host: string): Promise<string> {
  const { exitCode, stdout } = await git(["remote", "get-url", remote]);
  const url = stdout.trim();
  const [, project] = /[:/]([\w.-]+\/[\w.-]+?)(?:\.git)?\/?$/.exec(url) ?? [];
  const name = hostOf(url)?.replace(/^ssh\./, "") ?? "";
  const isThere = name === host || name.replace(/-[^.]*$/, "") === host;
  if (exitCode === 0 && project !== undefined && isThere) return project;
  throw unknown(`the remote ${remote} is not at ${host}: \`tracker.project\` names the repository, as \`owner/name\``);
}

function unknown(problem: string): RalphError {
  return new RalphError("tracker-unknown", { details: { problem } });
}
