import { serve } from "@hono/node-server";
import { optionInvalid } from "../errors/ralph_error.ts";
import { type AppOptions, createApp } from "./app.ts";

const HINT = "leave `--port` out: the system chooses one";

/** A server that listens. */
export interface Serving extends AsyncDisposable {
  /** With the token: who has it can do all that the page can. */
  readonly address: string;
}

/** Starts the page's server on this machine alone. @throws {RalphError} option-invalid when the port cannot be had */
export async function startServer(options: Omit<AppOptions, "port" | "signal">, port: number): Promise<Serving> {
  const ended = new AbortController();
  let listening = 0;
  const app = createApp({ ...options, signal: ended.signal, port: () => listening });
  const server = serve({ fetch: app.fetch, hostname: "127.0.0.1", port, overrideGlobalObjects: false });
  await new Promise<void>((resolve, reject) => {
    server.once("listening", resolve);
    server.once(
      "error",
      (error: NodeJS.ErrnoException) =>
        reject(optionInvalid("--port", "a port that is free", `${port}: ${error.code}`, HINT)),
    );
  });
  listening = (server.address() as { readonly port: number }).port;
  return {
    address: `http://127.0.0.1:${listening}/${options.token}/`,
    async [Symbol.asyncDispose]() {
      ended.abort();
      await new Promise<void>((done) => {
        server.close(() => done());
        if ("closeAllConnections" in server) server.closeAllConnections();
      });
    },
  };
}
