/**
 * Finds the mistakes that a reader of the documentation would stumble over: links that lead nowhere, pages that nothing
 * leads to, commands and flags that do not exist, configuration that the program refuses.
 *
 *   bun tools/check_docs.ts [FOLDER]
 *
 * A ```json block is a ralph.config.json, unless a comment above it names another file: <!-- .claude/settings.json -->
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import process from "node:process";
import { markdownLines } from "../lib/backlog/fences.ts";
import { type Command, parseLine, splitCommand } from "../lib/cli/command.ts";
import { checkArity } from "../lib/cli/run_command.ts";
import { configKeys } from "../lib/config/json_schema.ts";
import { readConfigText } from "../lib/config/read_text.ts";
import { RalphError } from "../lib/errors/ralph_error.ts";
import { COMMANDS, findCommand } from "../lib/program/commands.ts";
import { TOPICS } from "../lib/program/commands/help.ts";
import { ROOT } from "./runtimes.mjs";

/** A mistake and where it is. */
type Report = (line: number, problem: string) => void;

/** A block of code: in a fence, or indented. */
interface Block {
  /** `""` for an indented one. */
  readonly language: string;
  /** The number of its first line of code, from 1. */
  readonly line: number;
  readonly text: string;
  /** The comment right above it, `""` where there is none. */
  readonly comment: string;
}

/** A page as the checks need it. */
interface Page {
  readonly path: string;
  /** Lines outside of code blocks; the others are empty. */
  readonly prose: readonly string[];
  readonly blocks: readonly Block[];
  readonly anchors: ReadonlySet<string>;
}

