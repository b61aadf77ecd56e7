/**
 * GitHub as a tracker. One GraphQL request gives an issue with who edited it last and who set its labels, which REST does
 * not say; permissions, comments and labels go by REST.
 *
 * @module
 */
import { GITHUB_COMMENTS, GITHUB_ISSUE, GITHUB_ISSUES } from "../generated/queries.ts";
import { ofCode, RalphError } from "../errors/ralph_error.ts";
import { isObject, objectOr, sameName, textOf } from "../host/data.ts";
import type { Clock } from "../host/types.ts";
import { type Api, askGraph, nodesOf } from "./api.ts";
import type { Change, Issue, IssueQuery, IssueState, Person, Tracker } from "./types.ts";

/** Rights are asked for again after so long. */
const RIGHTS_MS = 5 * 60_000;
/** Events of an issue that are read (`issue.graphql`): where older ones may say who named it, nobody knows. */
const EVENTS = 100;
/** A comment is looked for and made so often. */
const TRIES = 3;

/** GitHub Enterprise gets these lines of the fragments years after github.com. */
const NEWER_REGEXP = /^(?:fragment other on| *blockedBy\().*$/gm;
/** An issue on a task list that is not ticked: `- [ ] #12`. */
const TASK_REGEXP = /^\s*[-*+] \[ \] #(\d+)\b/gm;

export interface GithubOptions {
  readonly api: Api;
  readonly clock: Clock;
  /** The REST API: `https://api.github.com`. */
  readonly url: string;
  /** For people. */
  readonly host: string;
  /** `owner/name`. */
  readonly project: string;
  /** The label of each state. */
  readonly states: Readonly<Record<Exclude<IssueState, "open">, string>>;
}

/** The issues of a repository on GitHub. */
export function githubTracker(options: GithubOptions): Tracker {
  return new Github(options);
}

class Github implements Tracker {
  readonly name = "github";
  readonly project: string;
  readonly host: string;
  readonly #options: GithubOptions;
  readonly #base: string;
  readonly #rights = new Map<string, { readonly mayWrite: Promise<boolean>; readonly at: number }>();
  /** Ids of comments, by issue and marker. */
  readonly #comments = new Map<string, number>();
  #etag: string | null = null;
  /** False for a host that knows neither sub-issues nor what blocks an issue: task lists are the order there. */
  #hasOrder = true;

  constructor(options: GithubOptions) {
    this.#options = options;
    this.project = options.project;
    this.host = options.host;
    this.#base = `${options.url}/repos/${options.project}`;
  }

  async list({ label, id, since }: IssueQuery): Promise<readonly Issue[]> {
    if (id !== undefined) {
      const { issue } = await this.#ask(GITHUB_ISSUE, { number: numberOf(id) });
      return isObject(issue) ? [await this.#issue(issue, label)] : [];
    }
    // GitHub counts what a list may hold: of what has changed, few, for a single point
    const which = since === undefined ? { states: ["OPEN"], labels: [label], size: 50 } : { since, size: 20 };
    const found: Issue[] = [];
    const isMeant = ({ labels }: Readonly<Record<string, unknown>>): boolean =>
      nodesOf(labels).some(({ name }) => sameName(name, label));
    for await (const node of this.#nodes(GITHUB_ISSUES, which, ({ issues }) => issues)) {
      // nobody's rights are asked for an issue that is not worked on
      const strange = isMeant(node) ? {} : { author: null, editor: null, timelineItems: null };
      found.push(await this.#issue({ ...node, ...strange }, label));
    }
    return found;
  }

  async comment(id: string, marker: string, body: string): Promise<void> {
    const key = `${id} ${marker}`;
    const text = `${marker}\n${body}`;
    for (let attempt = 1;; attempt += 1) {
      const known = this.#comments.get(key) ?? await this.#find(id, marker);
      try {
        const made = known === null
          ? await this.#rest("POST", `/issues/${numberOf(id)}/comments`, { body: text }, true)
          : await this.#rest("PATCH", `/issues/comments/${known}`, { body: text });
        const number = Number(objectOr(made.data)["id"] ?? known);
        if (made.status < 300) return void this.#comments.set(key, number);
        this.#comments.delete(key);
        if (known === null || attempt >= TRIES) return;
      } catch (error) {
        if (attempt >= TRIES) throw error; // it may have been made all the same: looked for again
      }
    }
  }

  async state(id: string, state: IssueState): Promise<void> {
    const path = `/issues/${numberOf(id)}`;
    const { states } = this.#options;
    const wanted = state === "open" ? null : states[state];
    const { data, status } = wanted === null
      ? await this.#rest("GET", `${path}/labels?per_page=100`)
      : await this.#rest("POST", `${path}/labels`, { labels: [wanted] }); // it answers with all of them
    if (status >= 300) return;
    const has = nodesOf(data).map(({ name }) => textOf(name));
    const isOther = (name: string): boolean => !(wanted !== null && sameName(name, wanted));
    const own = Object.values(states);
    for (const name of has.filter((one) => isOther(one) && own.some((state) => sameName(one, state)))) {
      await this.#rest("DELETE", `${path}/labels/${encodeURIComponent(name)}`);
    }
  }

  async changed(): Promise<boolean> {
    const url = `${this.#base}/issues?state=all&sort=updated&direction=desc&per_page=1`;
    const headers: Readonly<Record<string, string>> = this.#etag === null ? {} : { "if-none-match": this.#etag };
    const { status, header } = await this.#options.api({ url, headers });
    if (status === 304) return false;
    this.#etag = header("etag");
    return true;
  }

  async #find(id: string, marker: string): Promise<number | null> {
    const pages = this.#nodes(GITHUB_COMMENTS, { number: numberOf(id) }, ({ issue }) => objectOr(issue)["comments"]);
    for await (const { body, databaseId, viewerDidAuthor } of pages) {
      // anyone can write the marker: only what this account wrote is changed
      if (viewerDidAuthor === true && textOf(body).startsWith(marker)) return Number(databaseId);
    }
    return null;
  }

  async #issue(node: Readonly<Record<string, unknown>>, label: string): Promise<Issue> {
    const created = { at: textOf(node["createdAt"]), actor: node["author"] };
    const body = typeof node["lastEditedAt"] === "string"
      ? { at: node["lastEditedAt"], actor: node["editor"] }
      : created;
    const events = nodesOf(node["timelineItems"]);
    const renamed = events.findLast(({ __typename }) => __typename === "RenamedTitleEvent");
    const title = renamed === undefined ? created : { at: textOf(renamed["createdAt"]), actor: renamed["actor"] };
    const isWhole = renamed !== undefined || events.length < EVENTS;
    const others = [...nodesOf(node["blockedBy"]), ...nodesOf(node["subIssues"])];
    const set = events.filter((event) => sameName(objectOr(event["label"])["name"], label));
    return {
      id: `#${Number(node["number"])}`,
      title: textOf(node["title"]),
      body: textOf(node["body"]),
      url: textOf(node["url"]),
      isOpen: node["state"] === "OPEN",
      labels: nodesOf(node["labels"]).map(({ name }) => textOf(name)),
      updatedAt: textOf(node["updatedAt"]),
      edits: [await this.#change(body), isWhole ? await this.#change(title) : { at: title.at, by: null }],
      labelled: await Promise.all(set.map(({ createdAt, actor }) => this.#change({ at: textOf(createdAt), actor }))),
      waitsFor: this.#hasOrder
        ? others.filter(({ state }) => state === "OPEN").map((other) => this.#idOf(other))
        : [...textOf(node["body"]).matchAll(TASK_REGEXP)].map(([, number]) => `#${number}`),
    };
  }

  #idOf({ number, repository }: Readonly<Record<string, unknown>>): string {
    const name = textOf(objectOr(repository)["nameWithOwner"]) || this.project;
    return name.toLowerCase() === this.project.toLowerCase() ? `#${Number(number)}` : `${name}#${Number(number)}`;
  }

  async #change({ at, actor }: { readonly at: string; readonly actor: unknown }): Promise<Change> {
    const { __typename: type, login } = objectOr(actor);
    if (typeof login !== "string") return { at, by: null };
    // an app may have the name of a person: only a person's rights are asked for
    const by: Person = { name: login, mayWrite: type === "User" && await this.#mayWrite(login) };
    return { at, by };
  }

  #mayWrite(login: string): Promise<boolean> {
    const now = this.#options.clock.steady();
    const known = this.#rights.get(login);
    if (known !== undefined && now - known.at < RIGHTS_MS) return known.mayWrite;
    const mayWrite = this.#askRights(login);
    this.#rights.set(login, { mayWrite, at: now });
    mayWrite.catch(() => this.#rights.delete(login));
    return mayWrite;
  }

  async #askRights(login: string): Promise<boolean> {
    const asked = this.#rest("GET", `/collaborators/${encodeURIComponent(login)}/permission`);
    const reply = await asked.catch(ofCode("tracker-refused", () => null)); // not even to be asked
    return reply?.status === 200 &&
      ["admin", "maintain", "write"].includes(textOf(objectOr(reply.data)["permission"]));
  }

  async #rest(method: string, path: string, body?: object, once = false): ReturnType<Api> {
    return await this.#options.api({ method, url: `${this.#base}${path}`, once, body });
  }

  async #ask(query: string, variables: object): Promise<Readonly<Record<string, unknown>>> {
    const { api, host, url } = this.#options;
    const [owner, name] = this.project.split("/");
    const graph = `${url.replace(/\/v3$/, "")}/graphql`;
    const text = this.#hasOrder ? query : query.replaceAll(NEWER_REGEXP, "");
    try {
      return objectOr(objectOr(await askGraph(api, host, graph, text, { owner, name, ...variables }))["repository"]);
    } catch (error) {
      const isOlder = RalphError.isInstance(error) && /\b(?:blockedBy|subIssues)\b/.test(error.message);
      if (!isOlder || !this.#hasOrder) throw error;
      this.#hasOrder = false;
      return await this.#ask(query, variables);
    }
  }

  async *#nodes(
    query: string,
    variables: object,
    listOf: (repository: Readonly<Record<string, unknown>>) => unknown,
  ): AsyncGenerator<Readonly<Record<string, unknown>>> {
    for (let after: unknown = null;;) {
      const list = objectOr(listOf(await this.#ask(query, { ...variables, after })));
      yield* nodesOf(list);
      const { hasNextPage, endCursor } = objectOr(list["pageInfo"]);
      if (hasNextPage !== true) return;
      after = endCursor;
    }
  }
}

function numberOf(id: string): number {
  return Number(id.replace(/^#/, ""));
}
