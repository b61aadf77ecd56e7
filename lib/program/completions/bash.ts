import type { CompletionModel, Offer } from "./model.ts";

/** The completion script for bash, 3.2 and later. Pure. */
export function bashScript({ commands, values }: CompletionModel): string {
  const withValue = values.map(({ name }) => `--${name}`).join("|");
  return `# bash completion for ralph, written by \`ralph completions bash\`
_ralph_words() {
  local IFS=$' \\t\\n'
  COMPREPLY=($(compgen -W "$1" -- "$2"))
}
_ralph_paths() {
  local IFS=$'\\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen "$1" -- "$2"))
}
_ralph() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} command="" index word
  COMPREPLY=()
  # --flag=value comes as three words
  if [ "$current" = "=" ]; then current=""; elif [ "$previous" = "=" ]; then previous=\${COMP_WORDS[COMP_CWORD-2]}; fi
  for ((index = 1; index < COMP_CWORD; index++)); do
    word=\${COMP_WORDS[index]}
    case $word in
      ${withValue}) [ "\${COMP_WORDS[index+1]}" = "=" ] && index=$((index + 1)); index=$((index + 1)) ;;
      -*) ;;
      *) command=$word; break ;;
    esac
  done
  case $previous in
${values.map((flag) => `    --${flag.name}) ${offer(flag)}return ;;`).join("\n")}
  esac
  case $command in
    "") _ralph_words "${commands.map(({ name }) => name).join(" ")} --help --version" "$current" ;;
${
    commands.map(({ name, argument, flags }) =>
      `    ${name}) case $current in -*) _ralph_words "${
        flags.map((flag) => `--${flag.name}`).join(" ")
      }" "$current" ;; *) ${offer(argument)}:; esac ;;`
    ).join("\n")
  }
  esac
}
complete -F _ralph ralph
`;
}

function offer({ words, paths }: Offer): string {
  const offered = words.length === 0 ? "" : `_ralph_words "${words.join(" ")}" "$current"; `;
  if (paths === null) return offered;
  const found = `_ralph_paths ${paths === "files" ? "-f" : "-d"} "$current"; `;
  return words.length === 0 ? found : `${offered}[ \${#COMPREPLY[@]} -gt 0 ] || ${found}`;
}
