import { join } from "node:path";
import { CONFIG_FILE } from "../config/load.ts";
import { EXIT } from "../errors/exit_codes.ts";
import { pathExists } from "../host/files.ts";
import type { Invocation } from "./command.ts";
import { setupPrompter } from "./session.ts";
import { setUp } from "./setup.ts";
import { styleFor, toJson } from "./show.ts";
import type { Place } from "./workspace.ts";
import { writeNewConfig } from "./write_config.ts";

/** What a workflow starts from. */
export interface Scaffold {
  /** Makes its files that are missing. @returns their paths, relative to the root */
  readonly files: (root: string) => Promise<readonly string[]>;
  /** Its own part of a new configuration. */
  readonly config: object;
  /** What a person does then. */
  readonly next: string;
  /** It cannot work without an agent and checks: without a person nothing is written where flags do not name them. */
  readonly complete?: boolean;
}

/** Sets a project up for a workflow: its configuration, then what it starts from. What is there stays as it is. @returns the exit code */
export async function scaffoldWorkflow(
  invocation: Invocation,
  place: Place,
  { files, config, next, complete = false }: Scaffold,
): Promise<number> {
  const { flags, say } = invocation;
  const { root, file } = place;
  const { symbols, good, dim } = styleFor(invocation, "stderr");
  const made: string[] = [];
  let open: readonly string[] = [];
  say(`workflow ${place.workflow.name} (${place.workflow.why}) in ${root}`);
  if (file === null && !await pathExists(join(root, CONFIG_FILE))) {
    const setup = await setUp(invocation, { root, own: config, prompter: await setupPrompter(invocation, place) });
    if (setup === null) {
      say("nothing was written");
      return EXIT.done;
    }
    open = setup.open;
    if (flags.has("dry-run")) {
      say(`would write ${CONFIG_FILE}:`);
      invocation.out(toJson(setup.config));
      return told(invocation, open);
    }
    if (complete && open.length > 0) {
      told(invocation, open);
      say("error: nothing was written: there is no terminal to ask in");
      say(
        `hint: name the agent and what must pass: \`ralph init --workflow ${place.workflow.name} --agent NAME --verify CMD\``,
      );
      return EXIT.usage;
    }
    made.push(...await writeNewConfig(root, setup.config));
  } else {
    const ignored = ["agent", "agent-cmd", "model", "reasoning", "endpoint", "timeout", "verify", "sandbox"].filter((
      name,
    ) => flags.has(name));
    if (ignored.length > 0) {
      say(
        `warning: ${CONFIG_FILE} is there and stays as it is: ${
          ignored.map((name) => `--${name}`).join(", ")
        } changed nothing`,
      );
    }
    if (flags.has("dry-run")) return told(invocation, [`${CONFIG_FILE} is there: it would stay as it is`]);
  }
  made.push(...await files(root));
  for (const path of made) say(`  ${good(symbols.passed)} ${path}`);
  if (made.length === 0) say(dim("  everything is there already: nothing was written"));
  told(invocation, open);
  say(`next: ${made.includes(CONFIG_FILE) ? `commit ${CONFIG_FILE}, then ` : ""}${next}`);
  return EXIT.done;
}

function told({ say }: Invocation, lines: readonly string[]): number {
  for (const line of lines) say(`  ${line}`);
  return EXIT.done;
}
