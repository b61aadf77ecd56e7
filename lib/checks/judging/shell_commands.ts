/**
 * What a shell text runs, as far as words tell: simple commands, pipes, substitutions.
 *
 * @module
 */
import { takesCode } from "./inline_code.ts";

/** They start the program that follows. */
const WRAPPERS: ReadonlySet<string> = new Set(
  "bunx command env exec nice nohup npx pnpx stdbuf sudo time timeout xargs xvfb-run then else do if while !".split(
    " ",
  ),
);

/** They judge what they are given by a pipe. */
const JUDGES: ReadonlySet<string> = new Set("cmp diff egrep fgrep grep jq rg test yq".split(" "));

const TOKEN_REGEXP =
  /"((?:\\.|[^"\\])*)"|'([^']*)'|(\$\(|\|\||&&|[;&|(){}\n`])|(?:^|(?<=\s))#[^\n]*|((?:\$(?!\()|[^\s;&|(){}`"'$])+)/g;

/** Ways to say the folder that a command begins in. */
const HERE_REGEXP = /\$(?:PWD\b|\{PWD\})(?=\/)|\$\((?:pwd|git rev-parse --show-toplevel)\)(?=\/)/g;

/** An operand that a command makes, without quotes around it. */
const BARE_SUBSTITUTION_REGEXP = /(?<=(?:\[|==?|\btest|!=|\s-\w+)\s)(\$\([^()"']*\))(?=\s|$)/g;

/** They look at their operands, which are what is checked, and run none of them. */
export const READERS: ReadonlySet<string> = new Set(
  ("[ [[ test awk black cat cc clang clang++ cloc cp curl cut dprint du echo egrep eslint fgrep file find g++ gcc " +
    "gofmt grep gzip head install javac jq ls mkdir mv mypy git openssl oxlint prettier printf pyright " +
    "readlink rg rm ruff rustc rustfmt sed sha1sum sha256sum shellcheck sort stat tail tar touch tsc uniq unzip wc yq")
    .split(" "),
);
/** What they print of a file is what another program runs or is asked: `cat cases | xargs -n1 sh`. */
const FEEDERS: ReadonlySet<string> = new Set(
  "awk cat cut echo git grep head jq printf sed sort tail tr uniq yq".split(" "),
);

/** They compare two files, or one with what they are given by a pipe. */
const COMPARERS: ReadonlySet<string> = new Set(["cmp", "comm", "diff"]);
/** A file of this name says what is right. */
const EXPECTED_REGEXP =
  /expect|golden|want|reference|snap|fixture|baseline|approved|oracle|truth|correct|should|(?:^|[/._-])(?:ref|exp|ok)(?:$|[/._-])/i;
/** Options whose value is a file of rules, by program. */
const RULE_OPTIONS: readonly (readonly [program: RegExp, option: RegExp, after: number])[] = [
  [/^(?:[ef]?grep|rg|[gm]?awk|sed|jq|yq)$/, /^(?:-\w*f|--(?:from-)?file)$/, 1],
  [/^jq$/, /^--(?:slurpfile|rawfile|argfile)$/, 2],
  [
    /^(?:black|dprint|eslint|mypy|oxlint|prettier|pyright|ruff|shellcheck|tsc)$/,
    /^(?:-[cp]|--(?:config(?:-file)?|rcfile|project|ignore-path))$/,
    1,
  ],
];
const DATA_REGEXP = /\.(?:json[cl5]?|ya?ml|txt|[ct]sv|xml|toml|in|out|dat|data|sql|ini)$/;

/** One program with its operands, as a shell would start it. */
export interface SimpleCommand {
  /** Without assignments and wrappers such as `env` and `npx`. */
  readonly program: string;
  /** All that comes after it. */
  readonly words: readonly string[];
  /** Variables that it sets for what it starts. */
  readonly settings: readonly string[];
  /** Its output is compared or searched: `test "$(…)" = 5`, `… | grep -q`. It is what is checked. */
  readonly observed: boolean;
  /** It prints a file into a comparison: `cat want | diff - got`. */
  readonly isOperand?: boolean;
  /** It only prints a file, and another program takes that as its operands or input. */
  readonly feeds: boolean;
}

/** What a text gives its variables. */
export type Variables = ReadonlyMap<string, readonly string[]>;

/** Variables with the values that a text itself gives them: `D=checks`, `for f in add mul`. Pure. */
export function variablesIn(text: string): Variables {
  const values = new Map<string, string[]>();
  const give = (name: string, value: string): void => {
    const list = values.get(name) ?? [];
    if (value !== "" && !list.includes(value) && list.length < MOST_VALUES) values.set(name, [...list, value]);
  };
  for (const [, name = "", quoted, single, bare] of text.matchAll(ASSIGNMENT_REGEXP)) {
    give(name, quoted ?? single ?? bare ?? "");
  }
  for (const [, name = "", list = ""] of text.matchAll(/\bfor\s+(\w+)\s+in\s+([^;\n]+)/g)) {
    for (const value of list.split(/\s+/)) if (!value.includes("$")) give(name, value);
  }
  return values;
}

const ASSIGNMENT_REGEXP = /(?:^|[\s;&|({])(\w+)=(?:"([^"$`]*|\$\([^()]*\))"|'([^']*)'|(\$\([^()]*\)|[^\s;&|"'$`()]+))/g;
const SUBSTITUTION_REGEXP = /^\$\((.*)\)$/s;
const VARIABLE_REGEXP = /\$(?:\{(\w+)[^}]*\}|(\w+|[@*]))/g;
const MOST_VALUES = 20;

/** A word with its variables replaced; those without a value become `*`, in front nothing. Pure. */
export function withValues(word: string, variables: Variables): readonly string[] {
  if (!word.includes("$") || word.includes("$(")) return [word];
  let words = [word];
  for (const [whole, braced, bare] of word.matchAll(VARIABLE_REGEXP)) {
    const values = variables.get(braced ?? bare ?? "") ?? [word.startsWith(`${whole}/`) ? "." : "*"];
    words = words.flatMap((one) => values.map((value) => one.replace(whole, () => value))).slice(0, MOST_VALUES);
  }
  return words;
}

/** Files that a text itself writes: they are what is checked. Pure. */
export function outputsIn(text: string): readonly string[] {
  return [...text.matchAll(/(?:^|[^<>&\d-])[\d&]?>{1,2}\s*([^\s;&|()<>"'$]+)/g)].flatMap(([, path]) => path ?? []);
}

/**
 * Words of a command that name a file which says what is right, or what is asked: rules, sums, what the output of another
 * program is compared with, input. Pure.
 */
export function expectations(
  { program, words, observed }: SimpleCommand,
  isCode: (path: string) => boolean,
): readonly string[] {
  const found: string[] = [];
  for (const [of, option, after] of RULE_OPTIONS) {
    if (!of.test(program)) continue;
    for (const [at, word] of words.entries()) {
      const [name = "", value] = word.startsWith("--") ? word.split(/=(.*)/s) : [word];
      if (!option.test(name)) continue;
      const rules = value ?? words[at + after];
      if (rules !== undefined) found.push(rules);
    }
  }
  if (program.endsWith("sum") && words.some((word) => /^(?:-\w*c|--check)$/.test(word))) {
    found.push(...words.filter((word) => !word.startsWith("-")));
  }
  if (JUDGES.has(program) || program === "[" || program === "[[") found.push(...printedFor(program, words));
  if (program === "git" && words.includes("--no-index")) found.push(...expectedOf(words));
  const at = words.indexOf("<");
  if (at >= 0) found.push(...words.slice(at + 1, at + 2));
  found.push(...words.flatMap((word) => /^<([^<(&].*)$/.exec(word)?.[1] ?? []));
  // what a program that is looked at is given beside its own file
  if (observed && !READERS.has(program)) {
    found.push(...words.filter((word) => DATA_REGEXP.test(word) && !isCode(word)));
  }
  return found;
}

/** Files that are printed into a comparison with something else: `[ "$(cat want)" = "$(…)" ]`, `grep "$(cat want)"`. */
function printedFor(program: string, words: readonly string[]): readonly string[] {
  const made = words.filter((word) => SUBSTITUTION_REGEXP.test(word));
  const isPattern = program.includes("grep") || program === "rg";
  return isPattern || made.length > 1 ? expectedOf(made.flatMap(printedBy)) : [];
}

/** Files that a substitution only prints: `$(cat want.txt)`, `$(< want.txt)`, `$(cut -f1 want.md5)`. Pure. */
export function printedBy(word: string): readonly string[] {
  const inner = SUBSTITUTION_REGEXP.exec(word)?.[1];
  if (inner === undefined) return [];
  const commands = simpleCommands(inner.replace(/^\s*<\s*/, "cat "));
  if (!commands.every(({ program }) => READERS.has(program))) return [];
  return commands.flatMap(({ words }) => words.filter((one) => !one.startsWith("-")));
}

/** Folders that a text puts on PATH. Pure. */
export function pathFolders(text: string): readonly string[] {
  return [...text.matchAll(/\bPATH=["']?([^\s;"']+)/g)].flatMap(([, list = ""]) =>
    list.split(":").map((one) => one.replace(/^(?:\$PWD|\$\{PWD\}|\$\(pwd\)|\.)\//, "")).filter((one) =>
      /^[\w.-]/.test(one)
    )
  );
}

/** Of what is compared, what is called so where anything is. */
export function expectedOf(words: readonly string[]): readonly string[] {
  const files = words.filter((word) => !word.startsWith("-"));
  const named = files.filter((word) => EXPECTED_REGEXP.test(word));
  return named.length > 0 ? named : files;
}

/** Two operands of a comparison. Pure. */
export function compares(program: string): boolean {
  return COMPARERS.has(program);
}

/** The simple commands of a shell text, those in `sh -c "…"` and `$(…)` included. Pure. */
export function simpleCommands(text: string): readonly SimpleCommand[] {
  const commands: SimpleCommand[] = [];
  const open: string[] = [];
  const around: string[] = [];
  let piped: SimpleCommand[] = [];
  let words: string[] = [];
  let glued = "";
  let end = -1;
  const closeWord = (): void => {
    if (glued !== "") words.push(glued);
    glued = "";
  };
  const close = (separator: string): void => {
    closeWord();
    const command = commandOf(words, open.includes("$("));
    if (separator === "$(" || separator === "`") around.push(command?.program ?? "[");
    words = [];
    if (command === null) return;
    if (JUDGES.has(command.program)) {
      const printed = COMPARERS.has(command.program) && piped.every(({ program }) => program === "cat");
      piped = piped.map((one) => ({ ...one, observed: true, isOperand: printed }));
    }
    piped.push(command);
    if (separator === "|") return;
    commands.push(...fed(piped, open.includes("$(") ? around.at(-1) : undefined));
    piped = [];
  };
  const quotedText = text.replaceAll(HERE_REGEXP, ".").replaceAll(/\\\n|\d?>&\d/g, " ").replaceAll(
    BARE_SUBSTITUTION_REGEXP,
    '"$1"',
  );
  for (const match of quotedText.matchAll(TOKEN_REGEXP)) {
    const [whole, double, single, separator, bare] = match;
    if (separator !== undefined) {
      close(separator);
      if (separator === ")" || (separator === "`" && open.at(-1) === "$(")) open.pop();
      else if (separator === "(" || separator === "$(" || separator === "`") open.push(separator === "(" ? "(" : "$(");
      continue;
    }
    if (match.index !== end) closeWord();
    end = match.index + whole.length;
    const quoted = double?.replaceAll(/\\(.)/g, "$1") ?? single;
    if (quoted !== undefined && /\s/.test(quoted) && !takesCode(words)) commands.push(...simpleCommands(quoted));
    glued += quoted ?? bare ?? "";
  }
  close("\n");
  commands.push(...fed(piped, undefined));
  return commands;
}

/** Commands of one pipe, with those marked whose output something takes that is no mere reader. */
function fed(piped: readonly SimpleCommand[], outer: string | undefined): readonly SimpleCommand[] {
  const takes = (program: string): boolean => !READERS.has(program) && !JUDGES.has(program);
  return piped.map((command, index) => ({
    ...command,
    feeds: FEEDERS.has(command.program) &&
      (piped.slice(index + 1).some(({ program }) => takes(program)) || (outer !== undefined && takes(outer))),
  }));
}

function commandOf(words: readonly string[], observed: boolean): SimpleCommand | null {
  const at = words.findIndex((word) => !WRAPPERS.has(word) && !/^(?:\w+=|-|\d+[smh]?$)/.test(word));
  const program = words[at];
  if (program === undefined) return null;
  const set = (program === "export" ? words : words.slice(0, at)).filter((word) => /^[A-Za-z_]\w*=/.test(word));
  return { program, words: words.slice(at + 1), settings: set, observed, feeds: false };
}
