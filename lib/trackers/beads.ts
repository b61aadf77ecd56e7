/**
 * beads as a tracker, by its own program. Its issues are in the repository, so that whoever writes there may write it.
 *
 * @module
 */
import { RalphError } from "../errors/ralph_error.ts";
import { isObject, jsonIn, sameName, textOf } from "../host/data.ts";
import type { Processes } from "../host/types.ts";
import type { Issue, IssueQuery, IssueState, Person, Tracker } from "./types.ts";

const TIMEOUT_MS = 60_000;
/** beads' own words for how far an issue is; a review is work that is not closed. */
const STATUS: Readonly<Record<IssueState, string>> = {
  open: "open",
  working: "in_progress",
  review: "in_progress",
  blocked: "blocked",
};
const WRITER: Person = { name: "whoever may push", mayWrite: true };

/** The issues of beads in a repository. @param options `root`: absolute path of the folder with `.beads` */
export function beadsTracker(
  { processes, root }: { readonly processes: Pick<Processes, "run">; readonly root: string },
): Tracker {
  async function bd(...words: readonly string[]): Promise<unknown> {
    const chunks: Uint8Array[] = [];
    const end = await processes.run({
      file: "bd",
      arguments: [...words, "--json"],
      cwd: root,
      timeoutMs: TIMEOUT_MS,
      onOutput: (chunk, stream) => void (stream === "stdout" && chunks.push(Uint8Array.from(chunk))),
    });
    if (end.exitCode !== 0) {
      const reason = end.tail.trim().split("\n").at(-1) || `\`bd ${words[0]}\` ended with ${end.exitCode}`;
      throw new RalphError("tracker-refused", { details: { host: "beads", reason } });
    }
    return jsonIn(Buffer.concat(chunks).toString("utf8"));
  }

  return {
    name: "beads",
    project: "",
    host: "beads",
    files: [".beads/issues.jsonl"],
    async list({ label, id, since }: IssueQuery): Promise<readonly Issue[]> {
      const listed = objectsIn(await bd("list", "--all", "--limit", "0"));
      const open = new Set(listed.filter(({ status }) => status !== "closed").map((one) => textOf(one["id"])));
      const isMeant = (one: Issue): boolean =>
        since !== undefined || (one.isOpen && one.labels.some((name) => sameName(name, label)));
      return listed.map((one) => issueOf(one, open)).filter((one) => id === undefined ? isMeant(one) : one.id === id);
    },
    async comment(id, marker, body) {
      const comments = objectsIn(await bd("comments", id));
      // a comment of beads cannot be changed: the same words are not said twice
      const text = `${marker}\n${body}`;
      if (!comments.some((one) => textOf(one["text"]) === text)) await bd("comments", "add", id, text);
    },
    async state(id, state) {
      const [now] = objectsIn(await bd("show", id));
      if (now === undefined || now["status"] === "closed" || now["status"] === STATUS[state]) return;
      await bd("update", id, "--status", STATUS[state]);
    },
  };
}

function issueOf(found: Readonly<Record<string, unknown>>, open: ReadonlySet<string>): Issue {
  const { id, title, description, status, labels, dependencies } = found;
  const at = textOf(found["updated_at"]);
  const before = objectsIn(dependencies).filter(({ type }) => type === "blocks");
  return {
    id: textOf(id),
    title: textOf(title),
    body: [description, found["acceptance_criteria"]].map(textOf).filter((part) => part !== "").join("\n\n"),
    url: null,
    isOpen: status !== "closed",
    labels: [labels].flat().filter((one) => typeof one === "string"),
    updatedAt: at,
    edits: [{ at, by: WRITER }],
    labelled: [],
    waitsFor: before.map((one) => textOf(one["depends_on_id"])).filter((one) => open.has(one)),
  };
}

function objectsIn(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return [value].flat().filter(isObject);
}
