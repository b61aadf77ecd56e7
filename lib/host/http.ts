/**
 * HTTP requests of Ralph's own: is a server up, what does an endpoint say, and messages to people.
 *
 * @module
 */

/** The outcome of an HTTP request: the status, or why there is none. */
export type HttpAnswer = { readonly status: number } | { readonly status: null; readonly reason: string };

interface Request {
  readonly method?: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Milliseconds. @default 2000 */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** The status of a page. Redirections are not followed; the body is not read. */
export async function httpStatus(url: string, request: Request = {}): Promise<HttpAnswer> {
  return await ask(url, { headers: { connection: "close" }, ...request });
}

/** Posts a text once. Redirections are not followed, and the answer is not read: the runtimes' own words may hold the address. */
export async function post(url: string, request: Request & { readonly body: string }): Promise<HttpAnswer> {
  const answer = await ask(url, { ...request, method: "POST" });
  if (answer.status !== null) return answer;
  return { status: null, reason: answer.reason === OUT_OF_TIME ? OUT_OF_TIME : "no connection" };
}

/** The JSON of a page, by redirections too; `null` where there is none in time: the same for who asks whether a server is there. */
export async function getJson(url: string, { headers, timeoutMs, signal }: Request = {}): Promise<unknown> {
  try {
    const response = await fetch(url, {
      headers: { ...headers, connection: "close" },
      signal: limitOf(timeoutMs, signal),
    });
    return response.ok ? await response.json() as unknown : null;
  } catch {
    return null;
  }
}

/** An answer with its text. */
export interface HttpReply {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly text: string;
}

/** Sends a request and reads the whole answer; redirections are not followed. A text: why there is none. */
export async function exchange(
  url: string,
  request: Omit<Request, "method"> & { readonly method?: string },
): Promise<HttpReply | string> {
  return await send(url, request, async (response) => {
    return { status: response.status, headers: response.headers, text: await response.text() };
  });
}

const TIMEOUT_MS = 2000;
const OUT_OF_TIME = "no answer in time";

async function ask(url: string, request: Request): Promise<HttpAnswer> {
  const answer = await send(url, request, async (response) => {
    await response.body?.cancel();
    return { status: response.status };
  });
  return typeof answer === "string" ? { status: null, reason: answer } : answer;
}

async function send<Answer>(
  url: string,
  { timeoutMs, signal, ...request }: Omit<Request, "method"> & { readonly method?: string },
  read: (response: Response) => Promise<Answer>,
): Promise<Answer | string> {
  const limit = limitOf(timeoutMs, signal);
  try {
    return await read(await fetch(url, { ...request, redirect: "manual", signal: limit }));
  } catch (error) {
    return limit.aborted ? OUT_OF_TIME : reasonOf(error);
  }
}

function limitOf(timeoutMs = TIMEOUT_MS, signal?: AbortSignal): AbortSignal {
  const limit = AbortSignal.timeout(timeoutMs);
  return signal === undefined ? limit : AbortSignal.any([limit, signal]);
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
