import { type ChildProcess, spawn } from "node:child_process";
import { describe, expect, test } from "vitest";
import { fixtureCommand } from "../fixtures/processes/fixture_command.ts";
import { processesWith, sleepTag, waitUntil } from "../fixtures/processes/survivors.ts";

function startParent(line: string): { child: ChildProcess; output: () => string; closed: Promise<number> } {
  const [file, ...arguments_] = fixtureCommand("parent.ts");
  const child = spawn(file, [...arguments_, line], { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout!.on("data", (chunk) => (output += chunk));
  const closed = new Promise<number>((resolve) => child.stdout!.on("close", () => resolve(performance.now())));
  return { child, output: () => output, closed };
}

describe("a Ralph that is killed", () => {
  test.each(
    [
      ["SIGKILL", (tag: string) => `sleep ${tag} & trap '' TERM; echo started; sleep ${tag}; sleep ${tag}`],
      [
        "SIGKILL",
        (tag: string) =>
          `setsid sleep ${tag} & setsid sh -c "trap '' TERM; sleep ${tag}; sleep ${tag}" & echo started; sleep ${tag}`,
      ],
      ["SIGTERM", (tag: string) => `sleep ${tag} & echo started; sleep ${tag}`],
      ["SIGINT", (tag: string) => `setsid sleep ${tag} & echo started; sleep ${tag}`],
    ] as const,
  )("by %s leaves nothing after 3 s (case %#)", async (signal, line) => {
    const tag = sleepTag();
    const { child, output } = startParent(line(tag));
    await waitUntil(() => output().includes("started") && processesWith(tag).length >= 2, 20_000);
    expect(processesWith(tag).length).toBeGreaterThanOrEqual(2);

    child.kill(signal);

    const took = await waitUntil(() => processesWith(tag).length === 0, 10_000);
    expect(took).toBeGreaterThanOrEqual(0);
    expect(took).toBeLessThan(3000);
    const cookie = /cookie (\w+)/.exec(output())![1]!;
    expect(await waitUntil(() => processesWith(cookie).length === 0, 3000)).toBeGreaterThanOrEqual(0);
  });

  test("does not hold its own output open: a reader sees the end at once", async () => {
    const tag = sleepTag();
    const { child, output, closed } = startParent(`trap '' TERM; echo started; sleep ${tag}; sleep ${tag}`);
    await waitUntil(() => output().includes("started"), 20_000);
    const killed = performance.now();

    child.kill("SIGKILL");

    expect((await closed) - killed).toBeLessThan(500);
    await waitUntil(() => processesWith(tag).length === 0, 5000);
  });

  test("a Ralph that ends by itself leaves no watchdog and is not kept alive by it", async () => {
    const { child, output } = startParent("echo started");
    const code = await new Promise((resolve) => child.on("exit", resolve));

    const cookie = /cookie (\w+)/.exec(output())![1]!;
    expect(code).toBe(0);
    expect(await waitUntil(() => processesWith(cookie).length === 0, 1000)).toBeGreaterThanOrEqual(0);
  });
});
