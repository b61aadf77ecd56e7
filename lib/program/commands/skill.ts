import { basename, join } from "node:path";
import { didYouMean, type Invocation, printed, usage } from "../../cli/command.ts";
import { resolveRoot } from "../../cli/workspace.ts";
import { VERSION } from "../../host/version.ts";
import { isObject, jsonIn, objectOr } from "../../host/data.ts";
import { SKILL_TEXT } from "../../generated/skill.ts";
import * as files from "../../host/files.ts";

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
  return bare.replace(UNSIGNED, `text ${files.hashText(bare).slice(0, 12)}`);
}

/** Agents look for hooks in these files, which have one form. */
const HOOK_FILES: Readonly<Record<string, string>> = { claude: ".claude/settings.json", codex: ".codex/hooks.json" };
const HOOK = { hooks: [{ type: "command", command: "ralph gate --hook", timeout: 1800 }] };
/** Space outside of texts, and texts, which stay. */
const SPACE_REGEXP = /("(?:[^"\\]|\\.)*")|\s+/g;

/** `ralph skill install AGENT`: the file by which an agent in a chat knows how Ralph is used. */
export async function run(invocation: Invocation): Promise<number> {
  const { arguments: [action, name = ""], flags, host, say } = invocation;
  if (action !== "install") {
    throw usage(`\`ralph skill\` takes install (got: ${action})`, "`ralph skill install claude`");
  }
  const isGate = flags.has("gate");
  const folder = isGate ? placeOf(name, HOOK_FILES, "hooks") : placeOf(name, FOLDERS, "skills");
  const top = flags.has("user") ? host.environment.home : await resolveRoot(invocation);
  if (isGate) return printed(say, await installHooks(await files.resolveInside(top, folder)));
  const file = await files.resolveInside(top, join(folder, "ralph", "SKILL.md"));
  const before = await files.readText(file);
  if (before === TEXT) return printed(say, `${file} is there already`);
  if (before !== null && !before.includes(MARK)) {
    throw usage(`${file} is there, and Ralph did not write it`, "move it away first: it is not overwritten");
  }
  if (before !== null && before !== signed(before)) {
    let aside = `${file}.before`;
    for (let number = 2; await files.pathExists(aside); number += 1) aside = `${file}.before-${number}`;
    await files.renamePath(file, aside);
    say(`${file} had been edited: it is ${basename(aside)} now`);
  }
  await files.writeAtomic(file, TEXT);
  return printed(say, `wrote ${file}`);
}

function placeOf(name: string, places: Readonly<Record<string, string>>, what: "hooks" | "skills"): string {
  const place = Object.hasOwn(places, name) ? places[name] : undefined;
  if (place !== undefined) return place;
  const known = Object.keys(places).join(", ");
  throw usage(
    name === "" ? `for which agent are the ${what}?` : `no place for ${what} of ${name} is known`,
    didYouMean(name, Object.keys(places), `known: ${known}${what === "skills" ? "; most others read `agents`" : ""}`),
  );
}

/** Adds the gate to the hooks of an agent, where nothing else in the file changes but space. */
async function installHooks(file: string): Promise<string> {
  const before = await files.readText(file);
  const settings = before === null ? {} : jsonIn(before);
  const { hooks = {} } = objectOr(settings);
  const { SessionStart: start = [], Stop: stop = [] } = objectOr(hooks);
  if (JSON.stringify(stop).includes("ralph gate")) return `${file} has the gate already`;
  const isPlain = before === null || before.replaceAll(SPACE_REGEXP, "$1") === JSON.stringify(settings);
  if (!isPlain || !isObject(settings) || !isObject(hooks) || !Array.isArray(start) || !Array.isArray(stop)) {
    throw usage(
      `${file} cannot be changed without a loss`,
      `add to its \`hooks\`: ${JSON.stringify({ SessionStart: [HOOK], Stop: [HOOK] })}`,
    );
  }
  const added = { ...hooks, SessionStart: [...start, HOOK], Stop: [...stop, HOOK] };
  const indent = /\n([ \t]+)/.exec(before ?? "")?.[1] ?? 2;
  const text = `${JSON.stringify({ ...settings, hooks: added }, null, indent)}\n`;
  const { status } = await files.replaceText(file, text, before);
  if (status !== "written") throw usage(`${file} has just changed`, "run the command again");
  return `${file}: \`ralph gate --hook\` judges the work when the agent stops`;
}
