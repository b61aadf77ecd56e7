/** `ralph gate --json` says this: its verdict, and every line under it. */
export interface Verdict {
  readonly status: string;
  readonly named: readonly string[];
}

interface Report {
  readonly status: string;
  readonly reasons: readonly string[];
  readonly notices?: readonly { readonly kind: string; readonly subject: string; readonly message: string }[];
}

/** Reads the report of a gate; what is no report is an `error`. Pure. */
export function verdictIn(text: string): Verdict {
  try {
    const { status, reasons, notices = [] } = JSON.parse(text) as Report;
    return {
      status,
      named: [...reasons, ...notices.map(({ kind, subject, message }) => `${kind}: ${subject}: ${message}`)],
    };
  } catch {
    return { status: "error", named: [text.slice(-300)] };
  }
}
