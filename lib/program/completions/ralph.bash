# bash completion for ralph, bash 3.2 and later
_ralph() {
  local current=${COMP_WORDS[COMP_CWORD]} line paths=""
  COMPREPLY=()
  # --flag=value comes as three words
  if [ "$current" = "=" ]; then current=""; fi
  while IFS= read -r line; do
    case $line in
      $'\tfiles') paths=-f ;;
      $'\tfolders') paths=-d ;;
      "$current"?*) COMPREPLY+=("${line%%$'\t'*}") ;;
    esac
  done < <("${COMP_WORDS[0]}" --complete "=$current" "${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null)
  if [ ${#COMPREPLY[@]} -eq 0 ] && [ -n "$paths" ]; then
    local IFS=$'\n'
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen "$paths" -- "$current"))
  fi
}
complete -F _ralph ralph
