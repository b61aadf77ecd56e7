import type { RunReport } from "../report/types.ts";

/** An attempt on the line of time. */
export interface Span {
  readonly item: string;
  readonly fromMs: number;
  /** `null`: it has not ended. */
  readonly toMs: number | null;
  readonly tone: "good" | "warn" | "bad" | "plain";
}

const TONES: Readonly<Record<string, Span["tone"]>> = { passed: "good", open: "warn", parked: "bad", stop: "bad" };

/** The attempts of a run in the order in which they began. Pure. */
export function spansOf(report: RunReport): readonly Span[] {
  return report.items.flatMap(({ id, attempts }) =>
    attempts.map(({ startedAt, durationMs, settlement }): Span => {
      const fromMs = Date.parse(startedAt);
      const toMs = durationMs === null ? null : fromMs + durationMs;
      return { item: id, fromMs, toMs, tone: TONES[settlement ?? ""] ?? "plain" };
    })
  ).toSorted((one, other) => one.fromMs - other.fromMs);
}

/** The spans in as few rows as it takes for none to cover another. Pure. */
export function rowsOf(spans: readonly Span[]): readonly (readonly Span[])[] {
  const rows: Span[][] = [];
  for (const span of spans) {
    const free = rows.find((row) => (row.at(-1)?.toMs ?? Infinity) <= span.fromMs);
    if (free === undefined) rows.push([span]);
    else free.push(span);
  }
  return rows;
}
