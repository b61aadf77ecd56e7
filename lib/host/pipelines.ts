/** Words that open or close a construct, so that what they stand in is more than a list of commands. */
const RESERVED: ReadonlySet<string> = new Set(
  "if then elif else fi for select while until do done case esac function coproc time [[ { } !".split(" "),
);

/** The status of a pipeline: that of its last part that failed; a part that SIGPIPE ended (141) fails only as the last. */
const STATUS = 'ralph_status() { local status=0 part; for part in "$@"; do ' +
  "case $part in 0|141) ;; *) status=$part ;; esac; done; " +
  'if [ "$part" -ne 0 ]; then status=$part; fi; return "$status"; }; ';

/**
 * The same command line for bash, in which a pipeline fails if any of its parts fails. A part that wrote more than the
 * next one wanted to read (`git log | head -1`) has not failed, which `pipefail` cannot tell. Lines with constructs
 * that are not understood here (`if`, loops, here-documents) stay as they are. Pure.
 *
 * @example
 * ```ts
 * import { strictPipelines } from "./pipelines.ts";
 *
 * console.log(strictPipelines("npm test && npm run lint")); // npm test && npm run lint
 * console.log(strictPipelines("npm test | tail -5") === "npm test | tail -5"); // false
 * ```
 */
export function strictPipelines(command: string): string {
  const list = strictList(command);
  return list === null || list === command ? command : STATUS + list;
}

/** A list of pipelines with `&&`, `||`, `;` or new lines between them; `null` if it holds anything else. */
function strictList(text: string): string | null {
  const stages = stagesOf(text);
  if (stages === null) return null;
  let result = "";
  let pipeline: string[] = [];
  for (const { text: stage, operator } of stages) {
    const strict = strictStage(stage, pipeline.length);
    if (strict === null) return null;
    pipeline.push(strict);
    if (operator === "|") continue;
    result += strictPipeline(pipeline) + operator;
    pipeline = [];
  }
  return result;
}

function strictPipeline(stages: readonly string[]): string {
  const text = stages.join("|");
  if (stages.length === 1) return text;
  const [, not = "", rest = text] = /^(\s*!\s)?([^]*)$/.exec(text) ?? [];
  return `${not}{ ${rest}\nralph_status "\${PIPESTATUS[@]}"\n}`;
}

/** One part of a pipeline: a plain command, or a list in parentheses. Only the first may be negated. */
function strictStage(stage: string, index: number): string | null {
  const group = /^\s*\((?!\()/.exec(stage)?.[0];
  if (group !== undefined) {
    const end = afterParentheses(stage, group.length);
    const inner = end === null ? null : strictList(stage.slice(group.length, end - 1));
    return inner === null || end === null ? null : group + inner + stage.slice(end - 1);
  }
  const command = index === 0 ? stage.replace(/^\s*!\s/, "") : stage;
  return RESERVED.has(/^\s*([^\s<>]*)/.exec(command)?.[1] ?? "") ? null : stage;
}

interface Stage {
  readonly text: string;
  readonly operator: string;
}

/** A command line in parts, each with the operator that ends it; `null` if it holds `&`, `;;` or a here-document. */
function stagesOf(text: string): readonly Stage[] | null {
  const stages: Stage[] = [];
  let start = 0;
  let index = 0;
  while (index < text.length) {
    const [operator = ""] = /^(?:&&|\|\||[|;\n])/.exec(text.slice(index, index + 2)) ?? [];
    const isRedirection = operator === "|" && text[index - 1] === ">";
    if (operator === "" || isRedirection || operator === "\n" && text.slice(start, index).trim() === "") {
      const isBare = /^(?:\)|&(?!>))/.test(text.slice(index, index + 2)) && !/[<>]/.test(text[index - 1] ?? "");
      const next = isBare ? null : afterPart(text, index);
      if (next === null) return null;
      index = next;
      continue;
    }
    stages.push({ text: text.slice(start, index), operator });
    index += operator.length;
    start = index;
  }
  return [...stages, { text: text.slice(start), operator: "" }];
}

/** The end of the next part of a word, a quote or a substitution; `null` if it is not understood. */
function afterPart(text: string, index: number): number | null {
  const rest = text.slice(index, index + 3);
  if (rest.startsWith("\\")) return index + 2;
  if (rest.startsWith("'")) return after(text, "'", index + 1);
  if (rest.startsWith('"')) return afterQuoted(text, index + 1, '"');
  if (rest.startsWith("`")) return afterQuoted(text, index + 1, "`");
  if (rest.startsWith("$((")) return after(text, "))", index + 3);
  if (/^[$<>]\(/.test(rest)) return afterParentheses(text, index + 2);
  if (rest.startsWith("${")) return after(text, "}", index + 2);
  if (rest.startsWith("(")) return afterParentheses(text, index + 1);
  if (rest === "<<<") return index + 3;
  if (rest.startsWith("#") && /(^|[\s;|&(])$/.test(text.slice(0, index))) return (text + "\n").indexOf("\n", index);
  return rest.startsWith("<<") ? null : index + 1;
}

function after(text: string, end: string, from: number): number | null {
  const index = text.indexOf(end, from);
  return index === -1 ? null : index + end.length;
}

function afterParentheses(text: string, from: number): number | null {
  let index: number | null = from;
  while (index !== null && index < text.length) {
    if (text[index] === ")") return index + 1;
    index = afterPart(text, index);
  }
  return null;
}

function afterQuoted(text: string, from: number, quote: string): number | null {
  let index: number | null = from;
  while (index !== null && index < text.length) {
    if (text[index] === quote) return index + 1;
    if (text[index] === "\\") index += 2;
    else index = text.startsWith("$(", index) ? afterPart(text, index) : index + 1;
  }
  return null;
}
