import type { Invocation } from "../../cli/command.ts";
import { didYouMean, usage } from "../../cli/parse.ts";
import { EXIT } from "../../errors/exit_codes.ts";

/**
 * A script for each shell. It asks the program at the beginning of the line which words fit (`offers.ts`), so that it is
 * right for every version.
 */
export const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `# bash completion for ralph, bash 3.2 and later
_ralph() {
  local current=\${COMP_WORDS[COMP_CWORD]} line paths=""
  COMPREPLY=()
  # --flag=value comes as three words
  if [ "$current" = "=" ]; then current=""; fi
  while IFS= read -r line; do
    case $line in
      $'\\tfiles') paths=-f ;;
      $'\\tfolders') paths=-d ;;
      "$current"?*) COMPREPLY+=("\${line%%$'\\t'*}") ;;
    esac
  done < <("\${COMP_WORDS[0]}" --complete "=$current" "\${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null)
  if [ \${#COMPREPLY[@]} -eq 0 ] && [ -n "$paths" ]; then
    local IFS=$'\\n'
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen "$paths" -- "$current"))
  fi
}
complete -F _ralph ralph`,
  zsh: `#compdef ralph
# zsh completion for ralph: as a file _ralph in $fpath, or evaluated after compinit
_ralph() {
  local line
  local -a lines offered
  lines=("\${(@f)$("$words[1]" --complete "=$PREFIX" "\${(@)words[2,CURRENT-1]}" 2>/dev/null)}")
  if [[ $PREFIX == --*=* ]]; then compset -P 1 '*='; fi
  for line in $lines; do
    case $line in
      ($'\\tfiles') _files ;;
      ($'\\tfolders') _files -/ ;;
      (*) offered+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}") ;;
    esac
  done
  _describe -t words word offered
}
if [[ \${funcstack[1]-} == _ralph ]]; then _ralph "$@"; else compdef _ralph ralph; fi`,
  fish: `# fish completion for ralph
function __ralph_words
    set -l words (commandline -opc)
    set -l current (commandline -ct | string unescape)
    set -l flag (string match -r -- '^--[^=]+=' $current)
    for line in ($words[1] --complete "=$current" $words[2..-1] 2>/dev/null)
        switch $line
            case \\tfiles
                __fish_complete_path (string replace -- "$flag" '' $current)
            case \\tfolders
                __fish_complete_directories (string replace -- "$flag" '' $current)
            case '-*'
                string match -q -- '-*' $current; and echo $line
            case '*'
                echo "$flag$line"
        end
    end
end
complete -c ralph -f -a '(__ralph_words)'`,
  powershell: `# PowerShell completion for ralph, 5.1 and later; paths are its own default
Register-ArgumentCompleter -Native -CommandName ralph -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition } |
    ForEach-Object { $_.Extent.Text })
  $flag = if ($wordToComplete -match '^--[^=]+=') { $Matches[0] } else { '' }
  $before = @($words | Select-Object -Skip 1)
  & $words[0] --complete "=$wordToComplete" @before 2>$null | ForEach-Object {
    $word, $summary = $_ -split "\`t", 2
    if ($word -and "$flag$word".StartsWith($wordToComplete)) {
      $meaning = if ($summary) { $summary } else { $word }
      [System.Management.Automation.CompletionResult]::new("$flag$word", $word, 'ParameterValue', $meaning)
    }
  }
}`,
};

/** Shells that have a script. */
export const SHELLS: readonly string[] = Object.keys(SCRIPTS);

/** `ralph completions SHELL`: the script for that shell. */
export async function run({ arguments: [shell = ""], out }: Invocation): Promise<number> {
  const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined;
  if (script === undefined) {
    throw usage(
      `there is no completion for ${shell}`,
      `${didYouMean(shell, SHELLS, "")} shells: ${SHELLS.join(", ")}`.trim(),
    );
  }
  out(script);
  return EXIT.done;
}
