import { basename, join } from "node:path";
import type { Invocation } from "../../cli/command.ts";
import { didYouMean, usage } from "../../cli/parse.ts";
import { resolveRoot } from "../../cli/root.ts";
import { VERSION } from "../../host/version.ts";
import { EXIT } from "../../errors/exit_codes.ts";
import { hashText, pathExists, readText, renamePath, resolveInside, writeAtomic } from "../../host/files.ts";

/** Each agent looks for skills (`NAME/SKILL.md`) in these folders, in a project and in the home folder. */
const FOLDERS: Readonly<Record<string, string>> = {
  claude: ".claude/skills",
  codex: ".agents/skills",
  copilot: ".github/skills",
  gemini: ".gemini/skills",
  agents: ".agents/skills",
};

/** Written by this command, and so replaced by it. */
const MARK = "<!-- written by `ralph skill install`";
const UNSIGNED = "text unsigned";
const SIGNATURE_REGEXP = /text [\da-f]{12}(?=\); a later)/;

const TEXT = signed(`---
name: ralph
description: Take a goal to verified, committed code with Ralph, which runs coding agents in a loop and checks their work. Use when the user asks to plan, start, watch, steer, pause or report on a Ralph run, or wants a long task done unattended.
---

${MARK} (${VERSION}, ${UNSIGNED}); a later version replaces it -->

# Ralph

\`ralph\` is a command line. It works off a list of items, one fresh agent each, and believes checks only: an item has
passed when its commands pass, whatever the agent says. Everything is committed; a run that was killed continues.

## Plan

1. Ask the user for the goal, and for commands that show that it is reached, such as \`npm test\`.
2. Run \`ralph plan "GOAL" --approve prd\` for a plan without questions. Where the user wants to answer the planner's
   questions, ask them to run \`ralph plan "GOAL"\` in a terminal of their own.
3. Show the user the items: \`ralph status\`. Change nothing in Ralph's state files yourself.

## Run

A run lasts for minutes to hours and costs money: start it only when the user has agreed.

1. \`ralph doctor\` says what is missing; \`ralph next\` shows the first item.
2. Start it in the background: \`ralph run --ui plain > ralph-run.log 2>&1 &\`, beside the project or in an ignored place.
3. While it runs do not edit the working tree: look with \`ralph status\` and the end of the log.

## Steer

- \`ralph tell "TEXT"\` puts words of the user into the next prompt; \`--item ID\` into those for one item.
- \`ralph pause\`, \`ralph resume\`, \`ralph stop\` (after the present turn), \`ralph stop --now\`.

## Report

\`ralph report\` says what was done, what passed and why the rest did not. Exit codes of a run: 0 passed, 1 not done,
2 wrong usage, 3 a person is needed, 4 the agent cannot be used. Never say that something is done where Ralph says that it
is not. \`ralph help COMMAND\` has every flag.
`);

/** The text with its own hash in it: what differs from that was edited by a person. */
function signed(text: string): string {
  const bare = text.replace(SIGNATURE_REGEXP, UNSIGNED);
  return bare.replace(UNSIGNED, `text ${hashText(bare).slice(0, 12)}`);
}

/** `ralph skill install AGENT`: the file by which an agent in a chat knows how Ralph is used. */
export async function run(invocation: Invocation): Promise<number> {
  const { arguments: [action, name = ""], flags, host, say } = invocation;
  if (action !== "install") {
    throw usage(`\`ralph skill\` takes install (got: ${action})`, "`ralph skill install claude`");
  }
  const folder = Object.hasOwn(FOLDERS, name) ? FOLDERS[name] : undefined;
  if (folder === undefined) {
    const known = Object.keys(FOLDERS);
    throw usage(
      name === "" ? "for which agent is the skill?" : `no place for skills of ${name} is known`,
      didYouMean(name, known, `known: ${known.join(", ")}; most others read \`agents\``),
    );
  }
  const top = flags.has("user") ? host.environment.home : await resolveRoot(invocation);
  const file = await resolveInside(top, join(folder, "ralph", "SKILL.md"));
  const before = await readText(file);
  if (before === TEXT) return said(`${file} is there already`);
  if (before !== null && !before.includes(MARK)) {
    throw usage(`${file} is there, and Ralph did not write it`, "move it away first: it is not overwritten");
  }
  if (before !== null && before !== signed(before)) {
    let aside = `${file}.before`;
    for (let number = 2; await pathExists(aside); number += 1) aside = `${file}.before-${number}`;
    await renamePath(file, aside);
    say(`${file} had been edited: it is ${basename(aside)} now`);
  }
  await writeAtomic(file, TEXT);
  return said(`wrote ${file}`);

  function said(text: string): number {
    say(text);
    return EXIT.done;
  }
}
