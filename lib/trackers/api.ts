/**
 * Requests to a tracker's server: what it limits is waited for, what fails is tried again, where that does no harm.
 *
 * @module
 */
import { RalphError } from "../errors/ralph_error.ts";
import { isObject, jsonIn, objectOr, textOf } from "../host/data.ts";
import { exchange, type HttpReply } from "../host/http.ts";
import type { Clock } from "../host/types.ts";

const TIMEOUT_MS = 30_000;
/** Pauses before the next try, if the server names none. */
const PAUSES_MS: readonly number[] = [250, 1_000, 4_000];
/** A longer limit is not waited for: the update waits in the outbox. */
const LONGEST_PAUSE_MS = 60_000;

export interface ApiOptions {
  /** For people. */
  readonly host: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** The answer to a request that the server did what it was asked for, or has not what was asked about. */
export interface ApiReply {
  readonly status: number;
  readonly data: unknown;
  header(name: string): string | null;
}

export interface ApiRequest {
  readonly method?: string;
  readonly url: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Done twice, it would be there twice: only what the server has refused is tried again. @default false */
  readonly once?: boolean;
}

/** Asks. @throws {RalphError} tracker-unreachable, tracker-refused, tracker-login */
export type Api = (request: ApiRequest) => Promise<ApiReply>;

/** Requests of one account to one server. */
export function createApi({ host, headers, clock, signal }: ApiOptions): Api {
  return async (request) => {
    for (let attempt = 0;; attempt += 1) {
      const reply = await exchange(request.url, {
        method: request.method ?? "GET",
        headers: { ...headers, ...request.headers },
        timeoutMs: TIMEOUT_MS,
        signal,
        ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
      });
      const isLimit = typeof reply !== "string" && isLimited(reply);
      const isFault = typeof reply === "string" || reply.status >= 500;
      if (!isLimit && !isFault) return answerOf(reply, host);
      const why = typeof reply === "string" ? reply : isLimit ? "its limit is reached" : `it answers ${reply.status}`;
      const pause = isLimit ? pauseOf(reply, clock) ?? PAUSES_MS[attempt] : PAUSES_MS[attempt];
      if (pause === undefined || pause > LONGEST_PAUSE_MS || signal.aborted || (isFault && request.once === true)) {
        throw new RalphError("tracker-unreachable", { details: { host, reason: why } });
      }
      await clock.sleep(pause, signal);
    }
  };
}

/** The data of a GraphQL answer; what is not found is `null` in it. @throws {RalphError} as `Api` */
export async function askGraph(
  api: Api,
  host: string,
  url: string,
  query: string,
  variables: object,
): Promise<unknown> {
  for (let attempt = 0;; attempt += 1) {
    const { data } = await api({ method: "POST", url, body: { query, variables } });
    const { errors, data: found } = objectOr(data);
    const problems = nodesOf(errors).filter(({ type, message }) =>
      type !== "NOT_FOUND" && !textOf(message).startsWith("Entity not found")
    );
    if (problems.length === 0) return found;
    const isLimit = problems.some(({ type, extensions }) =>
      type === "RATE_LIMITED" || type === "RATE_LIMIT" || objectOr(extensions)["code"] === "RATELIMITED"
    );
    if (isLimit && attempt < 1) continue;
    const reason = textOf(problems[0]?.["message"]);
    throw new RalphError(isLimit ? "tracker-unreachable" : "tracker-refused", { details: { host, reason } });
  }
}

/** A refusal that ends by itself; 403 is also what a lack of rights looks like. */
function isLimited({ status, headers, text }: HttpReply): boolean {
  if (status === 429) return true;
  if (status !== 403) return false;
  return headers.get("retry-after") !== null || headers.get("x-ratelimit-remaining") === "0" ||
    /rate limit/i.test(text);
}

function pauseOf({ headers }: HttpReply, clock: Clock): number | null {
  const after = headers.get("retry-after");
  if (after !== null && /^\d+$/.test(after)) return Number(after) * 1000;
  const reset = headers.get("x-ratelimit-reset");
  if (headers.get("x-ratelimit-remaining") !== "0" || reset === null) return null;
  return Math.max(0, Number(reset) * 1000 - clock.now());
}

function answerOf({ status, headers, text }: HttpReply, host: string): ApiReply {
  if (status === 401) throw new RalphError("tracker-login", { details: { host, reason: "it refuses the token" } });
  const data = jsonIn(text);
  // Linear says 400 with the errors of a query, also for its limits
  const isQuery = status === 400 && nodesOf(objectOr(data)["errors"]).some(({ extensions }) => isObject(extensions));
  if (!isQuery && status >= 300 && ![304, 301, 404, 410].includes(status)) {
    const said = textOf(objectOr(data)["message"]).slice(0, 200);
    const reason = `it answers ${status}${said === "" ? "" : `: ${said}`}`;
    throw new RalphError("tracker-refused", { details: { host, reason } });
  }
  return { status, data, header: (name) => headers.get(name) };
}

/** The objects of a connection, or of a list. */
export function nodesOf(list: unknown): readonly Readonly<Record<string, unknown>>[] {
  const nodes = isObject(list) ? list["nodes"] : list;
  return Array.isArray(nodes) ? nodes.filter(isObject) : [];
}
