/**
 * The tools of the built-in agent. Paths are kept inside of the tree, by their real folders; what a command does is the
 * sandbox's to confine.
 *
 * @module
 */
import { relative, resolve, sep } from "node:path";
import { z } from "zod";
import { asRalphError, RalphError } from "../../errors/ralph_error.ts";
import { isDirectory, listDirectory, readBytes, replaceText, resolveInside, writeAtomic } from "../../host/files.ts";
import { findExecutable, shellInvocation } from "../../host/shell.ts";
import type { Host, ProcessEnd, ProcessRequest } from "../../host/types.ts";
import type { Picture } from "./conversation.ts";
import type { OfferedTool } from "./models.ts";
import { endedBy } from "../../checks/shell.ts";
import { cut, LONGEST_OUTPUT, OutputStart } from "./output.ts";
import { readPicture } from "./pictures.ts";

export interface ToolPlace {
  readonly host: Host;
  /** Absolute path that paths are relative to. */
  readonly cwd: string;
  /** Absolute path of the tree that they may not leave. */
  readonly tree: string;
  readonly signal: AbortSignal;
  /** Variables that commands do not get: the key of the model server. */
  readonly hidden: readonly string[];
}

export interface ToolResult {
  readonly ok: boolean;
  readonly text: string;
  readonly picture?: Picture;
}

interface Tool<Input> {
  readonly description: string;
  readonly schema: z.ZodType<Input>;
  readonly run: (input: Input, place: ToolPlace) => Promise<ToolResult>;
}

const LONGEST_SECONDS = 1800;
const DEFAULT_SECONDS = 180;
const SHELL_TAIL = LONGEST_OUTPUT * 4; // bytes, of which a character may need four
const MOST_ENTRIES = 500;

const path = z.string().min(1).describe("relative to the working folder");

const READ = z.object({
  path,
  offset: z.number().int().positive().optional().describe("the first line"),
  limit: z.number().int().positive().optional().describe("how many lines (2000)"),
});
const EDIT = z.object({ path, old: z.string().min(1), new: z.string(), all: z.boolean().optional() });
const BASH = z.object({
  command: z.string().min(1),
  timeout: z.number().positive().max(LONGEST_SECONDS).optional().describe(`seconds (${DEFAULT_SECONDS})`),
});
const LIST = z.object({ path: path.optional() });
const SEARCH = z.object({ pattern: z.string().min(1), path: path.optional() });

const TOOLS = {
  read: row({ description: "Read a file. Lines are numbered. Pictures are shown.", schema: READ, run: readFile }),
  write: row({
    description: "Write a whole file; its folders are made.",
    schema: z.object({ path, content: z.string() }),
    run: async ({ path, content }, place) => {
      await writeAtomic(await writable(path, place), content);
      return done(`wrote ${path} (${content.length} characters)`);
    },
  }),
  edit: row({
    description: "Replace one exact piece of text in a file. It must be there once, unless `all` is true.",
    schema: EDIT,
    run: editFile,
  }),
  bash: row({ description: "Run a shell command in the working folder.", schema: BASH, run: runCommand }),
  list: row({ description: "List a folder.", schema: LIST, run: listFolder }),
  search: row({
    description: "Search the files of the project for a regular expression (extended); what git ignores is left out.",
    schema: SEARCH,
    run: searchFiles,
  }),
} as const;

/** The tools, as the model sees them. */
export function offeredTools(): readonly OfferedTool[] {
  return Object.entries(TOOLS).map(([name, { description, schema }]) => {
    const { $schema: _, ...plain } = z.toJSONSchema(schema as z.ZodType);
    return { name, description, schema: plain };
  });
}

/** Runs one call. Never throws for what the call asked: the model gets the error. */
export async function runTool(name: string, input: unknown, place: ToolPlace): Promise<ToolResult> {
  const tool = Object.hasOwn(TOOLS, name) ? TOOLS[name as keyof typeof TOOLS] as unknown as Tool<unknown> : undefined;
  if (tool === undefined) return failed(`there is no tool ${name}: ${Object.keys(TOOLS).join(", ")}`);
  const parsed = tool.schema.safeParse(input);
  if (!parsed.success) {
    return failed(
      parsed.error.issues.map(({ path, message }) => `${path.join(".") || "input"}: ${message}`).join("; "),
    );
  }
  const result = await tool.run(parsed.data, place).catch(asRalphError);
  if (!RalphError.isInstance(result)) return result;
  const { code, message } = result;
  return failed(code === "path-outside-root" ? `${message}: tools work inside of the project` : message);
}

function row<Input>(tool: Tool<Input>): Tool<Input> {
  return tool;
}

function done(text: string): ToolResult {
  return { ok: true, text };
}

function failed(text: string): ToolResult {
  return { ok: false, text: `error: ${text}` };
}

async function inside(path: string, { cwd, tree }: ToolPlace): Promise<string> {
  return await resolveInside(tree, resolve(cwd, path));
}

/** Git's own files are not the model's: a hook there would be run by the next use of git. */
async function writable(path: string, place: ToolPlace): Promise<string> {
  const file = await inside(path, place);
  const { tree } = place;
  if (!relative(await resolveInside(tree, "."), file).split(sep).includes(".git")) return file;
  throw new RalphError("path-outside-root", { details: { path, root: place.tree } });
}

