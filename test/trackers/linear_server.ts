/** A server that behaves like Linear's GraphQL interface, as far as a tracker asks it. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Member {
  readonly id: string;
  readonly name: string;
  readonly guest: boolean;
  readonly active: boolean;
  readonly app: boolean;
}

export const MEMBER: Member = { id: "u1", name: "Ada", guest: false, active: true, app: false };

const STATES = [
  ["s1", "Todo", "unstarted"],
  ["s2", "In Progress", "started"],
  ["s3", "In Review", "started"],
  ["s4", "Blocked", "started"],
  ["s5", "Done", "completed"],
  ["s6", "Canceled", "canceled"],
].map(([id, name, type]) => ({ id: id!, name: name!, type: type! }));

interface Stored {
  readonly identifier: string;
  labels: string[];
  blockedBy: string[];
  state: string;
  updatedAt: string;
  history: object[];
}

export interface LinearServer extends AsyncDisposable {
  readonly url: string;
  readonly comments: { readonly id: string; readonly issue: string; body: string }[];
  /** Older entries of every history are on a page that is not read. */
  hidesOlder: boolean;
  add(identifier: string, more?: Partial<Stored>): void;
  edit(identifier: string, by: Member | null): void;
  label(identifier: string, by: Member): void;
  close(identifier: string): void;
  history(identifier: string): object[];
}

export async function linearServer(): Promise<LinearServer> {
  let second = 0;
  const issues = new Map<string, Stored>();
  const now = (): string => new Date(Date.UTC(2026, 0, 1) + (second += 1) * 1000).toISOString();
  const stateOf = (id: string): object => STATES.find((one) => one.id === id)!;
  const shown = (identifier: string): object => ({ identifier, state: stateOf(issues.get(identifier)!.state) });
  const state: LinearServer = {
    url: "",
    comments: [],
    hidesOlder: false,
    add: (identifier, more = {}) =>
      void issues.set(identifier, {
        identifier,
        labels: ["ralph"],
        blockedBy: [],
        state: "s1",
        updatedAt: now(),
        history: [],
        ...more,
      }),
    edit(identifier, actor) {
      const issue = issues.get(identifier)!;
      issue.updatedAt = now();
      issue.history.unshift({ createdAt: issue.updatedAt, updatedDescription: true, actor });
    },
    label(identifier, actor) {
      const issue = issues.get(identifier)!;
      issue.updatedAt = now();
      issue.history.unshift({ createdAt: issue.updatedAt, addedLabelIds: ["l-ralph"], actor });
    },
    close: (identifier) => void Object.assign(issues.get(identifier)!, { state: "s5", updatedAt: now() }),
    history: (identifier) => issues.get(identifier)!.history,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
  const nodeOf = (issue: Stored): object => ({
    id: `id-${issue.identifier}`,
    identifier: issue.identifier,
    title: `issue ${issue.identifier}`,
    description: "words",
    url: `https://linear.app/acme/issue/${issue.identifier}`,
    createdAt: "2026-01-01T00:00:00.000Z",
    updatedAt: issue.updatedAt,
    creator: MEMBER,
    state: stateOf(issue.state),
    labels: { nodes: issue.labels.map((name) => ({ id: `l-${name}`, name })) },
    children: { nodes: [] },
    inverseRelations: { nodes: issue.blockedBy.map((one) => ({ type: "blocks", issue: shown(one) })) },
    history: { nodes: issue.history, pageInfo: { hasNextPage: state.hidesOlder } },
    team: { states: { nodes: STATES } },
    comments: {
      nodes: state.comments.filter((one) => one.issue === issue.identifier).map((one) => ({
        ...one,
        user: { id: "me" },
      })),
    },
  });

  function answer(query: string, variables: Record<string, unknown>): object {
    const wanted = `${variables["id"] as string}`.replace(/^id-/, "");
    const issue = issues.get(wanted);
    const data = (value: object): object => ({ data: value });
    if (/mutation comment\(/.test(query)) {
      const { issueId, body } = variables["input"] as { readonly issueId: string; readonly body: string };
      state.comments.push({ id: `c${state.comments.length}`, issue: issueId.replace(/^id-/, ""), body });
      return data({ commentCreate: { success: true } });
    }
    if (/mutation change\(/.test(query)) {
      state.comments.find(({ id }) => id === variables["id"])!.body = String(variables["body"]);
      return data({ commentUpdate: { success: true } });
    }
    if (/mutation move\(/.test(query)) {
      Object.assign(issue!, { state: variables["stateId"], updatedAt: now() });
      return data({ issueUpdate: { success: true } });
    }
    if (/query issues\(/.test(query)) {
      const { labels, updatedAt } = variables["filter"] as {
        readonly labels?: object;
        readonly updatedAt?: { readonly gte: string };
      };
      const found = [...issues.values()].filter((one) =>
        (labels === undefined || (one.labels.includes("ralph") && one.state !== "s5")) &&
        (updatedAt === undefined || one.updatedAt >= updatedAt.gte)
      );
      return data({ issues: { nodes: found.map(nodeOf), pageInfo: { hasNextPage: false } } });
    }
    if (issue === undefined) {
      return { data: null, errors: [{ message: "Entity not found: Issue", extensions: { code: "INPUT_ERROR" } }] };
    }
    return data({ viewer: { id: "me" }, issue: nodeOf(issue) });
  }

  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk) => text += String(chunk));
    request.on("end", () => {
      const { query, variables } = JSON.parse(text) as {
        readonly query: string;
        readonly variables: Record<string, unknown>;
      };
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(answer(query, variables)));
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return Object.assign(state, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}
