/** `RALPH_FLOOD_MB=1000` asks for the long form: 1 GB. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { expectNothingLeft, faultProject, passedIn, prdText, stories } from "./world.ts";
import { LOG_BYTES } from "../../lib/host/log_file.ts";
import { needs } from "../needs.ts";

const MEGABYTES = Number(process.env["RALPH_FLOOD_MB"] ?? "100");
/** Beyond an agent that prints a line; a flood is as large or larger, and garbage is collected late on a busy machine. */
const MORE_MB = 80;
const UNCHECKED = prdText([{ ...stories(1)[0]!, acceptanceCriteria: ["work/1.txt is there"] }]);
const MARKER = "<promise>COMPLETE</promise>";
const LINE = "the quick brown fox jumps over the lazy dog and continues with its life in the green wood";

interface Flood {
  readonly what: string;
  readonly script: string;
  readonly megabytes: number;
}

const FLOODS: readonly Flood[] = [
  {
    what: `${MEGABYTES} MB in lines`,
    script: `yes '${LINE}' | head -c ${MEGABYTES * 1_000_000}; echo`,
    megabytes: MEGABYTES,
  },
  { what: "one line of 100 MB", script: "head -c 100000000 /dev/zero | tr '\\0' x; echo", megabytes: 100 },
  { what: "100 MB of NUL", script: "head -c 100000000 /dev/zero; echo", megabytes: 100 },
  {
    what: "100 MB of bytes that are no UTF-8", // random ones may hold what looks like a password, which is masked
    script: "yes \"$(printf '\\377\\376 half \\342\\202 \\355\\240\\200')\" | head -c 100000000; echo",
    megabytes: 100,
  },
];

/** Peak in MB of the memory that is no file's: of the program's own file more or less is resident. */
function watchPeak(pid: number): () => number {
  let peak = 0;
  const look = (): void => {
    try {
      peak = Math.max(peak, Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0));
    } catch {
      clearInterval(timer); // gone
    }
  };
  const timer = setInterval(look, 20);
  return () => (clearInterval(timer), peak / 1024);
}

/** The peak of a run whose agent prints a line. */
async function quietPeak(): Promise<number> {
  const running = faultProject(`cat > /dev/null; echo '${MARKER}'`, { prd: UNCHECKED }).cli
    .args("run", "--allow-unverified").start();
  const peak = watchPeak(running.child.pid!);
  await running.ended();
  return peak();
}

describe("an agent that prints", needs("Linux"), () => {
  test.each(FLOODS)(
    "$what takes no more memory, and its marker is found after it",
    async ({ what, script, megabytes }) => {
      const project = faultProject(`cat > /dev/null; ${script}; echo '${MARKER}'`, { prd: UNCHECKED });
      const running = project.cli.args("run", "--allow-unverified").start();
      const peak = watchPeak(running.child.pid!);
      const started = performance.now();

      const { exitCode, root, stderr } = await running.ended();

      const seconds = (performance.now() - started) / 1000;
      const peakMb = peak();
      console.log(
        `${what}: ${seconds.toFixed(1)} s, ${(megabytes / seconds).toFixed(0)} MB/s, peak ${peakMb.toFixed(0)} MB`,
      );
      expect(exitCode, stderr).toBe(0);
      expect(passedIn(root)).toEqual(["US-001"]);
      const [run = ""] = readdirSync(join(root, "scripts/ralph/runs")).filter((name) => /^\d/.test(name));
      const log = readFileSync(join(root, "scripts/ralph/runs", run, "iteration-1.log"));
      expect(log.length).toBeGreaterThan(LOG_BYTES);
      expect(log.length).toBeLessThan(LOG_BYTES + 100_000);
      expect(log.toString("latin1", log.length - 200)).toContain(MARKER);
      expect(log.toString("utf8", LOG_BYTES, LOG_BYTES + 40)).toMatch(/^\n… \d+ bytes are not kept …\n/);
      expect(peakMb).toBeLessThan(await quietPeak() + (isBinary(running.child.spawnfile) ? MORE_MB : 120));
      await expectNothingLeft(project, root);
    },
    300_000,
  );

  test("JSON takes little more memory, and the run's events do not hold it again", async () => {
    const line = JSON.stringify({ type: "assistant", message: { content: [{ type: "text", text: LINE.repeat(10) }] } });
    const flood = `yes '${line}' | head -n ${Math.ceil(MEGABYTES * 1_000_000 / (line.length + 1))}`;
    const last = JSON.stringify({ type: "result", subtype: "success", result: `done\n${MARKER}` });
    const project = faultProject("", { prd: UNCHECKED, config: { provider: { preset: "claude" } } });
    const cli = project.cli.agent("claude", `cat > /dev/null; ${flood}; printf '%s\\n' '${last}'`);
    const running = cli.args("run", "--allow-unverified").start();
    const peak = watchPeak(running.child.pid!);

    const { exitCode, root, stderr } = await running.ended();

    const peakMb = peak();
    console.log(`${MEGABYTES} MB of JSON: peak ${peakMb.toFixed(0)} MB`);
    expect(exitCode, stderr).toBe(0);
    expect(passedIn(root)).toEqual(["US-001"]);
    const [run = ""] = readdirSync(join(root, "scripts/ralph/runs")).filter((name) => /^\d/.test(name));
    expect(statSync(join(root, "scripts/ralph/runs", run, "events.ndjson")).size).toBeLessThan(2_000_000);
    expect(peakMb).toBeLessThan(await quietPeak() + (isBinary(running.child.spawnfile) ? MORE_MB : 170));
  }, 300_000);

  test("damaged bytes in its last words: no text of Ralph's own is damaged by them", async () => {
    const agent =
      "cat > /dev/null; printf 'bad \\377\\376\\300\\200 \\000\\000 \\355\\240\\200\\n'; printf 'half \\342\\202'; exit 1";
    const project = faultProject(agent, { config: { maxRetries: 1 } });

    const { root } = await project.cli.expectExit(3);

    const prd = readFileSync(join(root, "scripts/ralph/prd.json"));
    expect(new TextDecoder("utf-8", { fatal: true }).decode(prd)).toContain("US-001");
    expect(passedIn(root)).toEqual([]);
  });
});

function isBinary(file: string): boolean {
  return file.endsWith("/ralph");
}
