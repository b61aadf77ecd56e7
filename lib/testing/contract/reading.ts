import { join } from "node:path";
import { EXIT } from "../../errors/exit_codes.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import { readText, writeAtomic } from "../../host/files.ts";
import type { Open, Rule } from "./bench.ts";
import { must, same } from "./expect.ts";

/** A backlog owes this to a person whose state file is broken. */
export const READING: readonly Rule[] = [
  ["a state file that cannot be read is named in a RalphError, and stays as it is", namesBrokenFile],
];

/** Cut off, of another shape, and nothing that is text. */
const GARBAGE = ["[{", "42\n", "\u0000\u0001"];

async function namesBrokenFile(open: Open): Promise<void> {
  for (const garbage of GARBAGE) {
    const bench = await open();
    if (bench.root === null) return;
    for (const path of bench.backlog.stateFiles) {
      const file = join(bench.root, path);
      if (await readText(file) === null) continue;
      await writeAtomic(file, garbage);
      await bench.kill();
      for (const read of [() => bench.backlog.overview(bench.view), () => bench.next()]) {
        const error = await read().then(() => null, (thrown: unknown) => thrown);
        if (error === null) continue; // such a text means something in this format
        must(
          RalphError.isInstance(error) && error.exitCode === EXIT.usage,
          `${path} holds ${JSON.stringify(garbage)}: expected a RalphError such as state-invalid, got ${
            error instanceof Error ? error.message : JSON.stringify(error)
          }`,
        );
      }
      same(await readText(file), garbage, `what ${path} holds after it was read`);
    }
  }
}
