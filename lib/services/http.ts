/** What an HTTP request came to: the status, or why there is none. */
export type HttpAnswer = { readonly status: number } | { readonly error: string };

/** How long an answer may take. */
export interface HttpOptions {
  /** Milliseconds. @default 2000 */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** Asks for a page and gives its status. Redirections are not followed; the body is not read. */
export async function httpStatus(url: string, options: HttpOptions = {}): Promise<HttpAnswer> {
  const limit = AbortSignal.timeout(options.timeoutMs ?? 2000);
  const signal = options.signal === undefined ? limit : AbortSignal.any([limit, options.signal]);
  try {
    const response = await globalThis.fetch(url, { redirect: "manual", signal, headers: { connection: "close" } });
    await response.body?.cancel();
    return { status: response.status };
  } catch (error) {
    return { error: limit.aborted ? "no answer in time" : reasonOf(error) };
  }
}

/** True for an answer that says that a server is up: any status below 500. */
export function isReady(answer: HttpAnswer): boolean {
  return "status" in answer && answer.status < 500;
}

/** `HTTP 503`, `connect ECONNREFUSED 127.0.0.1:3000` */
export function describeAnswer(answer: HttpAnswer): string {
  return "status" in answer ? `HTTP ${answer.status}` : answer.error;
}

/** The runtimes put the real reason at different depths. */
function reasonOf(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code, message } = cause as Error & { readonly code?: string };
    if (code === "ConnectionRefused" || code === "ECONNREFUSED") return "connection refused";
    if (cause.cause === undefined) return message === "" ? code ?? cause.name : message;
  }
  return String(error);
}
