/** What came of a request: its status, or why there is none. */
export type PostResult = { readonly status: number } | { readonly status: null; readonly reason: string };

/** Posts a text once. Redirections are not followed, and the answer is not read: the runtimes' own words may hold the address. */
export async function post(
  url: string,
  { headers, body, timeoutMs, signal }: {
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
    readonly timeoutMs: number;
    readonly signal: AbortSignal;
  },
): Promise<PostResult> {
  const limit = AbortSignal.any([AbortSignal.timeout(timeoutMs), signal]);
  try {
    const response = await fetch(url, { method: "POST", headers, body, signal: limit, redirect: "manual" });
    await response.body?.cancel();
    return { status: response.status };
  } catch {
    return { status: null, reason: limit.aborted ? "no answer in time" : "no connection" };
  }
}