const SHELLS: readonly string[] = ["sh", "bash", "console", "yaml", "dockerfile", ""];
const LINK_REGEXP = /\[(?:[^\][]|\[[^\]]*\])*\]\(([^)\s]+)(?:\s+"[^"]*")?\)|^\[[^\]]+\]:\s+(\S+)/gm;
const COMMAND_REGEXP = /(?:^\s*(?:\$ )?|&&\s*|\|\s*|;\s*|\$\(|\brun: )ralph(?=\s)/g;
const HEREDOC_REGEXP = /> ralph\.config\.json <<'?(\w+)'?\n([^]*?)\n\1$/gm;
const TOP_KEYS: ReadonlySet<string> = new Set(configKeys().map(({ path }) => path.replace(/[.[].*$/, "")));

function readPage(folder: string, path: string): Page {
  const { lines } = markdownLines(readFileSync(join(folder, path), "utf8"));
  const prose: string[] = [];
  const blocks: Block[] = [];
  let open: { language: string; line: number; text: string[]; fence: boolean; comment: string } | null = null;
  let comment = "";
  const close = (): void => {
    if (open !== null) blocks.push({ ...open, text: open.text.join("\n") });
    open = null;
  };
  for (const { text, number, fenced } of lines) {
    const indented = !fenced && /^ {4}\S/.test(text) && (open !== null || (prose.at(-1) ?? "").trim() === "");
    if (open !== null && (open.fence ? !fenced : !indented)) close();
    if (fenced) {
      const opening = /^\s*(?:```+|~~~+)\s*(\w*)/.exec(text);
      if (open === null) {
        open = { language: opening?.[1] ?? "", line: number + 1, text: [], fence: true, comment };
      } else if (opening === null) {
        open.text.push(text);
      }
    } else if (indented) {
      open ??= { language: "", line: number, text: [], fence: false, comment };
      open.text.push(text);
    }
    prose.push(fenced || indented ? "" : text);
    if (text.trim() !== "") comment = /^<!--\s*(.*?)\s*-->$/.exec(text.trim())?.[1] ?? "";
  }
  close();
  return { path, prose, blocks, anchors: anchorsOf(prose) };
}

/** As GitHub makes them of headings, and those that are written as such. */
function anchorsOf(prose: readonly string[]): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const line of prose) {
    for (const [, id = ""] of line.matchAll(/<a id="([^"]+)">/g)) anchors.add(id);
    const heading = /^#{1,6}\s+(.*?)\s*#*$/.exec(line)?.[1];
    if (heading === undefined) continue;
    const slug = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll("&lt;", "<").toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "").replaceAll(/\s/g, "-");
    let name = slug;
    for (let count = 1; anchors.has(name); count++) name = `${slug}-${count}`;
    anchors.add(name);
  }
  return anchors;
}

/** The pages that a page's links lead to. */
function checkLinks(page: Page, pages: ReadonlyMap<string, Page>, folder: string, report: Report): readonly string[] {
  const text = page.prose.join("\n").replaceAll(/(`+)[^]*?\1/g, (code) => code.replaceAll(/[^\n]/g, "x"));
  const targets: string[] = [];
  for (const match of text.matchAll(LINK_REGEXP)) {
    const target = match[1] ?? match[2] ?? "";
    if (/^[a-z]+:/i.test(target)) continue;
    const line = text.slice(0, match.index).split("\n").length;
    const [file = "", anchor] = target.split("#");
    const path = file === "" ? page.path : normalize(join(dirname(page.path), decodeURI(file))).replaceAll("\\", "/");
    if (path.startsWith("..") || !existsSync(join(folder, path))) {
      report(line, `dead link: ${target}`);
      continue;
    }
    targets.push(path);
    const other = pages.get(path);
    if (anchor !== undefined && other !== undefined && !other.anchors.has(anchor)) {
      report(line, `dead link: ${target}: ${path} has no heading for #${anchor}`);
    }
  }
  return targets;
}

/** Code over the end of a line: a formatter wraps such text wherever it likes, also into the table above. */
function checkSpans({ prose }: Page, report: Report): void {
  let isOpen = false;
  for (const [index, line] of prose.entries()) {
    const rest = line.replaceAll(/\\`|(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)/g, "");
    if (rest.trim() === "") isOpen = false;
    if (!rest.includes("`")) continue;
    if (!isOpen) report(index + 1, "code does not end on its line");
    isOpen = !isOpen;
  }
}

/** The words of a shell's command, up to where it ends; `null` for one that no parser should try. */
function wordsOf(command: string): readonly string[] | null {
  const words: string[] = [];
  let rest = command;
  while (rest !== "") {
    const space = /^(?:\s|\\\n)+/.exec(rest)?.[0].length ?? 0;
    rest = rest.slice(space);
    if (/^(?:[|;&<>)]|\d?>|#)/.test(rest) || rest === "") break;
    const word = /^(?:"(?:[^"\\]|\\[^])*"|'[^']*'|[^\s"'|;&<>)])+/.exec(rest)?.[0];
    if (word === undefined) return null; // a quotation that goes over the block's end
    if (!/^"?\$[@*]"?$/.test(word)) {
      words.push(word.replaceAll(/"((?:[^"\\]|\\[^])*)"|'([^']*)'/g, (_all, double, single) => double ?? single));
    }
    rest = rest.slice(word.length);
  }
  return words;
}

/** The program's own message about this command line. */
function problemOf(words: readonly string[]): string | null {
  const { name, line } = splitCommand(words, COMMANDS);
  const command: Command | undefined = findCommand(name ?? "status");
  if (command === undefined) return `there is no command \`ralph ${name}\``;
  if (name === null && line.some((word) => ["--version", "-V", "--help", "-h"].includes(word))) return null;
  try {
    const { arguments: given, flags } = parseLine(command, line, {});
    if (!flags.has("help")) checkArity(command, given);
    return helpProblem(command.name, given[0]);
  } catch (error) {
    if (!RalphError.isInstance(error)) throw error;
    return `\`ralph ${words.join(" ")}\`: ${error.message}; ${error.hint}`;
  }
}

function helpProblem(command: string, topic: string | undefined): string | null {
  if (command !== "help" || topic === undefined || !/^[a-z-]+$/.test(topic)) return null;
  if (Object.hasOwn(TOPICS, topic) || findCommand(topic) !== undefined) return null;
  return `there is no help on \`${topic}\``;
}

function checkBlock(block: Block, report: Report): void {
  if (!SHELLS.includes(block.language)) return;
  const text = block.text.replaceAll(/\\\n\s*/g, (joined) => " ".repeat(joined.length));
  for (const [index, line] of text.split("\n").entries()) {
    for (const match of line.matchAll(COMMAND_REGEXP)) {
      const words = wordsOf(line.slice(match.index + match[0].length));
      const problem = words === null || words.some((word) => word.includes("…")) ? null : problemOf(words);
      if (problem !== null) report(block.line + index, problem);
    }
  }
}

/** `` `ralph run FEATURE [--strict]` ``: names of commands and flags; the rest may be a placeholder. */
function checkInline(page: Page, report: Report): void {
  const text = page.prose.join("\n");
  for (const match of text.matchAll(/(?<!`)`(?!`)([^`]+)`(?!`)/g)) {
    const line = text.slice(0, match.index).split("\n").length;
    const [program, name = "", ...words] = (match[1] as string).replaceAll(/[[\]]/g, "").split(/\s+/);
    if (program !== "ralph" || !/^[a-z][a-z-]*$/.test(name)) continue;
    const command = findCommand(name);
    if (command === undefined) {
      report(line, `there is no command \`ralph ${name}\``);
      continue;
    }
    const topic = helpProblem(name, words[0]);
    if (topic !== null) report(line, topic);
    if (command.open === true) continue;
    for (const word of words) {
      const flag = /^--([a-z][a-z-]*)/.exec(word)?.[1];
      if (flag !== undefined && !Object.hasOwn(command.flags, flag)) {
        report(line, `\`ralph ${name}\` has no flag --${flag}`);
      }
    }
  }
}

async function checkConfigs(page: Page, report: Report): Promise<void> {
  const snippets = page.blocks.flatMap(({ language, line, text, comment }) => {
    if (language === "json" && !/(?<!ralph\.config)\.\w+$/.test(comment)) return [{ line, text }];
    return [...text.matchAll(HEREDOC_REGEXP)].map((match) => ({
      line: line + text.slice(0, match.index).split("\n").length,
      text: match[2] as string,
    }));
  });
  const prose = page.prose.join("\n");
  for (const match of prose.matchAll(/(?<!`)`(?!`)([^`]+)`(?!`)/g)) {
    const text = configText(match[1] as string);
    if (text !== null) snippets.push({ line: prose.slice(0, match.index).split("\n").length, text });
  }
  for (const { line, text } of snippets) {
    const { problems } = await readConfigText(text);
    for (const problem of problems) report(line, `configuration that is refused: ${problem}`);
  }
}

/** A piece of configuration in a sentence: JSON, whose keys are all of the configuration. */
function configText(code: string): string | null {
  for (const text of [code, `{${code}}`]) {
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value !== "object" || value === null || Array.isArray(value)) continue;
      const keys = Object.keys(value);
      if (keys.length > 0 && keys.every((key) => TOP_KEYS.has(key))) return text;
    } catch {
      // no JSON: something else is shown
    }
  }
  return null;
}

