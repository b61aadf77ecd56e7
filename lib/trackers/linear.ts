/**
 * Linear as a tracker, by its GraphQL interface. Everyone in a workspace may edit its issues, but for guests; what an
 * integration or nobody known wrote is a stranger's.
 *
 * @module
 */
import { isObject, objectOr } from "../host/data.ts";
import { type Api, askGraph, nodesOf, sameName, textOf } from "./api.ts";
import type { Change, Issue, IssueQuery, IssueState, Tracker } from "./types.ts";

/** Entries of an issue's history that are read, newest first: where older ones may say who wrote it, nobody knows. */
const ENTRIES = 100;
const WHO = "id name guest active app";
const ISSUE = `fragment issue on Issue {
  id identifier title description url createdAt updatedAt creator { ${WHO} } state { type }
  labels(first: 50) { nodes { id name } }
  children(first: 100) { nodes { identifier state { type } } }
  inverseRelations(first: 50) { nodes { type issue { identifier state { type } } } }
  history(first: ${ENTRIES}) { nodes {
    createdAt updatedDescription fromTitle toTitle addedLabelIds actor { ${WHO} }
  } pageInfo { hasNextPage } }
}`;
const LIST = `${ISSUE}
query issues($filter: IssueFilter, $after: String) {
  issues(first: 50, after: $after, filter: $filter, orderBy: createdAt) { nodes { ...issue } pageInfo { hasNextPage endCursor } }
}`;
const ONE = `${ISSUE}
query issue($id: String!) { issue(id: $id) { ...issue } }`;
const COMMENTS = `query comments($id: String!) {
  viewer { id } issue(id: $id) { id comments(first: 250) { nodes { id body user { id } } } }
}`;
const STATES =
  `query states($id: String!) { issue(id: $id) { id state { id } team { states { nodes { id name type } } } } }`;
const COMMENT = `mutation comment($input: CommentCreateInput!) { commentCreate(input: $input) { success } }`;
const CHANGE =
  `mutation change($id: String!, $body: String!) { commentUpdate(id: $id, input: { body: $body }) { success } }`;
const MOVE =
  `mutation move($id: String!, $stateId: String!) { issueUpdate(id: $id, input: { stateId: $stateId }) { success } }`;

/** Types of a workflow's states that mean that an issue is closed. */
const CLOSED: ReadonlySet<string> = new Set(["completed", "canceled", "duplicate"]);

/** Usual names of a workflow's states, where the configuration names none that is there. */
const USUAL: Readonly<Record<IssueState, string>> = {
  open: ".",
  working: "progress|doing",
  review: "review",
  blocked: "block",
};

export interface LinearOptions {
  readonly api: Api;
  /** The GraphQL address. */
  readonly url: string;
  /** For people. */
  readonly host: string;
  /** The key of the team; "" means every team. */
  readonly project: string;
  /** The name of the workflow's state of each state; one that a team has not is not set. */
  readonly states: Readonly<Record<Exclude<IssueState, "open">, string>>;
}

