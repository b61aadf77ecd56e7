/** One program with its operands, as a shell would start it. */
export interface SimpleCommand {
  /** Without assignments and wrappers such as `env` and `npx`. */
  readonly program: string;
  /** All that comes after it. */
  readonly words: readonly string[];
  /** Its output is compared or searched: `test "$(…)" = 5`, `… | grep -q`. It is what is checked. */
  readonly observed: boolean;
}

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

/** The simple commands of a shell text, those in `sh -c "…"` and `$(…)` included. Pure. */
export function simpleCommands(text: string): readonly SimpleCommand[] {
  const commands: SimpleCommand[] = [];
  const open: string[] = [];
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
    words = [];
    if (command === null) return;
    if (JUDGES.has(command.program)) piped = piped.map((one) => ({ ...one, observed: true }));
    piped.push(command);
    if (separator === "|") return;
    commands.push(...piped);
    piped = [];
  };
  for (const match of text.replaceAll("\\\n", " ").matchAll(TOKEN_REGEXP)) {
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
    if (quoted !== undefined && /\s/.test(quoted)) commands.push(...simpleCommands(quoted));
    glued += quoted ?? bare ?? "";
  }
  close("\n");
  commands.push(...piped);
  return commands;
}

function commandOf(words: readonly string[], observed: boolean): SimpleCommand | null {
  const at = words.findIndex((word) => !WRAPPERS.has(word) && !/^(?:\w+=|-|\d+[smh]?$)/.test(word));
  const program = words[at];
  return program === undefined ? null : { program, words: words.slice(at + 1), observed };
}
