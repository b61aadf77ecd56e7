import { basename, join } from "node:path";
import type { Invocation } from "../../cli/command.ts";
import { didYouMean, usage } from "../../cli/parse.ts";
import { resolveRoot } from "../../cli/root.ts";
import { VERSION } from "../../host/version.ts";
import { EXIT } from "../../errors/exit_codes.ts";
import { SKILL_TEXT } from "../../generated/skill.ts";
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

const TEXT = signed(SKILL_TEXT.replace("{version}", VERSION));

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
