import type { NotifyConfig, NotifyReason } from "../config/types.ts";
import { EMPTY_TALLY, nextTally } from "../events/tally.ts";
import {
  callRow,
  type EventBus,
  type EventOf,
  type EventRows,
  type EventSink,
  type RalphEvent,
} from "../events/types.ts";
import { localTime } from "../host/local_date.ts";
import type { Host } from "../host/types.ts";
import { type Notification, notificationOf, reasonOfStatus } from "./message.ts";
import { nameOf, send } from "./send.ts";

/** Notifies a person who is elsewhere of how a run ended, and what it asks. Never fails a run. */
export interface Notifier extends EventSink {
  /** How the run ended is sent, and what is on its way is waited for: 10 seconds at most. */
  finish(): Promise<void>;
}

export interface NotifierOptions {
  readonly targets: readonly NotifyConfig[];
  readonly host: Host;
  readonly root: string;
  /** The run's id. */
  readonly run: string;
  /** Aborted by a person: there is no one to tell. */
  readonly signal: AbortSignal;
  /** The notifier reports a failure here, once for each target. */
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
  #tally = EMPTY_TALLY;
  #part = "run";
  #ended: Ended | null = null;
  #isOpen = false;
  #question: AbortController | null = null;

  constructor(options: NotifierOptions) {
    this.#options = options;
  }

  emit(event: RalphEvent): void {
    this.#tally = nextTally(this.#tally, event, this.#options.host.clock.now());
    callRow(ROWS, event, this);
  }

  begin(part: string, isLoop: boolean): void {
    if (isLoop || this.#part === "run") this.#part = part;
    this.#isOpen = true;
    this.#ended = null;
  }

  end(status: string, reasons: readonly string[]): void {
    const reason = reasonOfStatus(status);
    this.#isOpen = false;
    this.#ended = reason === null ? null : { reason, status, reasons };
  }

  asked(id: string, message: string): void {
    this.#question?.abort();
    const asking = this.#question = new AbortController();
    void this.#options.host.clock.sleep(QUESTION_MS, asking.signal).then(() => {
      if (!asking.signal.aborted) this.#notify("question", `waits for an answer (${id})`, null, [message]);
    });
  }

  answered(): void {
    this.#question?.abort();
  }

  waits({ agent, until, message }: EventOf<"wait-start">): void {
    this.#notify("limit", `${agent} waits until ${localTime(until)}`, null, [message]);
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

  #notify(event: NotifyReason, detail: string, status: string | null, reasons: readonly string[]): void {
    const { targets, host, root, run } = this.#options;
    const now = host.clock.now();
    const notification = notificationOf({ ...this.#tally, part: this.#part }, {
      event,
      status,
      detail,
      reasons,
      run,
      root,
      now,
    });
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

/** The events that a person elsewhere hears of. */
const ROWS: Partial<EventRows<readonly [notifier: RunNotifier], void>> = {
  "run-start": ({ workflow }, notifier) => notifier.begin(workflow, true),
  "run-end": ({ status, reasons }, notifier) => notifier.end(status, reasons),
  "step-start": ({ step }, notifier) => notifier.begin(step, false),
  "step-end": ({ status, message }, notifier) => notifier.end(status, message === undefined ? [] : [message]),
  "question": ({ id, message }, notifier) => notifier.asked(id, message),
  "answer": (_event, notifier) => notifier.answered(),
  "wait-start": (event, notifier) => notifier.waits(event),
};
