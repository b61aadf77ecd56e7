import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { createHost } from "../../lib/host/create_host.ts";
import { createTail } from "../../lib/host/tail.ts";
import type { ProcessEnd, ProcessRequest } from "../../lib/host/types.ts";

async function runShell(line: string, options: Partial<ProcessRequest> = {}): Promise<ProcessEnd> {
  const host = createHost();
  await using processes = host.processes;
  return await processes.run({ file: "sh", arguments: ["-c", line], cwd: process.cwd(), ...options });
}

describe("onOutput", () => {
  test("gets every byte and the name of the stream", async () => {
    let bytes = 0;
    let errors = "";

    await runShell("head -c 20000000 /dev/zero; echo no >&2", {
      onOutput(chunk, stream) {
        if (stream === "stdout") bytes += chunk.length;
        else errors += Buffer.from(chunk).toString();
      },
    });

    expect({ bytes, errors }).toEqual({ bytes: 20_000_000, errors: "no\n" });
  });

  test("a promise holds the stream back, and nothing that is in the pipe is lost", async () => {
    let bytes = 0;
    let chunks = 0;

    const end = await runShell("head -c 3000000 /dev/zero & wait; sleep 0.1 & exit 0", {
      async onOutput(chunk) {
        if (chunks++ < 20) await wait(30);
        bytes += chunk.length;
      },
    });

    expect({ bytes, exitCode: end.exitCode }).toEqual({ bytes: 3_000_000, exitCode: 0 });
  });

  test("a receiver that throws ends the tree and its error comes out of run()", async () => {
    const running = runShell("while :; do echo x; sleep 0.01; done", {
      onOutput() {
        throw new Error("disk full");
      },
    });

    await expect(running).rejects.toThrow("disk full");
  });

  test("a receiver that rejects ends the tree too", async () => {
    await expect(runShell("echo x; sleep 60", { onOutput: () => Promise.reject(new Error("no")) })).rejects.toThrow(
      "no",
    );
  });

  test("500 MB are not kept in memory", async () => {
    await runShell("head -c 50000000 /dev/zero");
    const before = process.memoryUsage().rss;
    let peak = 0;
    let bytes = 0;

    await runShell("head -c 500000000 /dev/zero", {
      onOutput(chunk) {
        bytes += chunk.length;
        if (bytes % 40 === 0) peak = Math.max(peak, process.memoryUsage().rss);
      },
    });

    expect(bytes).toBe(500_000_000);
    expect(Math.max(peak, process.memoryUsage().rss) - before).toBeLessThan(400_000_000);
  });
});

describe("the tail", () => {
  test("holds the end of each stream and of both", async () => {
    const end = await runShell("seq 100000; sleep 0.1; echo last >&2", { tailBytes: 20 });

    expect(end.stdout).toBe("99997\n99998\n99999\n100000\n".slice(-20));
    expect(end.stderr).toBe("last\n");
    expect(end.tail).toBe("8\n99999\n100000\nlast\n");
  });

  test("replaces damaged bytes and keeps NUL", async () => {
    const end = await runShell("printf 'a\\377b\\0c'");

    expect(end.stdout).toBe("a\ufffdb\0c");
  });

  test("createTail() never begins inside a character", () => {
    const tail = createTail(5);
    tail.push(new TextEncoder().encode("ää€€"));

    expect(tail.text()).toBe("€");
  });

  test.each([[1], [3], [7], [64]])("createTail() is the end of all that was pushed, in pieces of %i", (piece) => {
    const text = Array.from({ length: 200 }, (_, index) => String(index % 10)).join("");
    const tail = createTail(33);

    for (let start = 0; start < text.length; start += piece) {
      tail.push(new TextEncoder().encode(text.slice(start, start + piece)));
    }

    expect(tail.text()).toBe(text.slice(-33));
  });
});
