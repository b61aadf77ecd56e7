import type { Invocation } from "../../cli/command.ts";
import { didYouMean, usage } from "../../cli/parse.ts";
import { EXIT } from "../../errors/exit_codes.ts";
import { type CompletionModel, completionModel, type Offer, type OfferedFlag, SHELLS } from "../completions/model.ts";

const SCRIPTS: Readonly<Record<string, (model: CompletionModel) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
  powershell: powershellScript,
};

/** `ralph completions SHELL`: a script for that shell, made from the table of commands. */
export async function run({ arguments: [shell = ""], out, program }: Invocation): Promise<number> {
  const make = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined;
  if (make === undefined) {
    throw usage(
      `there is no completion for ${shell}`,
      `${didYouMean(shell, SHELLS, "")} shells: ${SHELLS.join(", ")}`.trim(),
    );
  }
  out(make(completionModel(program.commands)).trimEnd());
  return EXIT.done;
}

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
${values.map((flag) => `    (--${flag.name}) ${zshOffer(flag)}; return ;;`).join("\n")}
  esac
  case $command in
    ("")
      offered=(
${commands.map(({ name, summary }) => `        ${zshQuoted(`${name}:${summary}`)}`).join("\n")}
        '--help:show the commands' '--version:show the version'
      )
      _describe -t commands command offered ;;
${
    commands.map(({ name, argument, flags }) =>
      `    (${name})
      if [[ $PREFIX == -* ]]; then
        offered=(
${flags.map((flag) => `          ${zshQuoted(`--${flag.name}:${flag.summary}`)}`).join("\n")}
        )
        _describe -t options option offered
      else
        ${zshOffer(argument)}
      fi ;;`
    ).join("\n")
  }
  esac
}
if [[ \${funcstack[1]-} == _ralph ]]; then _ralph "$@"; else compdef _ralph ralph; fi
`;
}

function zshOffer({ words, paths }: Offer): string {
  const steps = [
    ...(words.length === 0 ? [] : [`compadd -- ${words.map(zshQuoted).join(" ")}`]),
    ...(paths === null ? [] : [paths === "files" ? "_files" : "_files -/"]),
  ];
  return steps.length === 0 ? ":" : steps.join("; ");
}

function zshQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** The completion script for PowerShell, 5.1 and later. Paths are its own default. Pure. */
export function powershellScript({ commands, values }: CompletionModel): string {
  return `# PowerShell completion for ralph, written by \`ralph completions powershell\`
Register-ArgumentCompleter -Native -CommandName ralph -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $commands = [ordered]@{
${
    commands.map(({ name, summary, argument, flags }) =>
      `    ${powershellQuoted(name)} = @{ Summary = ${powershellQuoted(summary)}; Words = ${
        list(argument)
      }; Flags = [ordered]@{ ${
        flags.map((flag) => `${powershellQuoted(`--${flag.name}`)} = ${powershellQuoted(flag.summary)}`).join("; ")
      } } }`
    ).join("\n")
  }
  }
  $values = @{
${values.map((flag) => `    ${powershellQuoted(`--${flag.name}`)} = ${list(flag)}`).join("\n")}
  }
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
    Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { $_.Extent.Text })
  $command = $null
  for ($index = 0; $index -lt $words.Count; $index++) {
    if ($values.ContainsKey($words[$index])) { $index++ }
    elseif (-not $words[$index].StartsWith('-')) { $command = $words[$index]; break }
  }
  $offered = [ordered]@{}
  if ($words.Count -gt 0 -and $values.ContainsKey($words[-1])) {
    foreach ($word in $values[$words[-1]]) { $offered[$word] = $word }
  } elseif ($null -eq $command) {
    foreach ($name in $commands.Keys) { $offered[$name] = $commands[$name].Summary }
    $offered['--help'] = 'show the commands'
    $offered['--version'] = 'show the version'
  } elseif ($commands.Contains($command)) {
    if ($wordToComplete.StartsWith('-')) { $offered = $commands[$command].Flags }
    else { foreach ($word in $commands[$command].Words) { $offered[$word] = $word } }
  }
  $offered.GetEnumerator() | Where-Object { $_.Key.StartsWith($wordToComplete) } | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_.Key, $_.Key, 'ParameterValue', $_.Value)
  }
}
`;
}

function list({ words }: Offer): string {
  return `@(${words.map(powershellQuoted).join(", ")})`;
}

function powershellQuoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** The completion script for fish. Pure. */
export function fishScript({ commands, values }: CompletionModel): string {
  const withValue = values.map(({ name }) => `--${name}`).join(" ");
  const lines = commands.flatMap(({ name, summary, argument, flags }) => [
    `complete -c ralph -n 'not __ralph_command >/dev/null' -a ${name} -d ${fishQuoted(summary)}`,
    ...argumentLines(name, argument),
    ...flags.map((flag) => flagLine(name, flag)),
  ]);
  return `# fish completion for ralph, written by \`ralph completions fish\`
function __ralph_command
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
            continue
        end
        switch $word
            case ${withValue}
                set skip 1
            case '-*'
            case '*'
                echo $word
                return 0
        end
    end
    return 1
end
function __ralph_is
    test (__ralph_command; or echo) = $argv[1]
end
complete -c ralph -f
complete -c ralph -n 'not __ralph_command >/dev/null' -l help -d 'show the commands'
complete -c ralph -n 'not __ralph_command >/dev/null' -l version -d 'show the version'
${lines.join("\n")}
`;
}

function argumentLines(command: string, { words, paths }: Offer): readonly string[] {
  const when = `complete -c ralph -n '__ralph_is ${command}'`;
  return [
    ...(words.length === 0 ? [] : [`${when} -a ${fishQuoted(words.join(" "))}`]),
    ...(paths === "files" ? [`${when} -F`] : paths === "folders" ? [`${when} -a '(__fish_complete_directories)'`] : []),
  ];
}

function flagLine(command: string, { name, summary, takesValue, words, paths }: OfferedFlag): string {
  const value = takesValue ? valueOf({ words, paths }) : "";
  return `complete -c ralph -n '__ralph_is ${command}' -l ${name}${value} -d ${fishQuoted(summary)}`;
}

function valueOf({ words, paths }: Offer): string {
  if (words.length > 0) return ` -x -a ${fishQuoted(words.join(" "))}`;
  if (paths === null) return " -x";
  return paths === "files" ? " -r -F" : " -x -a '(__fish_complete_directories)'";
}

function fishQuoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

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
${values.map((flag) => `    --${flag.name}) ${bashOffer(flag)}return ;;`).join("\n")}
  esac
  case $command in
    "") _ralph_words "${commands.map(({ name }) => name).join(" ")} --help --version" "$current" ;;
${
    commands.map(({ name, argument, flags }) =>
      `    ${name}) case $current in -*) _ralph_words "${
        flags.map((flag) => `--${flag.name}`).join(" ")
      }" "$current" ;; *) ${bashOffer(argument)}:; esac ;;`
    ).join("\n")
  }
  esac
}
complete -F _ralph ralph
`;
}

function bashOffer({ words, paths }: Offer): string {
  const offered = words.length === 0 ? "" : `_ralph_words "${words.join(" ")}" "$current"; `;
  if (paths === null) return offered;
  const found = `_ralph_paths ${paths === "files" ? "-f" : "-d"} "$current"; `;
  return words.length === 0 ? found : `${offered}[ \${#COMPREPLY[@]} -gt 0 ] || ${found}`;
}
