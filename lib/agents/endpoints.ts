/**
 * Model servers by name, and what `provider.endpoint` makes of one. Pure; `ask_endpoint.ts` talks to them.
 *
 * @module
 */
import type { EndpointApi, EndpointConfig, EndpointPrice } from "../config/load.ts";
import { nearest, RalphError } from "../errors/ralph_error.ts";
import { isSecretName } from "../events/redact.ts";

/** A model server as an agent is pointed to it. */
export interface Endpoint {
  /** The name in the table, or the host of its URL. */
  readonly name: string;
  /** Base address, without a slash at the end: `https://api.openai.com/v1`. */
  readonly url: string;
  readonly api: EndpointApi;
  /** The host that a sandbox has to let through: `localhost:11434`, `api.openai.com`. */
  readonly host: string;
  /** The variable that holds its key; `null`: it needs none. */
  readonly keyVariable: string | null;
  /** It is on this machine. */
  readonly local: boolean;
  /** Tokens that a conversation may have; `null`: asked, else guessed. */
  readonly context: number | null;
  /** Tokens that one answer may have; `null`: the server's own limit. */
  readonly output: number | null;
  /** The model takes images; `null`: tried. */
  readonly images: boolean | null;
  readonly price: EndpointPrice | null;
}

type Row = Pick<Endpoint, "url" | "api" | "keyVariable">;

/** Servers that are known by name. */
export const ENDPOINTS: Readonly<Record<string, Row>> = {
  openai: { url: "https://api.openai.com/v1", api: "responses", keyVariable: "OPENAI_API_KEY" },
  anthropic: { url: "https://api.anthropic.com/v1", api: "anthropic", keyVariable: "ANTHROPIC_API_KEY" },
  google: { url: "https://generativelanguage.googleapis.com/v1beta", api: "google", keyVariable: "GEMINI_API_KEY" },
  openrouter: { url: "https://openrouter.ai/api/v1", api: "chat", keyVariable: "OPENROUTER_API_KEY" },
  groq: { url: "https://api.groq.com/openai/v1", api: "chat", keyVariable: "GROQ_API_KEY" },
  ollama: { url: "http://127.0.0.1:11434/v1", api: "chat", keyVariable: null },
  lmstudio: { url: "http://127.0.0.1:1234/v1", api: "chat", keyVariable: null },
  llamacpp: { url: "http://127.0.0.1:8080/v1", api: "chat", keyVariable: null },
  vllm: { url: "http://127.0.0.1:8000/v1", api: "chat", keyVariable: null },
};

const LOCAL_HOSTS = ["localhost", "127.0.0.1", "[::1]"];
/** The key of any other address, where the configuration names no variable. */
export const KEY_VARIABLE = "RALPH_AGENT_KEY";

/**
 * The server that `provider.endpoint` means.
 *
 * @throws {RalphError} endpoint-invalid
 * @example
 * ```ts
 * import { endpointOf } from "./endpoints.ts";
 *
 * console.log(endpointOf("ollama").url); // http://127.0.0.1:11434/v1
 * ```
 */
export function endpointOf(config: string | EndpointConfig): Endpoint {
  const given = typeof config !== "string" ? config : /^https?:\/\//.test(config) ? { url: config } : { name: config };
  const row = given.name === undefined ? undefined : known(given.name);
  const url = (given.url ?? row?.url ?? "").replace(/\/+$/, "");
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw invalid(`url must be an http or https address, such as http://127.0.0.1:8080/v1 (got: ${url})`);
  }
  const { hostname, host, username, search } = new URL(url);
  if (username !== "" || search !== "") {
    throw invalid("url must hold no key or password: name a variable in keyVariable");
  }
  const local = LOCAL_HOSTS.includes(hostname);
  const keyVariable = given.keyVariable ?? (row ?? { keyVariable: local ? null : KEY_VARIABLE }).keyVariable;
  if (keyVariable !== null && !isSecretName(keyVariable)) {
    throw invalid(`keyVariable ${keyVariable} is not called like a key, so that nothing would mask it: end it in _KEY`);
  }
  return {
    name: given.name ?? host,
    url,
    api: given.api ?? row?.api ?? "chat",
    host: hostOf(url),
    keyVariable,
    local,
    context: given.context ?? null,
    output: given.output ?? null,
    images: given.images ?? null,
    price: given.price ?? null,
  };
}

function hostOf(url: string): string {
  const { hostname, port, protocol } = new URL(url);
  if (!LOCAL_HOSTS.includes(hostname)) return port === "" ? hostname : `${hostname}:${port}`;
  return `localhost:${port || (protocol === "https:" ? "443" : "80")}`;
}

function known(name: string): Row {
  const row = Object.hasOwn(ENDPOINTS, name) ? ENDPOINTS[name] : undefined;
  if (row !== undefined) return row;
  const near = nearest(name, Object.keys(ENDPOINTS));
  throw invalid(
    `there is no endpoint named ${name}`,
    near === null
      ? `known: ${Object.keys(ENDPOINTS).join(", ")}; any other is given by its URL`
      : `did you mean \`${near}\`?`,
  );
}

function invalid(problem: string, hint?: string): RalphError {
  return new RalphError("endpoint-invalid", { details: { problem }, ...(hint === undefined ? {} : { hint }) });
}