/** The issues of a team in Linear. */
export function linearTracker({ api, url, host, project, states }: LinearOptions): Tracker {
  const ask = async (query: string, variables: object): Promise<Readonly<Record<string, unknown>>> =>
    objectOr(await askGraph(api, host, url, query, variables));
  return {
    name: "linear",
    project,
    host,
    async list({ label, id, since }: IssueQuery): Promise<readonly Issue[]> {
      if (id !== undefined) {
        const { issue } = await ask(ONE, { id });
        return isObject(issue) ? [issueOf(issue, label)] : [];
      }
      const team = project === "" ? {} : { team: { key: { eq: project } } };
      const open = { labels: { some: { name: { eqIgnoreCase: label } } }, state: { type: { nin: [...CLOSED] } } };
      const filter = { ...team, ...since === undefined ? open : { updatedAt: { gte: since } } };
      const found: Issue[] = [];
      for (let after: unknown = null;;) {
        const list = objectOr((await ask(LIST, { filter, after }))["issues"]);
        found.push(...nodesOf(list).map((node) => issueOf(node, label)));
        const { hasNextPage, endCursor } = objectOr(list["pageInfo"]);
        if (hasNextPage !== true) return found.toSorted((one, other) => numberOf(one) - numberOf(other));
        after = endCursor;
      }
    },
    async comment(id, marker, body) {
      const { issue, viewer } = await ask(COMMENTS, { id });
      if (!isObject(issue)) return;
      // Linear shows comments of HTML as text: a link to nowhere holds the marker
      const mark = `[](#${marker.replaceAll(/[^\w:#-]/g, "")})`;
      const own = nodesOf(issue["comments"]).find(({ user, body: text }) =>
        objectOr(user)["id"] === objectOr(viewer)["id"] && textOf(text).includes(mark)
      );
      const text = `${body}\n\n${mark}`;
      if (own !== undefined) await ask(CHANGE, { id: own["id"], body: text });
      else await ask(COMMENT, { input: { issueId: issue["id"], body: text } });
    },
    async state(id, state) {
      const { issue } = await ask(STATES, { id });
      if (!isObject(issue)) return;
      const all = nodesOf(objectOr(issue["team"])["states"]);
      const may = all.filter(({ type }) => type === (state === "open" ? "unstarted" : "started"));
      const named = may.find(({ name }) => state === "open" || sameName(name, states[state]));
      const usual = may.find(({ name }) => new RegExp(USUAL[state], "i").test(textOf(name)));
      const wanted = (named ?? usual)?.["id"];
      if (wanted === undefined || wanted === objectOr(issue["state"])["id"]) return;
      await ask(MOVE, { id: issue["id"], stateId: wanted });
    },
  };
}

function issueOf(node: Readonly<Record<string, unknown>>, label: string): Issue {
  const history = nodesOf(node["history"]);
  const isWhole = objectOr(objectOr(node["history"])["pageInfo"])["hasNextPage"] !== true;
  const created = changeOf({ createdAt: node["createdAt"], actor: node["creator"] });
  const unknown: Change = { at: textOf(node["updatedAt"]), by: null };
  const lastOf = (isMeant: (entry: Readonly<Record<string, unknown>>) => boolean): Change => {
    const found = history.filter(isMeant).map(changeOf).toSorted((one, other) => one.at.localeCompare(other.at)).at(-1);
    return found ?? (isWhole ? created : unknown);
  };
  const labels = nodesOf(node["labels"]);
  const ids = labels.filter(({ name }) => sameName(name, label)).map(({ id }) => id);
  const set = history.filter(({ addedLabelIds }) =>
    Array.isArray(addedLabelIds) && addedLabelIds.some((id) => ids.includes(id))
  );
  const before = nodesOf(node["inverseRelations"]).filter(({ type }) => type === "blocks").map(({ issue }) =>
    objectOr(issue)
  );
  return {
    id: textOf(node["identifier"]),
    title: textOf(node["title"]),
    body: textOf(node["description"]),
    url: textOf(node["url"]),
    isOpen: isOpen(node),
    labels: labels.map(({ name }) => textOf(name)),
    updatedAt: textOf(node["updatedAt"]),
    edits: [
      lastOf(({ updatedDescription }) => updatedDescription === true),
      lastOf(({ toTitle }) => typeof toTitle === "string"),
    ],
    labelled: set.map(changeOf),
    waitsFor: [...nodesOf(node["children"]), ...before].filter(isOpen).map(({ identifier }) => textOf(identifier)),
  };
}

function changeOf({ createdAt, actor }: { readonly createdAt?: unknown; readonly actor?: unknown }): Change {
  const { name, guest, active, app } = objectOr(actor);
  const mayWrite = guest === false && active === true && app !== true;
  return { at: textOf(createdAt), by: typeof name === "string" ? { name, mayWrite } : null };
}

function isOpen({ state }: Readonly<Record<string, unknown>>): boolean {
  return !CLOSED.has(textOf(objectOr(state)["type"]));
}

function numberOf({ id }: Issue): number {
  return Number(/\d+$/.exec(id)?.[0]);
}
