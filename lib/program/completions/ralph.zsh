#compdef ralph
# zsh completion for ralph: as a file _ralph in $fpath, or evaluated after compinit
_ralph() {
  local line
  local -a lines offered
  lines=("${(@f)$("$words[1]" --complete "=$PREFIX" "${(@)words[2,CURRENT-1]}" 2>/dev/null)}")
  if [[ $PREFIX == --*=* ]]; then compset -P 1 '*='; fi
  for line in $lines; do
    case $line in
      ($'\tfiles') _files ;;
      ($'\tfolders') _files -/ ;;
      (*) offered+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
    esac
  done
  _describe -t words word offered
}
if [[ ${funcstack[1]-} == _ralph ]]; then _ralph "$@"; else compdef _ralph ralph; fi
