import type { NotifyConfig } from "../config/load.ts";
import { EMPTY_TALLY, nextTally } from "../events/tally.ts";
import { callRow, type DetailType, type EventBus, type EventRows, type EventSink } from "../events/types.ts";
import { localTime } from "../host/local_date.ts";
import { type News, type Notification, notificationOf, REASONS } from "./message.ts";
import { nameOf, send, type SendOptions } from "./send.ts";

/** Nobody elsewhere is told of them. */
type PassedOver = DetailType | "items-reopened" | "iteration-start" | "iteration-end" | "turn-end";

/** Notifies a person who is elsewhere of how a run ended, and what it asks. Never fails a run. */
export interface Notifier extends EventSink {
  /** How the run ended is sent, and what is on its way is waited for: 10 seconds at most. */
  finish(): Promise<void>;
}

export interface NotifierOptions extends SendOptions {
  readonly targets: readonly NotifyConfig[];
  /** The run's id. */
  readonly run: string;
  /** Aborted by a person: there is no one to tell. */
  readonly signal: AbortSignal;
  /** The notifier reports a failure here, once for each target. */
  readonly events: EventBus;
}

/** A question that is answered sooner than this needs no one to be called. */
const QUESTION_MS = 3000;

const BY_ERROR = "ended by an error";

/** Sends what the configuration asks for, beside the run. */
export function createNotifier(options: NotifierOptions): Notifier {
  const { host, root, run, signal } = options;
  const outbox = createOutbox(options);
  let tally = EMPTY_TALLY;
  let part = "run";
  let isOpen = false;
  let ended: News | null = null;
  let question: AbortController | null = null;

  /** @param isLoop a step within a loop is part of it */
  function begin(name: string, isPart: "loop" | "step"): void {
    if (isPart === "loop" || part === "run") part = name;
    isOpen = true;
    ended = null;
  }

  function end(status: string, reasons: readonly string[]): void {
    const event = REASONS[status];
    isOpen = false;
    const detail = status === "error" ? BY_ERROR : status;
    ended = event === undefined ? null : { event, detail, status, reasons };
  }

  function notify(news: News): void {
    outbox.post(notificationOf({ ...tally, part, run, root, now: host.clock.now() }, news));
  }

  /** The events that a person elsewhere hears of. */
  const rows: EventRows<readonly [], void, PassedOver> = {
    "run-start": ({ workflow }) => begin(workflow, "loop"),
    "run-end": ({ status, reasons }) => end(status, reasons),
    "step-start": ({ step }) => begin(step, "step"),
    "step-end": ({ status, message }) => end(status, message === undefined ? [] : [message]),
    "question": ({ id, message }) => {
      question?.abort();
      const asking = question = new AbortController();
      void host.clock.sleep(QUESTION_MS, asking.signal).then(() => {
        if (asking.signal.aborted) return;
        notify({ event: "question", detail: `waits for an answer (${id})`, status: null, reasons: [message] });
      });
    },
    "answer": () => question?.abort(),
    "wait-start": ({ agent, until, message }) =>
      notify({ event: "limit", detail: `${agent} waits until ${localTime(until)}`, status: null, reasons: [message] }),
  };

  return {
    emit(event) {
      tally = nextTally(tally, event, host.clock.now());
      callRow(rows, event);
    },
    async finish() {
      question?.abort();
      const broken: News = { event: "failed", detail: BY_ERROR, status: "error", reasons: [] };
      const news = ended ?? (isOpen ? broken : null);
      if (news !== null && !signal.aborted) notify(news);
      await outbox.sent();
    },
  };
}

/** Sends to each target that wants it; a failure is named once for each. */
function createOutbox({ targets, host, root, events }: NotifierOptions) {
  const failed = new Set<NotifyConfig>();
  const underWay = new Set<Promise<void>>();

  async function deliver(target: NotifyConfig, notification: Notification): Promise<void> {
    const reason = await send(target, notification, { host, root });
    if (reason === null || failed.has(target)) return;
    failed.add(target);
    const message = `the notification by ${nameOf(target, host.environment.variables)} failed: ${reason}`;
    events.emit({ type: "note", level: "warn", message });
  }

  return {
    post(notification: Notification) {
      for (const target of targets.filter(({ on }) => on.includes(notification.event))) {
        const sent = deliver(target, notification).finally(() => underWay.delete(sent));
        underWay.add(sent);
      }
    },
    sent: () => Promise.all(underWay),
  };
}
