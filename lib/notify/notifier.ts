import type { NotifyConfig, NotifyReason } from "../config/types.ts";
import type { EventBus, EventSink, RalphEvent } from "../events/types.ts";
import { localTime } from "../host/local_date.ts";
import type { Host } from "../host/types.ts";
import { nextFacts, NO_FACTS, type Notification, notificationOf, reasonOfStatus, type RunFacts } from "./message.ts";
import { nameOf, send } from "./send.ts";

/** Notifies a person who is elsewhere of how a run ended, and what it asks. Never fails a run. */
export interface Notifier extends EventSink {
  /** How the run ended is sent, and what is on its way is waited for: 10 seconds at most. */
  finish(): Promise<void>;
}

/** What a notifier is made of. */
export interface NotifierOptions {
  readonly targets: readonly NotifyConfig[];
  readonly host: Host;
  readonly root: string;
  /** The run's id. */
  readonly run: string;
  /** Aborted by a person: there is no one to tell. */
  readonly signal: AbortSignal;
  /** Where a failure is reported, once for each target. */
  readonly events: EventBus;
}

/** A question that is answered sooner than this needs no one to be called. */
const QUESTION_MS = 3000;

interface Ended {
  readonly reason: NotifyReason;
  readonly status: string;
  readonly reasons: readonly string[];
}

/** Sends what the configuration asks for, beside the run. */
export function createNotifier(options: NotifierOptions): Notifier {
  return new RunNotifier(options);
}

class RunNotifier implements Notifier {
  readonly #options: NotifierOptions;
  readonly #failed = new Set<NotifyConfig>();
  readonly #underWay = new Set<Promise<void>>();
  #facts: RunFacts = NO_FACTS;
  #ended: Ended | null = null;
  #isOpen = false;
  #question: AbortController | null = null;

  constructor(options: NotifierOptions) {
    this.#options = options;
  }

  emit(event: RalphEvent): void {
    this.#facts = nextFacts(this.#facts, event, this.#options.host.clock.now());
    if (event.type === "run-start" || event.type === "step-start") {
      this.#isOpen = true;
      this.#ended = null;
    } else if (event.type === "run-end") this.#end(event.status, event.reasons);
    else if (event.type === "step-end") this.#end(event.status, event.message === undefined ? [] : [event.message]);
    else if (event.type === "question") this.#asked(event.id, event.message);
    else if (event.type === "answer") this.#question?.abort();
    else if (event.type === "wait-start") {
      this.#notify("limit", `${event.agent} waits until ${localTime(event.until)}`, null, [event.message]);
    }
  }

  async finish(): Promise<void> {
    this.#question?.abort();
    if (!this.#options.signal.aborted) {
      if (this.#ended !== null) {
        this.#notify(this.#ended.reason, this.#ended.status, this.#ended.status, this.#ended.reasons);
      } else if (this.#isOpen) this.#notify("failed", "ended by an error", "error", []);
    }
    await Promise.all(this.#underWay);
  }

  #end(status: string, reasons: readonly string[]): void {
    const reason = reasonOfStatus(status);
    this.#isOpen = false;
    this.#ended = reason === null ? null : { reason, status, reasons };
  }

  #asked(id: string, message: string): void {
    this.#question?.abort();
    const asking = this.#question = new AbortController();
    void this.#options.host.clock.sleep(QUESTION_MS, asking.signal).then(() => {
      if (!asking.signal.aborted) this.#notify("question", `waits for an answer (${id})`, null, [message]);
    });
  }

  #notify(event: NotifyReason, detail: string, status: string | null, reasons: readonly string[]): void {
    const { targets, host, root, run } = this.#options;
    const now = host.clock.now();
    const notification = notificationOf(this.#facts, { event, status, detail, reasons, run, root, now });
    for (const target of targets) {
      if (!target.on.includes(event)) continue;
      const sent = this.#deliver(target, notification).finally(() => this.#underWay.delete(sent));
      this.#underWay.add(sent);
    }
  }

  async #deliver(target: NotifyConfig, notification: Notification): Promise<void> {
    const { host, root, events } = this.#options;
    const reason = await send(target, notification, { host, root });
    if (reason === null || this.#failed.has(target)) return;
    this.#failed.add(target);
    const message = `the notification by ${nameOf(target, host.environment.variables)} failed: ${reason}`;
    events.emit({ type: "note", level: "warn", message });
  }
}
