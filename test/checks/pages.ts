import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

const PAGES: Readonly<Record<string, string>> = {
  "/": "<h1>Fine</h1><div role=alert class=success>Saved</div><div class=error style='display:none'>hidden</div>",
  "/console": "<h1>Console</h1><script>console.error('it went wrong', 42); console.warn('only a warning')</script>",
  "/throws": "<h1>Throws</h1><script>throw new Error('boom')</script>",
  "/late": "<h1>Late</h1><script>setTimeout(() => { Promise.reject(new Error('late boom')) }, 300)</script>",
  "/missing-script": "<h1>Script</h1><script src='/nowhere.js'></script><img src='/favicon.ico'>",
  "/refused": "<h1>Refused</h1><script>fetch('http://127.0.0.1:1/x').catch(() => {})</script>",
  "/banner": "<h1>Banner</h1><div class='alert alert-danger'>Could not save</div>",
  "/alert": "<h1>Alert</h1><p role=alert>Something went wrong</p>",
};

/** A server of pages with one flaw each. */
export async function pages(): Promise<{ readonly origin: string } & AsyncDisposable> {
  const server: Server = createServer((request, response) => {
    const body = PAGES[request.url ?? ""];
    const status = body !== undefined ? 200 : request.url === "/broken" ? 500 : 404;
    response.writeHead(status, { "content-type": "text/html" });
    response.end(body ?? `<h1>${status}</h1>`);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
