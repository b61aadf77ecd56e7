import { timingSafeEqual } from "node:crypto";
import type { MiddlewareHandler } from "hono";

/** Only the page's own files, and no script or style in the markup. */
const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

const HEADERS: Readonly<Record<string, string>> = {
  "Content-Security-Policy": POLICY,
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Referrer-Policy": "no-referrer",
  "Cache-Control": "no-store",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
};

/**
 * Lets nothing through but requests of the page itself: the token is in the address, the host is this server's, so that
 * no other name leads here, and what comes from a page comes from this one. Everything else gets 401 and an empty body.
 *
 * @param port of the server, known once it listens
 */
export function guard(token: string, port: () => number): MiddlewareHandler {
  const expected = Buffer.from(token);
  return async (context, next) => {
    const { headers, method, url } = context.req.raw;
    const hosts = ["127.0.0.1", "localhost", "[::1]"].map((name) => `${name}:${port()}`);
    const host = headers.get("host") ?? "";
    const origin = headers.get("origin");
    const site = headers.get("sec-fetch-site");
    const given = Buffer.from(new URL(url).pathname.split("/")[1] ?? "");
    const hasToken = given.length === expected.length && timingSafeEqual(given, expected);
    const isOwn = origin === null ? method === "GET" : hosts.includes(host) && origin === `http://${host}`;
    // a page elsewhere may link here only where the token is known to it, which it is not
    const isNear = site === null || site === "same-origin" || site === "none";
    if (!hasToken || !hosts.includes(host) || !isOwn || !isNear) {
      return new Response(null, { status: 401, headers: { "Cache-Control": "no-store" } });
    }
    await next();
    for (const [name, value] of Object.entries(HEADERS)) {
      if (!context.res.headers.has(name)) context.res.headers.set(name, value);
    }
  };
}
