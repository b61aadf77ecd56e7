/**
 * Asks a model server what it has: whether it answers, which models, how long a conversation may be.
 *
 * @module
 */
import { words } from "../host/data.ts";
import { RalphError } from "../errors/ralph_error.ts";
import type { EndpointConfig } from "../config/load.ts";
import { getJson } from "../host/http.ts";
import type { Variables } from "../host/types.ts";
import { type Endpoint, endpointOf, ENDPOINTS } from "./endpoints.ts";
import { at, listAt, numberAt, textAt } from "./json.ts";

/** A model that a server offers. */
export interface OfferedModel {
  readonly id: string;
  /** Tokens that a conversation may have, where the server says so. */
  readonly context: number | null;
}

/** A server with the model that is used. */
export interface ReadyEndpoint extends Endpoint {
  readonly model: string;
}

const LOCAL_MS = 1500;
const REMOTE_MS = 5000;
/** Servers call the length of a conversation so: vLLM, OpenRouter, Groq, LM Studio, Mistral. */
const CONTEXT_KEYS = words("max_model_len loaded_context_length context_length context_window max_context_length");

/** Its models; `null` where it does not answer as such a server does. */
export async function modelsOf(endpoint: Endpoint, variables: Variables): Promise<readonly OfferedModel[] | null> {
  const key = endpoint.keyVariable === null ? undefined : variables[endpoint.keyVariable];
  const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
  if (key !== undefined && endpoint.api === "anthropic") {
    Object.assign(headers, { "x-api-key": key, "anthropic-version": "2023-06-01" });
  }
  if (key !== undefined && endpoint.api === "google") Object.assign(headers, { "x-goog-api-key": key });
  const found = await getJson(`${endpoint.url}/models`, { headers, timeoutMs: endpoint.local ? LOCAL_MS : REMOTE_MS });
  const list = Array.isArray(at(found, "data")) ? listAt(found, "data") : at(found, "models");
  if (!Array.isArray(list)) return null;
  return list.flatMap((one) => {
    const id = textAt(one, "id") ?? textAt(one, "name")?.replace(/^models\//, "") ?? null;
    return id === null ? [] : [{ id, context: lengthOf(one) }];
  });
}

function lengthOf(model: unknown): number | null {
  const named = CONTEXT_KEYS.map((key) => numberAt(model, key) ?? numberAt(model, "meta", key));
  return named.find((length) => length !== null && length > 0) ?? numberAt(model, "inputTokenLimit");
}

const LOCAL_CONTEXT = 32_768;
const HOSTED_CONTEXT = 128_000;

/** How many tokens a conversation may have, and where that is from: configured, asked, or guessed. */
export async function contextOf(
  endpoint: ReadyEndpoint,
  variables: Variables,
): Promise<{ readonly context: number; readonly from: "configured" | "reported" | "guessed" }> {
  if (endpoint.context !== null) return { context: endpoint.context, from: "configured" };
  const listed = (await modelsOf(endpoint, variables))?.find(({ id }) => id === endpoint.model)?.context ?? null;
  const reported = listed ?? (endpoint.local ? await loadedContext(endpoint) : null);
  if (reported !== null) return { context: reported, from: "reported" };
  return { context: endpoint.local ? LOCAL_CONTEXT : HOSTED_CONTEXT, from: "guessed" };
}

/** The context that a model was started with: llama.cpp says it of its only one, Ollama of the loaded ones. */
async function loadedContext({ url, model }: ReadyEndpoint): Promise<number | null> {
  const { origin } = new URL(url);
  const started = numberAt(
    await getJson(`${origin}/props`, { timeoutMs: LOCAL_MS }),
    "default_generation_settings",
    "n_ctx",
  );
  if (started !== null) return started;
  const loaded = listAt(await getJson(`${origin}/api/ps`, { timeoutMs: LOCAL_MS }), "models");
  return numberAt(loaded.find((one) => textAt(one, "name") === model), "context_length");
}

/** Local servers that answer, each with its models. */
export async function localEndpoints(): Promise<
  readonly { readonly endpoint: Endpoint; readonly models: readonly OfferedModel[] }[]
> {
  const local = Object.keys(ENDPOINTS).map((name) => endpointOf(name)).filter((endpoint) => endpoint.local);
  const asked = await Promise.all(local.map(async (endpoint) => ({ endpoint, models: await modelsOf(endpoint, {}) })));
  return asked.flatMap(({ endpoint, models }) => models === null ? [] : [{ endpoint, models }]);
}

/** Servers elsewhere whose key is in the environment. None is asked: a key is used when a person has named it. */
export function keyedEndpoints(variables: Variables): readonly Endpoint[] {
  return Object.keys(ENDPOINTS).map((name) => endpointOf(name)).filter(({ keyVariable }) =>
    keyVariable !== null && (variables[keyVariable] ?? "") !== ""
  );
}

/**
 * The server that is named, else the first of this machine that answers.
 *
 * @throws {RalphError} endpoint-invalid, endpoint-unusable
 */
export async function configuredEndpoint(
  endpoint: string | EndpointConfig | undefined,
  model: string | undefined,
  variables: Variables,
): Promise<ReadyEndpoint> {
  if (endpoint !== undefined) return await readyEndpoint(endpointOf(endpoint), model, variables);
  const [first] = await localEndpoints();
  if (first !== undefined) return await readyEndpoint(first.endpoint, model, variables);
  const asked = Object.entries(ENDPOINTS).filter(([, { keyVariable }]) => keyVariable === null).map(([name]) => name);
  const [keyed] = keyedEndpoints(variables);
  const hint = keyed === undefined
    ? 'start one, or name a server: `--endpoint openrouter --model NAME`, `"provider": { "endpoint": "…" }`'
    : `${keyed.keyVariable} is set: \`--endpoint ${keyed.name} --model NAME\` uses it`;
  const reason = `none is named, and none answers here (${asked.join(", ")})`;
  throw new RalphError("endpoint-unusable", { details: { endpoint: "of the built-in agent", reason }, hint });
}

/**
 * A server that can be used, and the model: the one that is named, else the only one that it has.
 *
 * @throws {RalphError} endpoint-unusable
 */
export async function readyEndpoint(
  endpoint: Endpoint,
  model: string | undefined,
  variables: Variables,
): Promise<ReadyEndpoint> {
  const { keyVariable, name, url } = endpoint;
  if (keyVariable !== null && !variables[keyVariable]) {
    throw unusable(endpoint, `the variable ${keyVariable} is not set`, `set ${keyVariable} to the key of ${name}`);
  }
  if (model !== undefined) return { ...endpoint, model };
  const models = await modelsOf(endpoint, variables);
  if (models === null) {
    throw endpoint.local
      ? unusable(endpoint, "it does not answer", `start it, or name another in provider.endpoint; asked: ${url}/models`)
      : unusable(endpoint, "it does not list its models", "name one with `--model`");
  }
  const [only] = models;
  if (only !== undefined && models.length === 1) {
    return { ...endpoint, context: endpoint.context ?? only.context, model: only.id };
  }
  const shown = models.slice(0, 12).map(({ id }) => id).join(", ");
  throw only === undefined
    ? unusable(endpoint, "it has no model", "load one there, or name one with `--model`")
    : unusable(
      endpoint,
      `it has ${models.length} models, and none is named`,
      `name one with \`--model\`: ${shown}${models.length > 12 ? " …" : ""}`,
    );
}

function unusable({ name, url }: Endpoint, reason: string, hint: string): RalphError {
  const details = { endpoint: url.includes(name) ? url : `${name} (${url})`, reason };
  return new RalphError("endpoint-unusable", { details, hint });
}
