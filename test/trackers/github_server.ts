/**
 * A server that behaves like GitHub, as far as a tracker asks it: GraphQL for issues with their edits and label events,
 * REST for permissions, comments and labels, ETags, limits. Its state is in memory, and read by tests.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Actor {
  readonly __typename: "User" | "Bot" | "Mannequin";
  readonly login: string;
}

export interface StoredIssue {
  number: number;
  title: string;
  body: string;
  state: "OPEN" | "CLOSED";
  createdAt: string;
  updatedAt: string;
  lastEditedAt: string | null;
  author: Actor | null;
  editor: Actor | null;
  labels: string[];
  events: {
    __typename: "LabeledEvent" | "RenamedTitleEvent";
    createdAt: string;
    actor: Actor | null;
    label?: { name: string };
  }[];
  blockedBy: number[];
  subIssues: number[];
}

export interface StoredComment {
  readonly databaseId: number;
  readonly issue: number;
  body: string;
  readonly by: string;
}

export interface GithubServer extends AsyncDisposable {
  readonly url: string;
  readonly issues: Map<number, StoredIssue>;
  readonly comments: StoredComment[];
  /** `METHOD path`, of GraphQL the operation. */
  readonly requests: string[];
  /** How many of them were answered by 304. */
  unchanged: number;
  /** Authorization headers. */
  readonly tokens: Set<string>;
  /** Requests that would have closed an issue. */
  readonly closed: string[];
  /** Rights by login. */
  readonly rights: Map<string, string>;
  /** Answers in place of the server: a status, or `null` to let it answer. `after`: when it has done what was asked for. */
  fail: (request: string) => { readonly status: number; readonly after?: boolean } | null;
  /** Every connection is cut. */
  offline: boolean;
  /** Knows neither sub-issues nor what blocks an issue. */
  isOlder: boolean;
  /** The next moment of its clock, ISO 8601. */
  now(): string;
  add(issue: Partial<StoredIssue> & { readonly number: number }): StoredIssue;
  /** Sets a label, as that person. */
  label(number: number, name: string, by: string): void;
  edit(number: number, change: { readonly body?: string; readonly title?: string }, by: string | null): void;
}

const ME = "runner";
export const PROJECT = "acme/shop";

export const user = (login: string): Actor => ({ __typename: "User", login });

