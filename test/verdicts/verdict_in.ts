/** `ralph gate --json` says this: its verdict, and every line under it. */
export interface Verdict {
  readonly status: string;
  readonly named: readonly string[];
  /** The experiments that there was no time for. */
  readonly leftOut: string | null;
}

interface Report {
  readonly status: string;
  readonly reasons: readonly string[];
  readonly leftOut?: string | null;
  readonly notices?: readonly { readonly kind: string; readonly subject: string; readonly message: string }[];
}

/** Reads the report of a gate; what is no report is an `error`. Pure. */
export function verdictIn(text: string): Verdict {
  try {
    const { status, reasons, notices = [], leftOut = null } = JSON.parse(text) as Report;
    return {
      status,
      leftOut,
      named: [...reasons, ...notices.map(({ kind, subject, message }) => `${kind}: ${subject}: ${message}`)],
    };
  } catch {
    return { status: "error", named: [text.slice(-300)], leftOut: null };
  }
}
