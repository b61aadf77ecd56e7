import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { modelsOf, readyEndpoint } from "../../lib/agents/ask_endpoint.ts";
import { endpointOf } from "../../lib/agents/endpoints.ts";
import { resolveAgent } from "../../lib/agents/registry.ts";
import { CONFIG_SCHEMA } from "../../lib/config/schema.ts";
import { createHost } from "../../lib/host/create_host.ts";

describe("endpointOf()", () => {
  test.each([
    ["ollama", "http://127.0.0.1:11434/v1", "chat", null, "localhost:11434"],
    ["anthropic", "https://api.anthropic.com/v1", "anthropic", "ANTHROPIC_API_KEY", "api.anthropic.com"],
    ["http://127.0.0.1:8080/v1/", "http://127.0.0.1:8080/v1", "chat", null, "localhost:8080"],
    ["https://models.example.org/v1", "https://models.example.org/v1", "chat", "RALPH_AGENT_KEY", "models.example.org"],
    [
      { name: "vllm", url: "http://gpu.example.org:8000/v1" },
      "http://gpu.example.org:8000/v1",
      "chat",
      null,
      "gpu.example.org:8000",
    ],
  ])("%j is a server with an address, a way to speak and a key", (given, url, api, keyVariable, host) => {
    const endpoint = endpointOf(given);

    expect(endpoint).toMatchObject({ url, api, keyVariable, host });
  });

  test.each([
    ["olama", "did you mean `ollama`?"],
    [{ url: "http://me:secret@127.0.0.1:1/v1" }, "agents.md"],
    [{ url: "http://127.0.0.1:1/v1?key=abc" }, "agents.md"],
    [{ url: "http://127.0.0.1:1/v1", keyVariable: "SERVER" }, "agents.md"],
  ])("%j is refused: a key is only ever in a variable that is masked", (given, hint) => {
    expect(() => endpointOf(given)).toThrow(
      expect.objectContaining({ code: "endpoint-invalid", exitCode: 2, hint: expect.stringContaining(hint) }),
    );
  });
});

/** A server that answers `/v1/models` with this. */
async function answering(body: unknown): Promise<{ readonly url: string } & AsyncDisposable> {
  const server = createServer((_request, response) => response.end(JSON.stringify(body)));
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

describe("readyEndpoint()", () => {
  test("the only model of a server is used, with the length that the server reports", async () => {
    await using server = await answering({ data: [{ id: "small", max_model_len: 16_384 }] });

    expect(await readyEndpoint(endpointOf(server.url), undefined, {})).toMatchObject({
      model: "small",
      context: 16_384,
    });
  });

  test("of several models none is chosen: they are named", async () => {
    await using server = await answering({ data: [{ id: "small" }, { id: "large" }] });

    await expect(readyEndpoint(endpointOf(server.url), undefined, {})).rejects.toMatchObject({
      code: "endpoint-unusable",
      exitCode: 4,
      hint: "name one with `--model`: small, large",
    });
  });

  test("a key that is not set and a server that is not there are said before a turn", async () => {
    await expect(readyEndpoint(endpointOf("openrouter"), "a/b", {})).rejects.toThrow("OPENROUTER_API_KEY is not set");
    await expect(readyEndpoint(endpointOf("http://127.0.0.1:9/v1"), undefined, {})).rejects.toThrow("does not answer");
  });

  test("what is no model server has no models", async () => {
    await using server = await answering("<html>");

    expect(await modelsOf(endpointOf(server.url), {})).toBeNull();
  });
});

describe("provider.endpoint", () => {
  const host = createHost();

  test("an agent that cannot be pointed to a server refuses it; one that `--agent` names beside it leaves it out", () => {
    const claude = CONFIG_SCHEMA.parse({ provider: { preset: "claude", endpoint: "ollama" } });
    const pi = CONFIG_SCHEMA.parse({ provider: { preset: "pi", endpoint: "ollama" } });

    expect(() => resolveAgent({ config: claude, host })).toThrow(expect.objectContaining({ code: "endpoint-invalid" }));
    expect(resolveAgent({ config: pi, host, name: "claude" }).name).toBe("claude");
  });
});
