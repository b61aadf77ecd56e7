/**
 * One run's work on a tracker: which issues it has read, which it holds, what it says of them.
 *
 * @module
 */
import { join } from "node:path";
import { isOver, reasonOf } from "../backlog/attempts.ts";
import type { JournalKey } from "../backlog/journal_types.ts";
import type { Attempt, Item, LoopView, Next, Settlement } from "../backlog/types.ts";
import { note, type RalphContext } from "../context/context.ts";
import { ofCode, RalphError } from "../errors/ralph_error.ts";
import { redactorFor } from "../events/redact.ts";
import { commitAt, givenUp } from "../git/refs.ts";
import { requireRepository } from "../git/repository.ts";
import { outputFrom } from "../git/run_git.ts";
import { readText, writeOwn } from "../host/files.ts";
import { quoted } from "../prompts/render.ts";
import { firstOf, sameName } from "../host/data.ts";
import { type Claimed, Claims, Outbox, type Update } from "./claims.ts";
import { type Entry, entryOf, NOT_PROPOSED, type QueueOptions, standingsOf } from "./queue.ts";
import { keepSnapshot } from "./snapshot.ts";
import type { IssueData } from "./trust.ts";
import { type Issue, ISSUES, type IssueState, outboxFile, type Tracker, trackerKey } from "./types.ts";

/** The item as it is claimed. */
export function claimedOf({ id, fingerprint = "" }: Pick<Item, "fingerprint" | "id">): Claimed {
  return { id, asks: fingerprint };
}

/** Opens what a run keeps of a tracker. */
export async function openDesk(ralph: RalphContext, tracker: Tracker): Promise<Desk> {
  const { config: { tracker: config }, host } = ralph;
  const repository = requireRepository(ralph);
  const file = join(repository.ralphDirectory, "runner");
  const holder = await readText(file) ?? "";
  const name = holder === "" ? host.ids.random(16) : holder;
  if (holder === "") await writeOwn(file, name);
  const sandbox = await host.sandbox?.ensureUsable();
  // a network that nobody knows the limits of may reach anything
  const isConfined = sandbox?.on === true && sandbox.network !== "all" && sandbox.network !== "unknown";
  const claims = new Claims({
    repository,
    remote: config.remote,
    clock: host.clock,
    ids: host.ids,
    tracker: trackerKey(tracker),
    holder: name,
    heartbeatMs: config.heartbeat * 1000,
    retryBlocked: ralph.loop.retryBlocked,
    onAlone: (why) => note(ralph, "warn", `no claims: ${why}; let only this runner work on these issues`),
  });
  const current = await repository.currentBranch();
  const isOwn = current?.startsWith("ralph/") === true;
  const desk = new Desk(ralph, {
    tracker,
    claims,
    branch: isOwn ? current : `ralph/${tracker.name}-${name.slice(0, 6)}`,
    queue: { config, isConfined },
  });
  await desk.open();
  return desk;
}

const EDITED = "it was edited since this run has read it: the next run takes it up";

interface DeskParts {
  readonly tracker: Tracker;
  readonly claims: Claims;
  readonly branch: string;
  readonly queue: QueueOptions;
}

/** Issues, claims and news of one run. */
export class Desk implements AsyncDisposable {
  readonly branch: string;
  readonly #ralph: RalphContext;
  readonly #parts: DeskParts;
  readonly #outbox: Outbox;
  readonly #issues = new Map<string, Issue>();
  /** Fingerprints as the run read them first. */
  readonly #asks = new Map<string, string>();
  readonly #named = new Set<string>();
  readonly #lostIds = new Map<string, string>();
  /** How attempts that passed were judged. */
  readonly #passed = new Map<string, Attempt>();
  /** The state that each issue was given last. */
  readonly #told = new Map<string, IssueState>();
  readonly #heart: Disposable;
  readonly #key: JournalKey;
  #since: string | null = null;
  /** Something may have changed, or was read during a run, and what follows of it was not looked at yet. */
  #isChanged = true;