/** Paths of pages in the program's messages. */
function checkNamed(folder: string, problems: string[]): void {
  if (!existsSync(join(folder, "lib"))) return;
  for (const path of readdirSync(join(folder, "lib"), { recursive: true, encoding: "utf8" })) {
    if (!path.endsWith(".ts") || path.startsWith("generated")) continue;
    const text = readFileSync(join(folder, "lib", path), "utf8");
    for (const match of text.matchAll(/\bdocs\/[\w/-]+\.md/g)) {
      if (existsSync(join(folder, match[0]))) continue;
      problems.push(
        `lib/${path}:${text.slice(0, match.index).split("\n").length}: names ${match[0]}, which does not exist`,
      );
    }
  }
}

/** Every mistake in the documentation of a folder: `path:line: problem`. */
export async function checkDocs(folder: string): Promise<readonly string[]> {
  const tops = ["README.md", "AGENTS.md", "CHANGELOG.md", "llms.txt"].filter((path) => existsSync(join(folder, path)));
  const docs = existsSync(join(folder, "docs"))
    ? readdirSync(join(folder, "docs"), { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".md"))
    : [];
  const paths = [...tops, ...docs.map((path) => `docs/${path.replaceAll("\\", "/")}`).toSorted()];
  const pages = new Map(paths.map((path) => [path, readPage(folder, path)]));
  const problems: string[] = [];
  const links = new Map<string, readonly string[]>();
  for (const page of pages.values()) {
    const report: Report = (line, problem) => problems.push(`${page.path}:${line}: ${problem}`);
    links.set(page.path, checkLinks(page, pages, folder, report));
    checkSpans(page, report);
    if (page.path === "CHANGELOG.md") continue; // what was there in older versions
    for (const block of page.blocks) checkBlock(block, report);
    checkInline(page, report);
    await checkConfigs(page, report);
  }
  const reached = new Set(["README.md"]);
  for (const path of reached) for (const target of links.get(path) ?? []) reached.add(target);
  for (const path of paths) {
    if (path.startsWith("docs/") && !reached.has(path)) problems.push(`${path}:1: no page leads here from README.md`);
  }
  checkNamed(folder, problems);
  return problems;
}

if (import.meta.main) {
  const problems = await checkDocs(process.argv[2] ?? ROOT);
  for (const problem of problems) console.error(problem);
  console.log(`docs: ${problems.length === 0 ? "no mistake found" : `${problems.length} mistakes`}`);
  if (problems.length > 0) process.exitCode = 1;
}
