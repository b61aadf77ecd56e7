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

/** Points of a query, as Linear counts them: 0.1 a value, 1 an object, of a list all that it may hold. */
function pointsOf(query: string): number {
  if (query.includes("...")) throw new Error("fragments are not counted here");
  const tokens = query.slice(query.indexOf("{") + 1).match(/\([^()]*\)|[{}]|\w+/g) ?? [];
  const inside = (): number => {
    let sum = 0;
    for (let name = tokens.shift(); name !== undefined && name !== "}"; name = tokens.shift()) {
      const size = tokens[0]?.startsWith("(") === true ? Number(/first: (\d+)/.exec(tokens.shift()!)?.[1] ?? 50) : 50;
      const isObject = tokens[0] === "{";
      if (isObject) tokens.shift();
      if (name === "nodes") throw new Error("a list begins with its nodes");
      if (isObject && tokens[0] === "nodes") sum += (tokens.splice(0, 2), size * (1 + inside())) + inside();
      else sum += isObject ? 1 + inside() : 0.1;
    }
    return sum;
  };
  return inside();
}

export interface LinearServer extends AsyncDisposable {
  readonly url: string;
  readonly comments: { readonly id: string; readonly issue: string; body: string }[];
  /** Older entries of every history are on a page that is not read. */
  hidesOlder: boolean;
  /** Refuses everything: the limit of the hour is reached. */
  isLimited: boolean;
  /** The operations that it was asked. */
  readonly asked: string[];
  add(identifier: string, more?: Partial<Stored>): void;
  edit(identifier: string, by: Member | null): void;
  label(identifier: string, by: Member): void;
  close(identifier: string): void;
  history(identifier: string): object[];
  /** The name of its workflow's state. */
  state(identifier: string): string;
}

export async function linearServer(): Promise<LinearServer> {
  let second = 0;
  const issues = new Map<string, Stored>();
  const now = (): string => new Date(Date.UTC(2026, 0, 1) + (second += 1) * 1000).toISOString();
  const stateOf = (id: string): { readonly name: string } => STATES.find((one) => one.id === id)!;
  const shown = (identifier: string): object => ({ identifier, state: stateOf(issues.get(identifier)!.state) });
  const state: LinearServer = {
    url: "",
    comments: [],
    hidesOlder: false,
    isLimited: false,
    asked: [],
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
    state: (identifier) => stateOf(issues.get(identifier)!.state).name,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
  const page = (query: string, name: string, nodes: readonly object[], isLong = false): object => {
    const size = Number(new RegExp(`\\b${name}\\(first: (\\d+)`).exec(query)?.[1]);
    return { nodes: nodes.slice(0, size), pageInfo: { hasNextPage: isLong || nodes.length > size } };
  };
  const nodeOf = (issue: Stored, query: string): object => ({
    id: `id-${issue.identifier}`,
    identifier: issue.identifier,
    title: `issue ${issue.identifier}`,
    description: "words",
    url: `https://linear.app/acme/issue/${issue.identifier}`,
    createdAt: "2026-01-01T00:00:00.000Z",
    updatedAt: issue.updatedAt,
    creator: MEMBER,
    state: stateOf(issue.state),
    labels: page(query, "labels", issue.labels.map((name) => ({ id: `l-${name}`, name }))),
    children: page(query, "children", []),
    inverseRelations: page(
      query,
      "inverseRelations",
      issue.blockedBy.map((one) => ({ type: "blocks", issue: shown(one) })),
    ),
    history: page(query, "history", issue.history, state.hidesOlder),
    team: { states: { nodes: STATES } },
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
    const { labels, updatedAt } = (variables["filter"] ?? {}) as {
      readonly labels?: object;
      readonly updatedAt?: { readonly gte?: string; readonly gt?: string };
    };
    if (/query (?:issues|newer)\(/.test(query)) {
      const found = [...issues.values()].filter((one) =>
        (labels === undefined || (one.labels.includes("ralph") && one.state !== "s5")) &&
        (updatedAt?.gte === undefined || one.updatedAt >= updatedAt.gte) &&
        (updatedAt?.gt === undefined || one.updatedAt > updatedAt.gt)
      );
      const { nodes, pageInfo } = page(query, "issues", found) as {
        readonly nodes: Stored[];
        readonly pageInfo: object;
      };
      return data({ issues: { nodes: nodes.map((one) => nodeOf(one, query)), pageInfo } });
    }
    if (issue === undefined) {
      return { data: null, errors: [{ message: "Entity not found: Issue", extensions: { code: "INPUT_ERROR" } }] };
    }
    if (/query comments\(/.test(query)) {
      const own = state.comments.filter(({ issue: of, body }) =>
        of === wanted && body.includes(`${variables["mark"] as string}`)
      );
      return data({ issue: { id: `id-${wanted}`, comments: { nodes: own } } });
    }
    return data({ issue: nodeOf(issue, query) });
  }

  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk) => text += String(chunk));
    request.on("end", () => {
      const { query, variables } = JSON.parse(text) as {
        readonly query: string;
        readonly variables: Record<string, unknown>;
      };
      state.asked.push(/(?:query|mutation) (\w+)/.exec(query)![1]!);
      const refused = (message: string, code: string): object => ({ errors: [{ message, extensions: { code } }] });
      const isTooMuch = pointsOf(query) > 10_000;
      const refusal = isTooMuch ? refused("Query too complex", "INPUT_ERROR") : null;
      const answered = state.isLimited
        ? refused("Rate limit exceeded", "RATELIMITED")
        : refusal ?? answer(query, variables);
      response.writeHead("errors" in answered ? 400 : 200, { "content-type": "application/json" });
      response.end(JSON.stringify(answered));
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return Object.assign(state, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}