  constructor(ralph: RalphContext, parts: DeskParts) {
    this.#ralph = ralph;
    this.#parts = parts;
    this.branch = parts.branch;
    const { tracker, claims, queue } = parts;
    this.#key = { backlog: ISSUES, scope: trackerKey(tracker) };
    this.#outbox = new Outbox({
      file: outboxFile(requireRepository(ralph).ralphDirectory),
      tracker,
      claims,
      redactor: redactorFor(ralph.host.environment.variables),
      warn: (message) => note(ralph, "warn", message),
      onLost: (update) => this.#lost(update),
    });
    const beat = (): void => void claims.renew().catch(() => {}); // the next one may get through
    this.#heart = ralph.host.clock.every(queue.config.heartbeat * 1000, beat);
  }

  async open(): Promise<void> {
    this.#issues.clear();
    this.#asks.clear();
    const before = this.#since ?? "";
    this.#since = null; // until all is read
    await this.#parts.claims.look();
    await this.#refresh();
    if (before > (this.#since ?? "")) this.#since = before;
  }

  /** Looks for something to work on: at what has changed; at all issues where that may have made others ready. */
  async hasWork(): Promise<boolean> {
    return await this.#hasWork().catch(ofCode(AWAY, () => false));
  }
  async #hasWork(): Promise<boolean> {
    const { tracker, claims } = this.#parts;
    this.#isChanged = (await tracker.changed?.() ?? true) || this.#isChanged;
    if (this.#isChanged) {
      await this.#refresh();
      const isOld = (await this.entries()).some(({ left, issue }) =>
        left === EDITED || (left === null && issue.waitsFor.length > 0)
      );
      if (isOld) await this.open();
    }
    if ((await this.#unsent()).length > 0) return true;
    await this.#outbox.send(); // words alone need no run
    if ((this.#isChanged || claims.hasOthers()) && !await claims.look()) return false;
    this.#isChanged = false;
    const view = { parked: this.#ralph.journal.parked(this.#key), passed: this.#ralph.journal.passed(this.#key) };
    const { ready } = standingsOf(await this.entries(), view);
    return ready.some(({ item }) => claims.inTheWay(claimedOf(item)) === null);
  }

  entries(): Promise<readonly Entry[]> {
    return Promise.resolve([...this.#issues.values()].map((issue) => this.#entry(issue)));
  }

  asks(id: string): string {
    return this.#asks.get(id) ?? "";
  }

  async next(view: LoopView & { readonly inFlight: readonly string[] }): Promise<Next<IssueData>> {
    return await this.#next(view).catch(ofCode(AWAY, ({ message }) => ({ status: "blocked", reasons: [message] })));
  }

  async #next({ inFlight, ...view }: LoopView & { readonly inFlight: readonly string[] }): Promise<Next<IssueData>> {
    const { claims, tracker, queue: { config: { label, remote } } } = this.#parts;
    await this.#outbox.send();
    const unsent = await this.#unsent();
    if (unsent.length > 0) {
      return { status: "blocked", reasons: [`work on ${unsent.join(", ")} is not pushed: ${this.#outbox.reason}`] };
    }
    await this.#refresh();
    const offline: Next<IssueData> = { status: "blocked", reasons: [`the remote ${remote} cannot be reached`] };
    if (!await claims.look()) return offline;
    const { ready, later, parked, left } = standingsOf(await this.entries(), view);
    const open = ready.filter(({ item: { id } }) => !inFlight.includes(id));
    this.#name(open, ({ item }) => {
      const other = claims.inTheWay(claimedOf(item));
      return other && `another runner has it (${other.state})`;
    });
    for (const { item } of open.filter((one) => claims.inTheWay(claimedOf(one.item)) === null)) {
      const isNew = !claims.working().some(({ id }) => id === item.id);
      const held = await claims.hold(claimedOf(item));
      if (held === "offline") return offline;
      if (held === "theirs") continue;
      if (isNew) this.#told.set(item.id, "open"); // nothing is said of it yet
      const entry = await this.#again(item.id);
      if (entry?.left === null && entry.item.fingerprint === item.fingerprint) return { status: "item", item };
      if (!isNew && typeof entry?.left === "string") await this.tell(claimedOf(item), "open", entry.left);
      await claims.letGo([item.id]);
    }
    if (inFlight.length > 0) return { status: "waiting" };
    this.#name(left, (entry) => entry.left);
    this.#name(later, ({ issue }) => `${issue.waitsFor.join(", ")} come first`);
    const reasons = view.parked.map(({ id, reason }) => `${id}: ${reason}`);
    if (parked.length > 0) return { status: "blocked", reasons };
    return { status: "done", summary: `nothing more with the label ${label} at ${tracker.host}` };
  }

  async settle(item: Item<IssueData>, attempt: Attempt): Promise<Settlement> {
    if (attempt.status === "verified" || attempt.status === "unverified") {
      const { id, title } = item;
      const body = `Closes ${id}`;
      const subject = item.data.isStrange ? `feat: ${title}` : `feat: ${title} (${id})`;
      const over = await this.#overtaken(item, `${subject}\n\n${body}`);
      if (over !== null) return { status: "parked", reason: over };
      this.#passed.set(id, attempt);
      return { status: "passed", commit: { subject, body, paths: [], work: true } };
    }
    const question = blockedText(attempt);
    if (question !== null) await this.tell(claimedOf(item), "blocked", question);
    if (attempt.status === "interrupted") return { status: "open" };
    return { status: isOver(attempt) ? "parked" : "open", reason: reasonOf(attempt) };
  }

  /** Says how far it is. */
  async tell({ id, asks }: Pick<Update, "asks" | "id">, state: IssueState, text: string): Promise<void> {
    this.#told.set(id, state);
    await this.#outbox.put({ id, asks, state, text, branch: null });
    await this.#outbox.send();
  }

  /** Offers a commit to people: branch and claim first, then the words. @throws {RalphError} claim-lost */
  async propose(item: Item<IssueData>, commit: string): Promise<void> {
    const { id } = item;
    const name = this.#parts.claims.isAlone ? null : await requireRepository(this.#ralph).currentBranch();
    const branch = name === null ? null : { name, commit };
    const text = passedText({ commit, branch: name, attempt: this.#passed.get(id) ?? null });
    this.#told.set(id, "review");
    this.#lostIds.delete(id);
    await this.#outbox.put({ ...claimedOf(item), state: "review", text, branch });
    await this.#outbox.send();
    const ref = this.#lostIds.get(id);
    if (ref !== undefined) throw new RalphError("claim-lost", { details: { id, ref } });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#heart[Symbol.dispose]();
    const { claims, tracker } = this.#parts;
    // an end that is not told yet, its work or question, is still this runner's
    const ended = (await this.#outbox.waiting()).filter(({ state }) => state === "review" || state === "blocked");
    const left = claims.working().filter(({ id }) => !ended.some((one) => one.id === id));
    for (const { id, asks } of left.filter((one) => this.#told.get(one.id) !== "open")) {
      await this.#outbox.put({ id, asks, state: "open", text: STOPPED, branch: null });
    }
    if (!this.#ralph.signal.aborted) await this.#outbox.send();
    await claims.letGo(left.map(({ id }) => id));
    const waiting = await this.#outbox.waiting();
    const message = `${waiting.length} updates wait for ${tracker.host}: ${this.#outbox.reason ?? "stopped"}`;
    if (waiting.length > 0) note(this.#ralph, "warn", message);
  }

  /** The issues whose work is not pushed. */
  async #unsent(): Promise<readonly string[]> {
    return (await this.#outbox.waiting()).filter(({ branch }) => branch !== null).map(({ id }) => id);
  }

  #entry(issue: Issue): Entry {
    const entry = entryOf(issue, this.#parts.queue);
    const first = this.#asks.get(issue.id) ?? entry.item.fingerprint;
    if (entry.left !== null || first === entry.item.fingerprint) return entry;
    return { ...entry, left: EDITED };
  }

  /** Reads the changes since the last look. */
  async #refresh(): Promise<void> {
    const { tracker, queue: { config: { label } } } = this.#parts;
    this.#isChanged = true;
    const found = await tracker.list(this.#since === null ? { label } : { label, since: this.#since });
    const isNew = found.filter((issue) => this.#know(issue)).length > 0;
    this.#since = found.map(({ updatedAt }) => updatedAt).toSorted().at(-1) ?? this.#since;
    if (isNew) await keepSnapshot(requireRepository(this.#ralph), trackerKey(tracker), [...this.#issues.values()]);
  }

  /** @returns true if that is news */
  #know(issue: Issue): boolean {
    const { label } = this.#parts.queue.config;
    const known = this.#issues.get(issue.id);
    if (known === undefined && !(issue.isOpen && issue.labels.some((name) => sameName(name, label)))) return false;
    const { fingerprint = "" } = entryOf(issue, this.#parts.queue).item;
    if (!this.#asks.has(issue.id)) this.#asks.set(issue.id, fingerprint);
    this.#issues.set(issue.id, issue);
    return JSON.stringify(known) !== JSON.stringify(issue);
  }

  /** The issue as it is at this moment; `null`: it is gone. */
  async #again(id: string): Promise<Entry | null> {
    const { tracker, queue: { config: { label } } } = this.#parts;
    const issue = (await tracker.list({ label, id })).find((one) => one.id === id);
    if (issue === undefined) {
      this.#issues.delete(id);
      return null;
    }
    this.#know(issue);
    return this.#entry(issue);
  }

  /** Why its work is not to be proposed; `null`: nothing happened meanwhile, as far as is known. */
  async #overtaken(item: Item<IssueData>, message: string): Promise<string | null> {
    const { claims } = this.#parts;
    if (await claims.look() && claims.inTheWay(claimedOf(item)) !== null) {
      const { git, currentBranch } = requireRepository(this.#ralph);
      const [commit = "", ...made] = (await git(["log", "-1", "--format=%H%n%B"])).stdout.trim().split("\n");
      const name = await currentBranch();
      // committed, and killed before it was pushed
      if (name !== null && made.join("\n").trim() === message) {
        await this.#lost({ id: item.id, branch: { name, commit } });
      }
      return `another runner has taken it over: ${NOT_PROPOSED}`;
    }
    return await this.#leftSince(item).catch(ofCode("tracker-", () => null)); // it waits in the outbox
  }
  async #leftSince(item: Item<IssueData>): Promise<string | null> {
    const entry = await this.#again(item.id);
    if (entry === null) return `the issue is gone: ${NOT_PROPOSED}`;
    if (entry.left === null || (entry.isWanted && entry.item.fingerprint !== item.fingerprint)) return null; // edited
    const reason = `${entry.left}: ${NOT_PROPOSED}`;
    await this.tell(claimedOf(item), "open", reason);
    return reason;
  }

  /** Another runner has it: work that is committed here is kept under a ref, and taken off the branch if nothing follows it. */
  async #lost({ id, branch }: Pick<Update, "branch" | "id">): Promise<void> {
    const named = `another runner has taken over ${id}`;
    if (branch === null) return note(this.#ralph, "warn", named);
    const repository = requireRepository(this.#ralph);
    const ref = `refs/ralph/lost/${id.replaceAll(/[^\w-]+/g, "")}-${branch.commit.slice(0, 12)}`;
    await outputFrom(repository, ["update-ref", ref, branch.commit]);
    this.#lostIds.set(id, ref);
    await this.#ralph.journal.reopen(this.#key, [id], named);
    const isLast = await commitAt(repository, "HEAD") === branch.commit;
    const isOff = isLast && (await repository.git(["reset", "--quiet", "--keep", `${branch.commit}^`])).exitCode === 0;
    if (isOff) givenUp.add(branch.commit);
    const rest = isOff
      ? "it is off the branch"
      : `take it off the branch: \`git revert ${branch.commit.slice(0, 10)}\``;
    note(this.#ralph, "warn", `${named}: the work of this one is kept under ${ref}, and ${rest}`);
  }

  /** Says of issues why they are left, once. */
  #name(entries: readonly Entry[], whyOf: (entry: Entry) => string | null): void {
    const said = new Map<string, string[]>();
    for (const entry of entries) {
      const [{ id }, why] = [entry.item, whyOf(entry)];
      if (why === null || this.#named.has(`${id} ${why}`)) continue;
      this.#named.add(`${id} ${why}`);
      said.set(why, [...said.get(why) ?? [], id]);
    }
    for (const [why, ids] of said) {
      note(this.#ralph, "info", `${firstOf(ids, NAMED)} ${ids.length === 1 ? "is" : "are"} left: ${why}`);
    }
  }
}

/** For now. */
const AWAY = "tracker-unreachable";

/** Issues in a line that says why they are left. */
const NAMED = 10;
/** Characters of an agent's or a check's words. */
const MOST = 3000;

export const WORKING = "Ralph works on this.";
const STOPPED = "Ralph has stopped before this was done. Its next run takes it up again.";

/** An item that passed. @param branch `null`: it is on no remote */
function passedText(
  { commit, branch, attempt }: {
    readonly commit: string;
    readonly branch: string | null;
    /** `null`: another process judged it. */
    readonly attempt: Pick<Attempt, "status" | "verification"> | null;
  },
): string {
  const checks = (attempt?.verification?.results ?? []).map(({ name }) => name);
  const verdict = attempt === null ? "" : attempt.status === "verified" ? "; its checks passed" : "; it is unverified";
  const where = branch === null ? ", which is not pushed" : ` on the branch \`${branch}\``;
  return [
    `Done in ${commit.slice(0, 10)}${where}${verdict}. ` +
    "It is for review: merging it closes this issue.",
    ...checks.length === 0 ? [] : ["Checked by:", quoted(checks.join("\n"))],
  ].join("\n\n");
}

/** An attempt after which a person is asked; `null`: it is tried again. */
function blockedText(attempt: Attempt): string | null {
  if (!isOver(attempt)) return null;
  const reason = reasonOf(attempt);
  const words = attempt.status === "blocked" ? "Ralph has a question, or cannot go on:" : "Ralph has given up on this:";
  return [
    words,
    quoted(reason.length > MOST ? `…${reason.slice(-MOST)}` : reason),
    "Edit the issue with the answer: with another text it is worked on again.",
  ].join("\n\n");
}
