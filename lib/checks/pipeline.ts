/**
 * True for one pipeline and nothing else: `git log | head -1`. Anything that could run a second command after it
 * (`&&`, `;`, a new line, a group, a substitution) is not. Pure.
 */
export function isSinglePipeline(command: string): boolean {
  const text = command.trim();
  if (text.startsWith("!")) return false;
  let pipes = 0;
  for (let index = 0; index < text.length; index++) {
    const character = text[index] ?? "";
    if (character === "\\") index += 1;
    else if (character === "'") index = endOfQuote(text, index);
    else if (character === '"') {
      const end = endOfDoubleQuote(text, index);
      if (/[`$]\(|`/.test(text.slice(index, end))) return false;
      index = end;
    } else if (character === "|" && text[index + 1] !== "|" && text[index - 1] !== ">") pipes += 1;
    else if (character === "&" && (text[index - 1] === ">" || text[index + 1] === ">")) continue; // 2>&1, &>
    else if ("|&;\n(){}`#".includes(character) || text.startsWith("<<", index)) return false;
  }
  return pipes > 0;
}

/**
 * Forgives SIGPIPE (141) upstream of a command that succeeded, as `git log | head -1` means it; every other failure
 * counts. Only for one single pipeline: after a compound command nobody can tell what was left out because of it.
 */
export function forgivingPipeline(command: string): string {
  return `${command}\n${FORGIVE}`;
}

const FORGIVE = 's=("${PIPESTATUS[@]}"); r=0; for i in "${!s[@]}"; do ' +
  'if [ "${s[i]}" -ne 0 ] && { [ "${s[i]}" -ne 141 ] || [ "$i" -eq $((${#s[@]} - 1)) ]; }; then r=${s[i]}; fi; ' +
  "done; exit $r";

function endOfQuote(text: string, start: number): number {
  const end = text.indexOf("'", start + 1);
  return end === -1 ? text.length : end;
}

function endOfDoubleQuote(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index++) {
    if (text[index] === "\\") index += 1;
    else if (text[index] === '"') return index;
  }
  return text.length;
}
