import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { appendClaims, applyClaims, type ClaimLine, createInbox, readClaims } from "../../lib/backlog/claims.ts";
import { RalphError } from "../../lib/errors/ralph_error.ts";
import { createHost } from "../../lib/host/create_host.ts";
import { temporaryDirectory } from "../../lib/host/files.ts";

const claim = (id: string): ClaimLine => ({ v: 1, command: "task done", at: 1, id });

describe("claims", () => {
  test("a file gives back what was appended; torn and forged lines are left out", async () => {
    await using folder = await temporaryDirectory("claims-");
    const file = join(folder.path, "c");
    await appendClaims(file, [claim("a"), claim("b")]);
    await appendFile(file, '{"v":2,"command":"task done","at":1}\n[]\n{"v":1,"comm');

    expect(await readClaims(file)).toEqual([claim("a"), claim("b")]);
    expect(await readClaims(join(folder.path, "none"))).toEqual([]);
  });

  test("applyClaims() goes on after one that is refused, and names it", () => {
    const { state, refused } = applyClaims("", [claim("a"), claim("b"), claim("c")], (before, { id }) => {
      if (id === "b") throw new RalphError("usage", { details: { problem: "no b" } });
      return before + String(id);
    });

    expect([state, refused.map(({ reason }) => reason)]).toEqual(["ac", ["no b"]]);
  });

  test("the inbox keeps its claims until they were applied", async () => {
    await using folder = await temporaryDirectory("claims-");
    const inbox = createInbox({ root: "/r", directory: folder.path, host: createHost() });
    await inbox.add("plan", [claim("a")]);
    await inbox.add("other", [claim("b")]);

    await expect(inbox.take("plan", () => Promise.reject(new Error("killed")))).rejects.toThrow("killed");
    const taken: ClaimLine[] = [];
    const take = (): Promise<void> =>
      inbox.take("plan", (claims) => {
        taken.push(...claims);
        return Promise.resolve();
      });
    await take();
    await take();

    expect(taken).toEqual([claim("a")]);
    expect(await inbox.read("other")).toEqual([claim("b")]);
  });
});
