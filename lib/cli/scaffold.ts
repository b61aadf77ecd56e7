import { join } from "node:path";
import { CONFIG_FILE } from "../config/load.ts";
import { EXIT } from "../errors/ralph_error.ts";
import { openRepository } from "../git/open_repository.ts";
import { isBare, requireRepository } from "../git/repository.ts";
import { pathExists, readText } from "../host/files.ts";
import { type Invocation, printed, styleFor, toJson } from "./command.ts";
import { setupPrompter } from "./session.ts";
import { additionsOf, setUp } from "./setup.ts";
import type { Place } from "./workspace.ts";
import { addToConfig, writeNewConfig } from "./write_config.ts";

/** Flags that a configuration remembers, those with one text first. */
const TEXTS = ["agent", "agent-cmd", "model", "reasoning", "endpoint"];
const FLAGS = [...TEXTS, "timeout", "verify", "sandbox"];

/** A workflow starts from this. */
export interface Scaffold {
  /** Makes its files that are missing. @returns their paths, relative to the root. @default it has none */
  readonly files?: (root: string) => Promise<readonly string[]>;
  /** Its own part of a new configuration. */
  readonly config: object;
  /** The person's next step. */
  readonly next: string;
}

/**
 * Sets a project up for a workflow: its configuration, then what it starts from. Files that are there stay as they are.
 *
 * @returns the exit code
 */
export async function scaffoldWorkflow(
  invocation: Invocation,
  place: Place,
  { files, config, next }: Scaffold,
): Promise<number> {
  const { flags, say } = invocation;
  const { root, file } = place;
  const { symbols, good, dim } = styleFor(invocation, "stderr");
  const made: string[] = [];
  let open: readonly string[] = [];
  const repository = await openRepository(invocation.host, root);
  if (isBare(root)) requireRepository({ repository, root });
  say(`workflow ${place.workflow.name} (${place.workflow.why}) in ${root}`);
  if (file === null && !await pathExists(join(root, CONFIG_FILE))) {
    const setup = await setUp(invocation, place, await setupPrompter(invocation, place));
    if (setup === null) return printed(say, "nothing was written");
    open = setup.open;
    if (flags.has("dry-run")) {
      say(`would write ${CONFIG_FILE}:`);
      invocation.out(toJson({ ...config, ...setup.config }));
      return told(invocation, open);
    }
    made.push(...await writeNewConfig(invocation.host, root, { ...config, ...setup.config }));
  } else {
    if (flags.has("dry-run")) return told(invocation, [`${CONFIG_FILE} is there: it would keep what it has`]);
    made.push(...await completed(invocation, place));
  }
  made.push(...await files?.(root) ?? []);
  for (const path of made) say(`  ${good(symbols.passed)} ${path}`);
  if (made.length === 0) say(dim("  everything is there already: nothing was written"));
  told(invocation, open);
  const toCommit = made.filter((path) => path === CONFIG_FILE || path.endsWith(".gitignore"));
  const first = [
    ...repository === null ? ["`git init`"] : [],
    ...toCommit.length > 0 ? [`commit ${toCommit.join(" and ")}`] : [],
  ].map((step) => `${step}, then `);
  return printed(say, `next: ${first.join("")}${next}`);
}

/** Flags complete a configuration that is there; a value that it has already stays. @returns what was changed */
async function completed(invocation: Invocation, { root, file }: Place): Promise<readonly string[]> {
  const { flags, say } = invocation;
  if (!FLAGS.some((name) => flags.has(name))) return [];
  const path = file ?? join(root, CONFIG_FILE);
  const paths = await addToConfig(invocation.host, root, path, additionsOf(invocation));
  const text = await readText(path) ?? "";
  const kept = TEXTS.filter((name) => flags.has(name) && !text.includes(JSON.stringify(flags.text(name))));
  if (kept.length > 0) {
    const names = kept.map((name) => `--${name}`).join(", ");
    say(`warning: ${CONFIG_FILE} keeps its own value instead of ${names}: edit the file to change it`);
  }
  return paths;
}

function told({ say }: Invocation, lines: readonly string[]): number {
  for (const line of lines) say(`  ${line}`);
  return EXIT.done;
}
