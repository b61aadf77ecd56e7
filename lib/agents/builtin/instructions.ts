import { join, relative } from "node:path";
import { readText, resolveInside } from "../../host/files.ts";
import { cut } from "./output.ts";
import type { Picture } from "./conversation.ts";
import { readPicture } from "./pictures.ts";

/** Files of the project that instruct agents, of each folder the first that is there. */
const INSTRUCTIONS: readonly string[] = ["AGENTS.md", "CLAUDE.md"];
const LONGEST_INSTRUCTIONS = 40_000;
const MOST_PICTURES = 4;
const PICTURE_REGEXP = /[\w@./-]+\.(?:png|jpe?g|webp|gif)\b/gi;

/** The system prompt. */
export async function systemPrompt(cwd: string, tree: string, platform: string): Promise<string> {
  const own = [
    `You are a coding agent at work in ${cwd} (${platform}). You work by your tools, until the task is done.`,
    "",
    "- No one answers questions: decide for yourself, and say what you assumed.",
    "- Look before you change something: read the files that matter, follow the style of the code around.",
    "- Paths are relative to that folder. Tools read and write inside of the project only.",
    "- `edit` changes one exact piece of text; `write` replaces a whole file. Do not write files by `bash`.",
    "- Check your work by running it: tests, type checks, what the task names. Do not weaken tests to make them pass.",
    "- What a `bash` call starts ends with that call. Start a server in the background and use it in the same call.",
    "- End with what the task asks for as the last line, exactly as it is written there.",
  ].join("\n");
  const found = await instructionsOf(cwd, tree);
  return found.length === 0 ? own : `${own}\n\n${found.join("\n\n")}`;
}

async function instructionsOf(cwd: string, tree: string): Promise<readonly string[]> {
  const folders = cwd === tree ? [tree] : [tree, cwd];
  const texts: string[] = [];
  for (const folder of folders) {
    for (const name of INSTRUCTIONS) {
      const text = await readText(join(folder, name)).catch(() => null);
      if (text === null || text.trim() === "") continue;
      const path = relative(cwd, join(folder, name)) || name;
      texts.push(`The project's instructions for agents (${path}):\n\n${cut(text.trim(), LONGEST_INSTRUCTIONS)}`);
      break;
    }
  }
  return texts;
}

/** Pictures that the prompt names, such as screenshots of failing checks, as far as they are in the tree. */
export async function promptPictures(prompt: string, cwd: string, tree: string): Promise<readonly Picture[]> {
  const paths = [...new Set(prompt.match(PICTURE_REGEXP) ?? [])];
  const pictures: Picture[] = [];
  for (const path of paths) {
    if (pictures.length === MOST_PICTURES) break;
    const file = await resolveInside(tree, join(path.startsWith("/") ? "/" : cwd, path)).catch(() => null);
    const picture = file === null ? null : await readPicture(file, path);
    if (picture !== null) pictures.push(picture);
  }
  return pictures;
}
