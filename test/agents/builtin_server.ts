import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** The content of a request of the chat API. */
export interface ChatRequest {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools: readonly unknown[];
}

/** The server's answer. */
export type Answer =
  | { readonly text?: string; readonly call?: { readonly name: string; readonly input: object } }
  | { readonly status: number; readonly body: object }
  /** Some text, and then the connection is cut. */
  | { readonly cut: string };

/** A model server whose answers a test gives, by the request and its number from 1. */
export interface ModelServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly ChatRequest[];
}

export async function modelServer(answer: (request: ChatRequest, number: number) => Answer): Promise<ModelServer> {
  const requests: ChatRequest[] = [];
  const server = createServer((request, response) => {
    if (request.method === "GET") {
      return void response.end(JSON.stringify({ data: [{ id: "small", max_model_len: 32_000 }] }));
    }
    let body = "";
    request.on("data", (chunk: Buffer) => body += chunk.toString());
    request.on("end", () => {
      requests.push(JSON.parse(body) as ChatRequest);
      send(response, answer(requests.at(-1)!, requests.length));
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

function send(response: ServerResponse, answer: Answer): void {
  if ("status" in answer) return void response.writeHead(answer.status).end(JSON.stringify(answer.body));
  response.writeHead(200, { "content-type": "text/event-stream" });
  const chunk = (delta: object, finish: string | null = null): string =>
    `data: ${JSON.stringify({ id: "a", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  if ("cut" in answer) {
    response.write(chunk({ role: "assistant", content: answer.cut }));
    setTimeout(() => response.destroy(), 50);
    return;
  }
  const { text = "", call } = answer;
  response.write(chunk({ role: "assistant", content: text }));
  if (call !== undefined) {
    const called = { name: call.name, arguments: JSON.stringify(call.input) };
    response.write(chunk({ tool_calls: [{ index: 0, id: `c${Date.now()}`, type: "function", function: called }] }));
  }
  response.write(chunk({}, call === undefined ? "stop" : "tool_calls"));
  response.write(
    `data: ${JSON.stringify({ id: "a", choices: [], usage: { prompt_tokens: 100, completion_tokens: 5 } })}\n\n`,
  );
  response.end("data: [DONE]\n\n");
}
