import type { CompletionModel, Offer } from "./model.ts";

/** The completion script for zsh: as a file `_ralph` in `$fpath`, or evaluated after `compinit`. Pure. */
export function zshScript({ commands, values }: CompletionModel): string {
  const withValue = values.map(({ name }) => `--${name}`).join("|");
  return `#compdef ralph
# zsh completion for ralph, written by \`ralph completions zsh\`
_ralph() {
  local command="" previous=\${words[CURRENT-1]} word
  local -a offered
  integer index
  if [[ $PREFIX == --*=* ]]; then
    previous=\${PREFIX%%=*}
    compset -P 1 '*='
  fi
  for ((index = 2; index < CURRENT; index++)); do
    word=\${words[index]}
    case $word in
      (${withValue}) ((index++)) ;;
      (-*) ;;
      (*) command=$word; break ;;
    esac
  done
  case $previous in
${values.map((flag) => `    (--${flag.name}) ${offer(flag)}; return ;;`).join("\n")}
  esac
  case $command in
    ("")
      offered=(
${commands.map(({ name, summary }) => `        ${quoted(`${name}:${summary}`)}`).join("\n")}
        '--help:show the commands' '--version:show the version'
      )
      _describe -t commands command offered ;;
${
    commands.map(({ name, argument, flags }) =>
      `    (${name})
      if [[ $PREFIX == -* ]]; then
        offered=(
${flags.map((flag) => `          ${quoted(`--${flag.name}:${flag.summary}`)}`).join("\n")}
        )
        _describe -t options option offered
      else
        ${offer(argument)}
      fi ;;`
    ).join("\n")
  }
  esac
}
if [[ \${funcstack[1]-} == _ralph ]]; then _ralph "$@"; else compdef _ralph ralph; fi
`;
}

function offer({ words, paths }: Offer): string {
  const steps = [
    ...(words.length === 0 ? [] : [`compadd -- ${words.map(quoted).join(" ")}`]),
    ...(paths === null ? [] : [paths === "files" ? "_files" : "_files -/"]),
  ];
  return steps.length === 0 ? ":" : steps.join("; ");
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
