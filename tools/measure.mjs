/**
 * The size and the grain of the code on one page.
 *
 *   node tools/measure.mjs [--json] [FOLDER…]     lib, bin and tools unless folders are given
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { parseSync } from "rolldown/utils";
import { FREE_RELATIVE_REGEXP, sentencesOf } from "./comments.mjs";

const MOST = { functionLines: 60, fileLines: 400, regexCharacters: 100 };

/** Lines that hold code, and not only comment or nothing. */
function codeLines(text, comments) {
  let bare = text;
  for (const { start, end } of comments) {
    bare = bare.slice(0, start) + bare.slice(start, end).replaceAll(/[^\n]/g, " ") + bare.slice(end);
  }
  return { bare, count: bare.split("\n").filter((line) => line.trim() !== "").length };
}

function nodesOf(node, found = []) {
  if (Array.isArray(node)) { for (const part of node) nodesOf(part, found); }
  else if (node !== null && typeof node === "object") {
    if (typeof node.type === "string") found.push(node);
    for (const part of Object.values(node)) if (part !== null && typeof part === "object") nodesOf(part, found);
  }
  return found;
}

const isFunction = ({ type, body }) =>
  /^(?:FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(type) && body !== null;
const isBoolean = (parameter) => {
  const type = (parameter.left ?? parameter).typeAnnotation?.typeAnnotation?.type;
  return type === "TSBooleanKeyword" || typeof parameter.right?.value === "boolean";
};
const isConst = ({ typeAnnotation }) => typeAnnotation?.typeName?.name === "const";

function measureFile(path) {
  const text = readFileSync(path, "utf8");
  const { program, comments } = parseSync(path, text);
  const { bare, count } = codeLines(text, comments);
  const nodes = nodesOf(program);
  const functions = nodes.filter(isFunction);
  const ternaries = nodes.filter(({ type }) => type === "ConditionalExpression");
  const linesOf = ({ start, end }) => bare.slice(start, end).split("\n").filter((line) => line.trim() !== "").length;
  const sentences = comments.filter(({ value }) => !value.includes("eslint")).flatMap(({ value }) =>
    sentencesOf(value)
  );
  return {
    lines: text.split("\n").length - 1,
    code: count,
    long: functions.filter((node) => linesOf(node) > MOST.functionLines).length,
    functions: functions.length,
    regexes:
      nodes.filter(({ type, regex }) => type === "Literal" && regex?.pattern.length > MOST.regexCharacters).length,
    casts: nodes.filter((node) => node.type === "TSAsExpression" && !isConst(node)).length,
    booleans: functions.flatMap(({ params }) => params).filter(isBoolean).length,
    ternaries: ternaries.length,
    nested:
      ternaries.filter(({ consequent, alternate }) =>
        consequent.type === "ConditionalExpression" || alternate.type === "ConditionalExpression"
      ).length,
    sentences: sentences.length,
    openings: sentences.filter((sentence) => FREE_RELATIVE_REGEXP.test(sentence)).length,
  };
}

/** Members of an exported interface, and names that a module exports. */
function membersOf(path, name) {
  const { program } = parseSync(path, readFileSync(path, "utf8"));
  return nodesOf(program).find((node) => node.type === "TSInterfaceDeclaration" && node.id.name === name)?.body.body
    .length ?? 0;
}

function namesOf(path) {
  const { program } = parseSync(path, readFileSync(path, "utf8"));
  return program.body.flatMap(({ type, specifiers }) => type === "ExportNamedDeclaration" ? specifiers : []).length;
}

function main() {
  const { values, positionals } = parseArgs({ options: { json: { type: "boolean" } }, allowPositionals: true });
  const folders = positionals.length === 0 ? ["lib", "bin", "tools"] : positionals;
  const files = folders.flatMap((folder) => readdirSync(folder, { recursive: true }).map((path) => join(folder, path)))
    .filter((path) => /\.(?:ts|mjs)$/.test(path))
    .filter((path) => !/(?:^|\/)(?:generated|node_modules)\//.test(path)).map((path) => ({
      path,
      ...measureFile(path),
    }));
  const sum = (key, rows = files) => rows.reduce((total, row) => total + row[key], 0);
  const figures = {
    files: files.length,
    [`files over ${MOST.fileLines} lines`]: files.filter(({ lines }) => lines > MOST.fileLines).length,
    lines: sum("lines"),
    "lines of code": sum("code"),
    functions: sum("functions"),
    [`functions over ${MOST.functionLines} lines of code`]: sum("long"),
    [`regular expressions over ${MOST.regexCharacters} characters`]: sum("regexes"),
    casts: sum("casts"),
    "boolean parameters": sum("booleans"),
    ternaries: sum("ternaries"),
    "nested ternaries": sum("nested"),
    "sentences in comments": sum("sentences"),
    "of them opened by What, Whose, Of, Those, Where, Whether": sum("openings"),
    "members of Backlog": membersOf("lib/backlog/types.ts", "Backlog"),
    "names in the root of the SDK": namesOf("lib/mod.ts"),
  };
  for (const folder of folders) {
    figures[`lines of code in ${folder}`] = sum(
      "code",
      files.filter(({ path }) => path.startsWith(`${folder}/`)),
    );
  }
  if (values.json === true) console.log(JSON.stringify(figures, null, 2));
  else for (const [name, figure] of Object.entries(figures)) console.log(`${String(figure).padStart(8)}  ${name}`);
}

main();