export async function githubServer(): Promise<GithubServer> {
  let second = 0;
  let ids = 100;
  const state: GithubServer = {
    url: "",
    issues: new Map(),
    comments: [],
    requests: [],
    unchanged: 0,
    tokens: new Set(),
    closed: [],
    rights: new Map([["owner", "admin"], ["writer", "write"], ["reader", "read"], ["stranger", "none"]]),
    fail: () => null,
    offline: false,
    isOlder: false,
    now: () => new Date(Date.UTC(2026, 0, 1) + (second += 1) * 1000).toISOString(),
    add(issue) {
      const at = state.now();
      const made: StoredIssue = {
        title: `issue ${issue.number}`,
        body: "",
        state: "OPEN",
        createdAt: at,
        updatedAt: at,
        lastEditedAt: null,
        author: user("owner"),
        editor: null,
        labels: ["ralph"],
        events: [],
        blockedBy: [],
        subIssues: [],
        ...issue,
      };
      state.issues.set(made.number, made);
      return made;
    },
    label(number, name, by) {
      const issue = state.issues.get(number)!;
      issue.updatedAt = state.now();
      if (!issue.labels.includes(name)) issue.labels.push(name);
      issue.events.push({ __typename: "LabeledEvent", createdAt: issue.updatedAt, actor: user(by), label: { name } });
    },
    edit(number, { body, title }, by) {
      const issue = state.issues.get(number)!;
      issue.updatedAt = state.now();
      const actor = by === null ? null : user(by);
      if (body !== undefined) Object.assign(issue, { body, lastEditedAt: issue.updatedAt, editor: actor });
      if (title === undefined) return;
      issue.title = title;
      issue.events.push({ __typename: "RenamedTitleEvent", createdAt: issue.updatedAt, actor });
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };

  const shown = (number: number): object => ({
    number,
    state: state.issues.get(number)?.state ?? "OPEN",
    repository: { nameWithOwner: PROJECT },
  });
  const nodeOf = (issue: StoredIssue): object => ({
    ...issue,
    url: `${state.url}/${PROJECT}/issues/${issue.number}`,
    labels: { nodes: issue.labels.map((name) => ({ name })) },
    blockedBy: { nodes: issue.blockedBy.map(shown) },
    subIssues: { nodes: issue.subIssues.map(shown) },
    timelineItems: { nodes: issue.events.slice(-100) },
  });
  const page = (all: readonly object[], size: number, after: unknown): object => {
    const from = Number(after ?? 0);
    const hasNextPage = all.length > from + size;
    return { nodes: all.slice(from, from + size), pageInfo: { hasNextPage, endCursor: `${from + size}` } };
  };

  function graph(
    { query, variables }: { readonly query: string; readonly variables: Record<string, unknown> },
  ): object {
    const { number, states, labels, since, after, size } = variables;
    const unknown = state.isOlder ? ["blockedBy", "subIssues"].find((name) => query.includes(name)) : undefined;
    if (unknown !== undefined) {
      return {
        errors: [{
          extensions: { code: "undefinedField" },
          message: `Field '${unknown}' doesn't exist on type 'Issue'`,
        }],
      };
    }
    const issue = state.issues.get(Number(number));
    const missing = {
      data: { repository: { issue: null } },
      errors: [{ type: "NOT_FOUND", message: "no such issue" }],
    };
    if (/query issue\(/.test(query)) {
      return issue === undefined ? missing : { data: { repository: { issue: nodeOf(issue) } } };
    }
    if (/query comments\(/.test(query)) {
      if (issue === undefined) return missing;
      const own = state.comments.filter((one) => one.issue === number)
        .map(({ by, ...comment }) => ({ ...comment, viewerDidAuthor: by === ME }));
      return { data: { repository: { issue: { comments: page(own, 100, after) } } } };
    }
    const found = [...state.issues.values()].filter((one) =>
      state.issues.get(one.number) === one && // the others are transferred
      (!Array.isArray(states) || states.includes(one.state)) &&
      (!Array.isArray(labels) || one.labels.some((name) => labels.includes(name))) &&
      (typeof since !== "string" || one.updatedAt >= since)
    );
    return { data: { repository: { issues: page(found.map(nodeOf), Number(size), after) } } };
  }

  function rest(
    method: string,
    path: string,
    body: Record<string, unknown>,
    etag: unknown,
  ): [number, unknown, object?] {
    const [, person] = /^\/collaborators\/([^/]+)\/permission$/.exec(path) ?? [];
    if (person !== undefined) {
      const permission = state.rights.get(person);
      return permission === undefined ? [404, { message: "Not Found" }] : [200, { permission }];
    }
    if (path.startsWith("/issues?")) {
      const newest = [...state.issues.values()].map(({ updatedAt }) => updatedAt).toSorted().at(-1) ?? "";
      const own = `W/"${newest}"`;
      return etag === own ? [304, null, { etag: own }] : [200, [], { etag: own }];
    }
    const [, comment] = /^\/issues\/comments\/(\d+)$/.exec(path) ?? [];
    if (comment !== undefined && method === "PATCH") {
      const known = state.comments.find(({ databaseId }) => databaseId === Number(comment));
      if (known === undefined) return [404, {}];
      known.body = String(body["body"]);
      return [200, { id: known.databaseId }];
    }
    const [, number, rest_ = ""] = /^\/issues\/(\d+)(\/.*)?$/.exec(path) ?? [];
    const issue = state.issues.get(Number(number));
    if (issue === undefined) return [404, { message: "Not Found" }];
    if (method === "PATCH") state.closed.push(path);
    const labels = (): object[] => issue.labels.map((name) => ({ name }));
    if (rest_.startsWith("/labels") && method === "GET") return [200, labels()];
    if (rest_ === "/comments" && method === "POST") {
      ids += 1;
      state.comments.push({ databaseId: ids, issue: issue.number, body: String(body["body"]), by: ME });
      issue.updatedAt = state.now();
      return [201, { id: ids }];
    }
    if (rest_ === "/labels" && method === "POST") {
      const has = (name: string): boolean => issue.labels.some((one) => one.toLowerCase() === name.toLowerCase());
      issue.labels.push(...(body["labels"] as string[]).filter((name) => !has(name)));
      issue.updatedAt = state.now();
      return [200, labels()];
    }
    if (rest_.startsWith("/labels/") && method === "DELETE") {
      const name = decodeURIComponent(rest_.slice("/labels/".length));
      if (!issue.labels.includes(name)) return [404, {}];
      issue.labels = issue.labels.filter((one) => one !== name);
      issue.updatedAt = state.now();
      return [200, labels()];
    }
    return [404, { message: `not there: ${method} ${path}` }];
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = "";
    for await (const chunk of request) text += String(chunk);
    if (state.offline) return void request.socket.destroy();
    const { method = "GET", url = "" } = request;
    const body = text === "" ? {} : JSON.parse(text) as Record<string, unknown>;
    const path = url.replace(`/repos/${PROJECT}`, "");
    const name = url === "/graphql" ? `GRAPHQL ${/query (\w+)/.exec(String(body["query"]))?.[1]}` : `${method} ${path}`;
    state.requests.push(name);
    state.tokens.add(String(request.headers.authorization));
    const failure = state.fail(name);
    const done = failure === null || failure.after === true
      ? url === "/graphql"
        ? [200, graph(body as never)] as const
        : rest(method, path, body, request.headers["if-none-match"])
      : null;
    if (failure !== null || done === null) {
      const { status } = failure!;
      const limits = status === 500 ? {} : { "retry-after": "0" };
      response.writeHead(status, { "content-type": "application/json", ...limits });
      return void response.end(JSON.stringify({ message: status === 500 ? "oops" : "secondary rate limit" }));
    }
    const [status, data, headers = {}] = done;
    if (status === 304) state.unchanged += 1;
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(status === 304 ? undefined : JSON.stringify(data));
  }

  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return Object.assign(state, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}