async function readFile({ path, offset = 1, limit = 2000 }: z.infer<typeof READ>, place: ToolPlace) {
  const file = await inside(path, place);
  if (await isDirectory(file)) return failed(`${path} is a folder: use list`);
  const picture = await readPicture(file, path);
  if (picture !== null) return { ok: true, text: `${path}: a picture of ${picture.data.length} bytes`, picture };
  const bytes = await readBytes(file);
  if (bytes === null) return failed(`${path} does not exist`);
  if (bytes.subarray(0, 8192).includes(0)) return failed(`${path} is no text: ${bytes.length} bytes`);
  const lines = bytes.toString("utf8").replace(/\n$/, "").split("\n");
  const shown = lines.slice(offset - 1, offset - 1 + limit);
  const rest = lines.length - (offset - 1) - shown.length;
  const numbered = shown.map((line, index) => `${offset + index}\t${cut(line, 4000)}`).join("\n");
  return done(
    `${cut(numbered)}${rest > 0 ? `\n… ${rest} more lines: read on with offset ${offset + shown.length}` : ""}`,
  );
}

async function editFile({ path, old, new: text, all = false }: z.infer<typeof EDIT>, place: ToolPlace) {
  const file = await writable(path, place);
  const bytes = await readBytes(file);
  if (bytes === null) return failed(`${path} does not exist`);
  const before = bytes.toString("utf8");
  if (!Buffer.from(before).equals(bytes)) return failed(`${path} is no UTF-8 text`);
  const isCrlf = before.includes("\r\n") && !/(?<!\r)\n/.test(before);
  const ended = (piece: string): string => isCrlf ? piece.replaceAll(/\r?\n/g, "\r\n") : piece; // as the file's lines end
  const parts = before.split(ended(old));
  const count = parts.length - 1;
  if (count === 0) return failed(`the text is not in ${path}: read it, and give the text exactly as it is there`);
  if (count > 1 && !all) return failed(`the text is ${count} times in ${path}: give more of it, or set all`);
  if ((await replaceText(file, parts.join(ended(text)), before)).status !== "written") {
    return failed(`${path} changed meanwhile: read it again`);
  }
  return done(`edited ${path}${count > 1 ? ` in ${count} places` : ""}`);
}

async function listFolder({ path = "." }: z.infer<typeof LIST>, place: ToolPlace): Promise<ToolResult> {
  const folder = await inside(path, place);
  if (!await isDirectory(folder)) return failed(`${path} is no folder`);
  const names = [...await listDirectory(folder)].sort();
  const shown = await Promise.all(
    names.slice(0, MOST_ENTRIES).map(async (name) => await isDirectory(resolve(folder, name)) ? `${name}/` : name),
  );
  const more = names.length > shown.length ? [`… ${names.length - shown.length} more`] : [];
  return done(shown.length === 0 ? "(empty)" : [...shown, ...more].join("\n"));
}

async function searchFiles({ pattern, path = "." }: z.infer<typeof SEARCH>, place: ToolPlace): Promise<ToolResult> {
  const folder = await inside(path, place);
  const from = relative(place.cwd, folder) || ".";
  const isRepository = await isDirectory(resolve(place.tree, ".git")) ||
    await readBytes(resolve(place.tree, ".git")) !== null;
  const where = isRepository ? ["--untracked"] : ["--no-index"];
  // models write \d and \b, which `-E` reads as letters; a git without PCRE says so
  const search = (kind: string): ReturnType<typeof captured> =>
    captured(place, {
      file: "git",
      arguments: ["grep", "-n", "-I", kind, ...where, "-e", pattern, "--", from],
      timeoutMs: 60_000,
    });
  const first = await search("-P");
  const { end, text } = /USE_LIBPCRE|cannot use Perl/i.test(first.text) ? await search("-E") : first;
  if (end.reason === "exited" && end.exitCode === 1) return done("(nothing found)");
  return end.exitCode === 0 ? done(text) : failed(text || endText(end, 60));
}

async function runCommand({ command, timeout = DEFAULT_SECONDS }: z.infer<typeof BASH>, place: ToolPlace) {
  const shell = await shellFor(command, place);
  const { end, text } = await captured(place, { ...shell, timeoutMs: timeout * 1000 });
  const how = endText(end, timeout);
  return { ok: how === "", text: [text, how].filter((part) => part !== "").join("\n") || "(no output)" };
}

/** Without `pipefail`: the model expects of `… | head` what every shell does. */
async function shellFor(command: string, { host: { environment }, cwd }: ToolPlace) {
  const bash = await findExecutable("bash", environment, cwd);
  return environment.platform === "win32" || bash === null
    ? await shellInvocation(command, environment)
    : { file: bash, arguments: ["--norc", "-c", command] };
}

async function captured(
  { host, cwd, signal, hidden }: ToolPlace,
  request: Pick<ProcessRequest, "arguments" | "file" | "timeoutMs">,
) {
  const start = new OutputStart();
  const end = await host.processes.run({
    ...request,
    cwd,
    signal,
    environment: Object.fromEntries(hidden.map((name) => [name, undefined])),
    tailBytes: SHELL_TAIL,
    onOutput: (chunk) => start.push(chunk),
  });
  return { end, text: start.text(end.tail).trimEnd() };
}

/** How it ended, where that is not exit code 0. */
function endText(end: ProcessEnd, seconds: number): string {
  const how = endedBy(end, seconds * 1000) || (end.exitCode === 0 ? "" : `exit code ${end.exitCode}`);
  return how === "" ? "" : `(${how})`;
}
