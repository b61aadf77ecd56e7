/**
 * Linear as a tracker, by its GraphQL interface. Everyone in a workspace may edit its issues, but for guests; what an
 * integration or nobody known wrote is a stranger's.
 *
 * @module
 */
import * as queries from "../generated/queries.ts";
import { isObject, objectOr, sameName, textOf } from "../host/data.ts";
import { askGraph, nodesOf } from "./api.ts";
import type { GithubOptions } from "./github.ts";
import type { Change, Issue, IssueQuery, IssueState, Tracker } from "./types.ts";

/**
 * Linear counts what a query may answer, not what it does, and refuses more than 10,000 points: lists ask for few parts of
 * each issue, and an issue with more of them is asked for by itself. Nobody knows who wrote one with a longer history.
 */
const fieldsOf = (parts: number, entries: number): string =>
  queries.LINEAR_FIELDS.replaceAll("PARTS", String(parts)).replace("ENTRIES", String(entries));
const listOf = (size: number): string =>
  queries.LINEAR_ISSUES.replace("SIZE", String(size)).replace("FIELDS", fieldsOf(10, 20));
const ALL = listOf(50);
const SINCE = listOf(10);
const ONE = queries.LINEAR_ISSUE.replace("FIELDS", fieldsOf(100, 100));

/** Types of a workflow's states that mean that an issue is closed. */
const CLOSED: ReadonlySet<string> = new Set(["completed", "canceled", "duplicate"]);

/** Usual names of a workflow's states, where the configuration names none that is there. */
const USUAL: Readonly<Record<IssueState, string>> = {
  open: ".",
  working: "progress|doing",
  review: "review",
  blocked: "block",
};

/**
 * As of GitHub, with the GraphQL address as `url`, the key of the team as `project` ("" means every team), and the names
 * of the workflow's states as `states`: one that a team has not is not set.
 */
export type LinearOptions = Omit<GithubOptions, "clock">;

/** The issues of a team in Linear. */
export function linearTracker({ api, url, host, project, states }: LinearOptions): Tracker {
  const ask = async (query: string, variables: object): Promise<Readonly<Record<string, unknown>>> =>
    objectOr(await askGraph(api, host, url, query, variables));
  const team = project === "" ? {} : { team: { key: { eq: project } } };
  let newest = "";
  let open = {};
  return {
    name: "linear",
    project,
    host,
    async list({ label, id, since }: IssueQuery): Promise<readonly Issue[]> {
      const one = async (id: unknown): Promise<unknown> => (await ask(ONE, { id }))["issue"];
      if (id !== undefined) return [await one(id)].filter(isObject).map((node) => issueOf(node, label));
      open = { labels: { some: { name: { eqIgnoreCase: label } } }, state: { type: { nin: [...CLOSED] } } };
      const filter = { ...team, ...since === undefined ? open : { updatedAt: { gte: since } } };
      const found: Issue[] = [];
      for (let after: unknown = null;;) {
        const list = objectOr((await ask(since === undefined ? ALL : SINCE, { filter, after }))["issues"]);
        for (const node of nodesOf(list)) {
          const whole = isCut(node, label) ? await one(node["id"]) : node;
          found.push(issueOf(isObject(whole) ? whole : node, label));
        }
        const { hasNextPage, endCursor } = objectOr(list["pageInfo"]);
        after = endCursor;
        if (hasNextPage !== true) break;
      }
      newest = found.reduce((at, { updatedAt }) => updatedAt > at ? updatedAt : at, newest);
      return found.toSorted((one, other) => numberOf(one) - numberOf(other));
    },
    async changed() {
      const filter = { ...team, ...newest === "" ? open : { updatedAt: { gt: newest } } };
      return nodesOf((await ask(queries.LINEAR_NEWER, { filter }))["issues"]).length > 0;
    },
    async comment(id, marker, body) {
      // Linear shows comments of HTML as text, and drops links that show nothing
      const mark = marker.replaceAll(/^\W+|\W+$/g, "");
      const { issue } = await ask(queries.LINEAR_COMMENTS, { id, mark });
      if (!isObject(issue)) return;
      const end = `\`${mark}\``; // a person with the same account may quote it
      const own = nodesOf(issue["comments"]).find(({ body: said }) => textOf(said).trimEnd().endsWith(end));
      const text = `${body}\n\n${end}`;
      if (own !== undefined) await ask(queries.LINEAR_CHANGE, { id: own["id"], body: text });
      else await ask(queries.LINEAR_COMMENT, { input: { issueId: issue["id"], body: text } });
    },
    async state(id, state) {
      const { issue } = await ask(queries.LINEAR_STATES, { id });
      if (!isObject(issue)) return;
      const all = nodesOf(objectOr(issue["team"])["states"]);
      const may = all.filter(({ type }) => type === (state === "open" ? "unstarted" : "started"));
      const named = may.find(({ name }) => state === "open" || sameName(name, states[state]));
      const usual = may.find(({ name }) => new RegExp(USUAL[state], "i").test(textOf(name)));
      const wanted = (named ?? usual)?.["id"];
      if (wanted === undefined || wanted === objectOr(issue["state"])["id"]) return;
      await ask(queries.LINEAR_MOVE, { id: issue["id"], stateId: wanted });
    },
  };
}

function isLong(connection: unknown): boolean {
  return objectOr(objectOr(connection)["pageInfo"])["hasNextPage"] === true;
}

/** A list has not all that counts of it. */
function isCut({ labels, children, inverseRelations, history }: Readonly<Record<string, unknown>>, label: string) {
  if (isLong(labels)) return true;
  return nodesOf(labels).some(({ name }) => sameName(name, label)) &&
    [children, inverseRelations, history].some(isLong);
}

function issueOf(node: Readonly<Record<string, unknown>>, label: string): Issue {
  const history = nodesOf(node["history"]);
  const isWhole = !isLong(node["history"]);
  const isNewest = textOf(history[0]?.["createdAt"]) >= textOf(history.at(-1)?.["createdAt"]);
  const created = changeOf({ createdAt: node["createdAt"], actor: node["creator"] });
  const unknown: Change = { at: textOf(node["updatedAt"]), by: null };
  const lastOf = (isMeant: (entry: Readonly<Record<string, unknown>>) => boolean): Change => {
    if (!isWhole && !isNewest) return unknown;
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
