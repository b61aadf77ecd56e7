/**
 * The one file that knows the AI SDK: one request to a model server, streamed. The npm package holds it with what it
 * imports as one bundle (`tools/build.mjs`).
 *
 * @module
 */
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogle } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import * as ai from "ai";
import { jsonIn } from "../../host/data.ts";
import type { Usage } from "../../backlog/types.ts";
import type { Endpoint } from "../endpoints.ts";

/** A message of a conversation, as the AI SDK has it: plain data. */
export type Message = ai.ModelMessage;

/** How hard a model thinks. */
export type Effort = "none" | "minimal" | "low" | "medium" | "high" | "xhigh";

/** A tool as the model sees it. */
export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of its input. */
  readonly schema: Readonly<Record<string, unknown>>;
}

/** One request. */
export interface StepRequest {
  readonly instructions: string;
  readonly messages: readonly Message[];
  readonly tools: readonly OfferedTool[];
  readonly effort: Effort | null;
  readonly signal: AbortSignal;
  /** Something has come. */
  readonly onProgress: () => void;
}

/** A tool call that the model asks for. */
export interface Call {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
  /** Why it cannot be run: no such tool, or no JSON. */
  readonly invalid: string | null;
}

/** The model's answer. */
export interface Step {
  readonly text: string;
  readonly calls: readonly Call[];
  /** Added to the conversation as they are: they may hold signatures. Tool results are not among them. */
  readonly messages: readonly Message[];
  /** `null`: the stream ended without one. */
  readonly finish: string | null;
  /** Its cost where the server reports it. */
  readonly usage: Usage;
}

export interface RequestError {
  readonly status: number | null;
  readonly message: string;
  /** Parsed, where it is JSON. */
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

/** Asks a model of a server. */
export type Model = (request: StepRequest) => Promise<Step>;

/** The model of an endpoint. */
export function openModel(endpoint: Endpoint & { readonly model: string }, key: string | undefined): Model {
  Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false }); // standard output is the event stream
  const model = languageModel(endpoint, key);
  return (request) => ask(model, endpoint, request);
}

function languageModel({ api, url, model, name }: Endpoint & { readonly model: string }, key: string | undefined) {
  const settings = { baseURL: url, apiKey: key ?? "none" };
  switch (api) {
    case "anthropic":
      return createAnthropic(settings)(model);
    case "google":
      return createGoogle(settings)(model);
    case "responses":
      return createOpenAI(settings).responses(model);
    case "chat": {
      const { apiKey: _, ...open } = settings;
      const server = createOpenAICompatible({
        name,
        includeUsage: true,
        ...open,
        ...(key === undefined ? {} : { apiKey: key }),
      });
      // local models write their thoughts into the answer
      return ai.wrapLanguageModel({
        model: server(model),
        middleware: ai.extractReasoningMiddleware({ tagName: "think" }),
      });
    }
  }
}

async function ask(model: ai.LanguageModel, endpoint: Endpoint, request: StepRequest): Promise<Step> {
  const tools = request.tools.map(({ name, description, schema }) =>
    [name, ai.tool({ description, inputSchema: ai.jsonSchema<object>(schema) })] as const
  );
  const result = ai.streamText({
    model,
    instructions: request.instructions,
    messages: endpoint.api === "anthropic" ? cached(request.messages) : [...request.messages],
    tools: Object.fromEntries(tools) as ai.ToolSet,
    maxRetries: 0,
    abortSignal: request.signal,
    onError: () => {}, // thrown below
    ...(endpoint.output === null ? {} : { maxOutputTokens: endpoint.output }),
    ...(request.effort === null ? {} : { reasoning: request.effort }),
  });
  const calls: Call[] = [];
  const texts = new Map<string, string>();
  for await (const part of result.stream) {
    request.onProgress();
    if (part.type === "error") throw part.error;
    if (part.type === "abort") throw request.signal.reason;
    if (part.type === "text-delta") texts.set(part.id, (texts.get(part.id) ?? "") + part.text);
    if (part.type === "tool-call") {
      const invalid = part.invalid === true ? messageOf(part.error) : null;
      calls.push({ id: part.toolCallId, name: part.toolName, input: part.input, invalid });
    }
  }
  const [reason, raw, usage, messages] = await Promise.all([
    result.finishReason,
    result.rawFinishReason,
    result.usage,
    result.responseMessages,
  ]);
  return {
    text: [...texts.values()].join("\n"),
    calls,
    messages: messages.filter(({ role }) => role === "assistant"),
    finish: raw === undefined && (reason === "other" || reason === undefined) ? null : reason,
    usage: {
      inputTokens: usage.inputTokens ?? null,
      outputTokens: usage.outputTokens ?? null,
      cachedTokens: usage.inputTokenDetails.cacheReadTokens ?? null,
      reasoningTokens: usage.outputTokenDetails.reasoningTokens ?? null,
      costUsd: typeof usage.raw?.["cost"] === "number" ? usage.raw["cost"] : null,
      estimated: false,
    },
  };
}

/** Anthropic keeps what comes before a mark: the whole conversation so far. */
function cached(messages: readonly Message[]): Message[] {
  const mark = { anthropic: { cacheControl: { type: "ephemeral" } } };
  return messages.map((message, index) =>
    index === 0 || index === messages.length - 1 ? { ...message, providerOptions: mark } : message
  );
}

/** The facts that a thrown error holds of its request. */
export function requestError(error: unknown): RequestError {
  if (ai.APICallError.isInstance(error)) {
    return {
      status: error.statusCode ?? null,
      message: messageOf(error),
      body: jsonIn(error.responseBody ?? null),
      headers: error.responseHeaders ?? {},
    };
  }
  // an error event of the stream is thrown as the server wrote it
  const isData = typeof error === "object" && error !== null && !(error instanceof Error);
  return {
    status: null,
    message: isData ? dataMessage(error) : messageOf(error),
    body: isData ? error : null,
    headers: {},
  };
}

function dataMessage(error: object): string {
  const { message, error: inner } = error as {
    readonly message?: unknown;
    readonly error?: { readonly message?: unknown };
  };
  return [message, inner?.message].find((text) => typeof text === "string") as string | undefined ??
    JSON.stringify(error);
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return cause instanceof Error && !error.message.includes(cause.message)
    ? `${error.message}: ${cause.message}`
    : error.message;
}
